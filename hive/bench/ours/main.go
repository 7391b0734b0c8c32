// Command ours reads a result with package hive, or with Apache's library: ours NAME ADDR
// STATEMENT
package main

import (
	"context"
	"database/sql"
	"log"
	"os"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/thrift/lib/go/thrift"
	"github.com/beltran/gohive/v2/hiveserver"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/arrowhive"
	"github.com/nocopythrift/nocopythrift/hive/bench/measure"
)

func main() {
	name, addr, statement := os.Args[1], os.Args[2], os.Args[3]
	if name == "sql" || name == "judge" {
		db, err := sql.Open("hive", "hive://"+addr+"/?auth=NOSASL")
		if err != nil {
			log.Fatal(err)
		}
		measure.Main(name, db, statement)
		return
	}
	read := map[string]func(addr, statement string, s *measure.Sum) error{
		"columns": columns, "arrow": arrow, "apache": apache,
	}[name]
	if read == nil {
		log.Fatal("no client ", name)
	}
	measure.Print(func() (s measure.Sum, err error) {
		err = read(addr, statement, &s)
		return s, err
	})
}

func query(addr, statement string) (*hive.Conn, *hive.Result, error) {
	ctx := context.Background()
	c, err := hive.Connect(ctx, hive.Config{Addr: addr, NoSASL: true})
	if err != nil {
		return nil, nil, err
	}
	r, err := c.Query(ctx, statement)
	return c, r, err
}

// add adds numbers where they are not NULL, as database/sql's types do.
func add[T int16 | int32 | int64](s *measure.Sum, values []T, isNull func(int) bool) {
	for i, v := range values {
		if !isNull(i) {
			s.Ints += int64(v)
		}
	}
}

func addFloats(s *measure.Sum, values []float64) {
	for _, v := range values {
		s.Floats += v
	}
}

func addTexts(s *measure.Sum, values []string) {
	for _, v := range values {
		s.Bytes += int64(len(v))
	}
}

func addBools(s *measure.Sum, values []bool) {
	for _, v := range values {
		if v {
			s.Ints++
		}
	}
}

func columns(addr, statement string, s *measure.Sum) error {
	c, r, err := query(addr, statement)
	if err != nil {
		return err
	}
	defer c.Close()
	defer r.Close()
	for r.Next() {
		b := r.Batch()
		s.Rows += int64(b.Len())
		add(s, b.Column(0).Int64s(), b.Column(0).IsNull)
		add(s, b.Column(1).Int32s(), b.Column(1).IsNull)
		addFloats(s, b.Column(2).Float64s())
		addBools(s, b.Column(3).Bools())
		addTexts(s, b.Column(4).Strings())
		addTexts(s, b.Column(5).Strings())
		addTexts(s, b.Column(6).Strings())
		add(s, b.Column(7).Int64s(), b.Column(7).IsNull)
		add(s, b.Column(8).Int16s(), b.Column(8).IsNull)
		addFloats(s, b.Column(9).Float64s())
	}
	return r.Err()
}

func arrow(addr, statement string, s *measure.Sum) error {
	c, r, err := query(addr, statement)
	if err != nil {
		return err
	}
	defer c.Close()
	reader, err := arrowhive.NewReader(r)
	if err != nil {
		return err
	}
	defer reader.Release()
	for reader.Next() {
		rec := reader.RecordBatch()
		s.Rows += rec.NumRows()
		for i := range int(rec.NumCols()) {
			switch a := rec.Column(i).(type) {
			case *array.Int64:
				add(s, a.Int64Values(), a.IsNull)
			case *array.Int32:
				add(s, a.Int32Values(), a.IsNull)
			case *array.Int16:
				add(s, a.Int16Values(), a.IsNull)
			case *array.Float64:
				addFloats(s, a.Float64Values())
			case *array.Boolean:
				for k := range a.Len() {
					if a.Value(k) {
						s.Ints++
					}
				}
			case *array.String:
				for k := range a.Len() {
					s.Bytes += int64(len(a.Value(k)))
				}
			}
		}
	}
	return reader.Err()
}

// apache reads the structs that Apache's generated code decodes.
func apache(addr, statement string, s *measure.Sum) error {
	ctx := context.Background()
	conf := &thrift.TConfiguration{}
	socket := thrift.NewTSocketConf(addr, conf)
	if err := socket.Open(); err != nil {
		return err
	}
	defer socket.Close()
	protocol := thrift.NewTBinaryProtocolConf(thrift.NewTBufferedTransport(socket, 64<<10), conf)
	client := hiveserver.NewTCLIServiceClient(thrift.NewTStandardClient(protocol, protocol))
	session, err := client.OpenSession(ctx, &hiveserver.TOpenSessionReq{ClientProtocol: hiveserver.TProtocolVersion_HIVE_CLI_SERVICE_PROTOCOL_V6})
	if err != nil {
		return err
	}
	op, err := client.ExecuteStatement(ctx, &hiveserver.TExecuteStatementReq{SessionHandle: session.SessionHandle, Statement: statement})
	if err != nil {
		return err
	}
	for {
		r, err := client.FetchResults(ctx, &hiveserver.TFetchResultsReq{OperationHandle: op.OperationHandle, MaxRows: 10_000})
		if err != nil {
			return err
		}
		c := r.Results.Columns
		if len(c) == 0 {
			return nil
		}
		s.Rows += int64(len(c[0].I64Val.Values))
		isNull := func(nulls []byte) func(int) bool {
			return func(i int) bool { return i/8 < len(nulls) && nulls[i/8]>>(i%8)&1 != 0 }
		}
		add(s, c[0].I64Val.Values, isNull(c[0].I64Val.Nulls))
		add(s, c[1].I32Val.Values, isNull(c[1].I32Val.Nulls))
		addFloats(s, c[2].DoubleVal.Values)
		addBools(s, c[3].BoolVal.Values)
		addTexts(s, c[4].StringVal.Values)
		addTexts(s, c[5].StringVal.Values)
		addTexts(s, c[6].StringVal.Values)
		add(s, c[7].I64Val.Values, isNull(c[7].I64Val.Nulls))
		add(s, c[8].I16Val.Values, isNull(c[8].I16Val.Nulls))
		addFloats(s, c[9].DoubleVal.Values)
	}
}
