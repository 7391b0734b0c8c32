package main

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

// newFooter returns the footer of a Parquet file. Its structs are parquet-go's.
func newFooter() *bench {
	compact := writeFooter(100, 50)
	s := must(format.ParseFileMetaData(compact, nocopy.Compact))
	b := &bench{name: "footer", desc: format.FileMetaDataDesc, binary: s.Message().AppendTo(nil), compact: compact}
	var protocol thrift.CompactProtocol
	b.read = func() {
		var m parquetformat.FileMetaData
		check(thrift.Unmarshal(&protocol, compact, &m))
	}
	var filled parquetformat.FileMetaData
	check(thrift.Unmarshal(&protocol, compact, &filled))
	b.write = func() { must(thrift.Marshal(&protocol, &filled)) }
	return b
}

// writeFooter writes a file with these numbers of columns and row groups, and returns its footer.
func writeFooter(columns, groups int) []byte {
	nodes := []parquet.Node{
		parquet.String(), parquet.Optional(parquet.Int(64)), parquet.Leaf(parquet.DoubleType),
		parquet.Timestamp(parquet.Microsecond), parquet.Optional(parquet.Decimal(2, 18, parquet.Int64Type)),
	}
	row := make(parquet.Row, columns)
	schema := parquet.Group{}
	for i := range columns {
		schema[fmt.Sprintf("column_%05d", i)] = nodes[i%len(nodes)]
	}
	var file bytes.Buffer
	w := parquet.NewWriter(&file, parquet.NewSchema("table", schema), parquet.KeyValueMetadata("origin", "bench/compact"))
	for g := range groups {
		for i := range row {
			v := parquet.ValueOf(int64(1_000_000*i + g))
			definition := 0
			switch i % len(nodes) {
			case 0:
				v = parquet.ValueOf(fmt.Sprintf("value %d of %d", i, g))
			case 2:
				v = parquet.ValueOf(float64(i) / 8)
			case 1, 4:
				definition = 1
			}
			row[i] = v.Level(0, definition, i)
		}
		must(w.WriteRows([]parquet.Row{row}))
		check(w.Flush())
	}
	check(w.Close())
	b := file.Bytes()
	end := len(b) - 8
	return b[end-int(binary.LittleEndian.Uint32(b[end:])) : end]
}
