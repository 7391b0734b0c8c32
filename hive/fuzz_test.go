package hive

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// oneReply is a caller whose server has one reply for each kind of call.
type oneReply struct {
	rpc.Caller
	schema, fetch []byte // of the structs in the results
	fetches       int
}

func (c *oneReply) NewArgs(m *rpc.Method) nocopy.Struct {
	switch m.Name {
	case "ExecuteStatement":
		return nocopy.Struct(tcli.NewTCLIServiceExecuteStatementArgs())
	case "GetOperationStatus":
		return nocopy.Struct(tcli.NewTCLIServiceGetOperationStatusArgs())
	case "GetResultSetMetadata":
		return nocopy.Struct(tcli.NewTCLIServiceGetResultSetMetadataArgs())
	case "FetchResults":
		return nocopy.Struct(tcli.NewTCLIServiceFetchResultsArgs())
	}
	return nocopy.Struct(tcli.NewTCLIServiceCloseOperationArgs())
}

// resultOf returns the bytes of a result with a struct.
func resultOf(success []byte) []byte {
	return append(append([]byte{12, 0, 0}, success...), 0)
}

func (c *oneReply) Call(_ context.Context, m *rpc.Method, args nocopy.Struct) (nocopy.Struct, error) {
	args.Message().Release()
	switch m.Name {
	case "ExecuteStatement":
		r := tcli.NewTCLIServiceExecuteStatementResult()
		resp := r.NewSuccess()
		resp.NewStatus()
		resp.NewOperationHandle().SetHasResultSet(true)
		return nocopy.Struct(r), nil
	case "GetOperationStatus":
		r := tcli.NewTCLIServiceGetOperationStatusResult()
		resp := r.NewSuccess()
		resp.NewStatus()
		resp.SetOperationState(tcli.TOperationState_FINISHED_STATE)
		return nocopy.Struct(r), nil
	case "GetResultSetMetadata":
		r, err := tcli.ParseTCLIServiceGetResultSetMetadataResult(resultOf(c.schema))
		return nocopy.Struct(r), err
	case "FetchResults":
		if c.fetches++; c.fetches > 1 {
			r := tcli.NewTCLIServiceFetchResultsResult()
			r.NewSuccess().NewStatus()
			return nocopy.Struct(r), nil
		}
		r, err := tcli.ParseTCLIServiceFetchResultsResult(resultOf(c.fetch))
		return nocopy.Struct(r), err
	}
	r := tcli.NewTCLIServiceCloseOperationResult()
	r.NewSuccess().NewStatus()
	return nocopy.Struct(r), nil
}

func (c *oneReply) Close() error { return nil }

// query returns the result of a query.
func (c *oneReply) query(t *testing.T) (*Conn, *Result) {
	c.fetches = 0
	conn := newConn(Config{BatchRows: 16})
	conn.caller, conn.client = c, tcli.NewTCLIServiceClient(c)
	r, err := conn.Start(t.Context(), "q")
	if err != nil {
		t.Fatal(err)
	}
	return conn, r
}

// FuzzReply: for any replies, columns and database/sql read the same number of rows of
// consistent values, or fail with an error.
func FuzzReply(f *testing.F) {
	dirs, err := filepath.Glob("testdata/*/*/schema.thrift")
	if err != nil || len(dirs) < 10 {
		f.Fatal(len(dirs), err)
	}
	for _, name := range dirs {
		schema, err1 := os.ReadFile(name)
		fetch, err2 := os.ReadFile(filepath.Join(filepath.Dir(name), "fetch-0.thrift"))
		if err := errors.Join(err1, err2); err != nil {
			f.Fatal(err)
		}
		if len(fetch) < 20_000 {
			f.Add(schema, fetch)
		}
	}
	f.Fuzz(func(t *testing.T, schema, fetch []byte) {
		c := &oneReply{schema: schema, fetch: fetch}
		_, r := c.query(t)
		rows := 0
		for r.Next() {
			b := r.Batch()
			if b.Len() < 1 || b.Len() > 16 {
				t.Fatal(b.Len(), "rows")
			}
			rows += b.Len()
			for i := range r.Columns() {
				readColumn(t, b.Column(i))
			}
		}
		failed := r.Err()
		r.Close()

		conn, r := c.query(t)
		defer r.Close()
		if err := r.Wait(nil); err != nil {
			if failed == nil {
				t.Fatal(err)
			}
			return
		}
		s := newRows(&sqlConn{c: conn}, r)
		row := make([]driver.Value, len(s.Columns()))
		var err error
		n := 0
		for ; err == nil; n++ {
			err = s.Next(row)
		}
		var bad *nocopy.Error
		if errors.As(err, &bad) && failed == nil { // a time that is none
			return
		}
		if (err == io.EOF) != (failed == nil) || err == io.EOF && n-1 != rows {
			t.Fatalf("columns: %d rows, %v; database/sql: %d rows, %v", rows, failed, n-1, err)
		}
	})
}

// readColumn asks for everything that a column has.
func readColumn(t *testing.T, c *Column) {
	nulls := 0
	for i := range c.Len() {
		if c.IsNull(i) {
			nulls++
		}
	}
	if c.Nulls().Count() != nulls || len(c.Nulls()) > (c.Len()+7)/8 {
		t.Fatalf("%d NULLs of %d values, %x", nulls, c.Len(), c.Nulls())
	}
	n := 0
	switch c.Info().Type.arm() {
	case tcli.TColumn_BoolVal:
		n = len(c.Bools())
	case tcli.TColumn_ByteVal, tcli.TColumn_I16Val, tcli.TColumn_I32Val, tcli.TColumn_I64Val:
		n = len(c.Int64s())
	case tcli.TColumn_DoubleVal:
		n = len(c.Float64s())
	case tcli.TColumn_BinaryVal:
		n = len(c.Bytes())
	default:
		n = len(c.Strings())
	}
	switch c.Info().Type {
	case TypeDecimal:
		if values, err := c.Decimals(); err == nil && len(values) != n {
			t.Fatal(len(values), "decimals")
		}
	case TypeTimestamp, TypeTimestampTZ, TypeDate:
		if values, err := c.Times(); err == nil && len(values) != n {
			t.Fatal(len(values), "times")
		}
	}
	if n != c.Len() {
		t.Fatalf("%v: %d values, want %d", c.Info(), n, c.Len())
	}
}
