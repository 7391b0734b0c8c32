package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/examples/programs/metastore/hms"
	"github.com/nocopythrift/nocopythrift/examples/programs/metastore/internal/apache"
)

// partitionsResult returns the bytes of get_partitions' result with n partitions, each as Hive 3.1
// replies for a table of ten columns: 1.2 KB, and a field that metastore.thrift does not have.
func partitionsResult(n int) []byte {
	p := hms.NewPartition()
	p.SetDbName("logs")
	p.SetTableName("visits")
	p.SetCreateTime(1_764_000_000)
	sd := p.NewSd()
	cols := sd.NewCols(10)
	for i, name := range []string{"user_id", "session", "url", "referrer", "status", "bytes", "agent", "country", "latency_ms", "tags"} {
		cols.At(i).SetName(name)
		cols.At(i).SetType([]string{"bigint", "string", "string", "string", "int"}[i%5])
		cols.At(i).SetComment([]string{"", "as the client sent it"}[i%2])
	}
	sd.SetInputFormat("org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat")
	sd.SetOutputFormat("org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat")
	sd.SetCompressed(false)
	sd.SetNumBuckets(-1)
	sd.NewSerdeInfo().SetName("visits")
	sd.GetSerdeInfo().SetSerializationLib("org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe")
	sd.GetSerdeInfo().NewParameters().Put("serialization.format", "1")
	sd.NewBucketCols(0)
	sd.NewSortCols(0)
	sd.NewParameters()
	skewed := sd.NewSkewedInfo()
	skewed.NewSkewedColNames(0)
	skewed.NewSkewedColValues(0)
	skewed.NewSkewedColValueLocationMaps()
	sd.SetStoredAsSubDirectories(false)

	const catalog = "\x0b\x00\x09\x00\x00\x00\x04hive" // field 9, catName
	b := binary.BigEndian.AppendUint32([]byte{byte(thrift.LIST), 0, 0, byte(thrift.STRUCT)}, uint32(n))
	for i := range n {
		day, hour := fmt.Sprintf("2026-%02d-%02d", i/720%12+1, i/24%30+1), fmt.Sprint(i%24)
		p.SetValues([]string{day, hour})
		p.SetLastAccessTime(int32(i))
		p.GetSd().SetLocation("s3://old/warehouse/logs.db/visits/day=" + day + "/hour=" + hour)
		params := p.NewParameters()
		params.Put("transient_lastDdlTime", fmt.Sprint(1_764_000_000+i))
		params.Put("totalSize", fmt.Sprint(1_000_000+i*977))
		params.Put("numFiles", fmt.Sprint(i%7+1))
		params.Put("numRows", fmt.Sprint(i*131))
		b = p.AppendTo(b)
		b = append(b[:len(b)-1], catalog+"\x00"...)
	}
	return append(b, byte(thrift.STOP))
}

// replay answers get_partitions, framed and unframed, with the same bytes again and again: as many
// partitions as max_parts says, 1,000 or 10,000. It writes its address to out and ends when in
// does.
func replay(in io.Reader, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, l.Addr())
	go func() {
		io.Copy(io.Discard, in)
		l.Close()
	}()
	results := map[int16][]byte{1000: partitionsResult(1000), 10_000: partitionsResult(10_000)}
	for {
		nc, err := l.Accept()
		if err != nil {
			return nil
		}
		go func() {
			defer nc.Close()
			replayTo(nc, results)
		}()
	}
}

// replayTo answers the calls of one connection, until it ends.
func replayTo(nc net.Conn, results map[int16][]byte) {
	first := make([]byte, 1)
	if _, err := io.ReadFull(nc, first); err != nil {
		return
	}
	framed := first[0] == 0
	in := thrift.TTransport(thrift.NewStreamTransportR(io.MultiReader(bytes.NewReader(first), nc)))
	if framed {
		in = thrift.NewTFramedTransportConf(in, nil)
	}
	protocol := thrift.NewTBinaryProtocolConf(in, nil)
	for ctx := context.Background(); ; {
		name, _, seqid, err := protocol.ReadMessageBegin(ctx)
		args := apache.NewMetastoreGetPartitionsArgs()
		if err != nil || name != "get_partitions" || args.Read(ctx, protocol) != nil || protocol.ReadMessageEnd(ctx) != nil {
			return
		}
		result := results[args.MaxParts]
		header := append(make([]byte, 4), 0x80, 1, 0, byte(thrift.REPLY), 0, 0, 0, byte(len(name)))
		header = binary.BigEndian.AppendUint32(append(header, name...), uint32(seqid))
		binary.BigEndian.PutUint32(header, uint32(len(header)-4+len(result)))
		if !framed {
			header = header[4:]
		}
		reply := net.Buffers{header, result}
		if _, err := reply.WriteTo(nc); err != nil {
			return
		}
	}
}
