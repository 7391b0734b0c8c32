package hive_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// serve starts a fake server, and returns a Config for it.
func serve(t *testing.T, s *fakehive.Server) hive.Config {
	t.Helper()
	return hive.Config{Addr: s.Serve(t, &rpc.Server{}), NoSASL: true}
}

func connect(t *testing.T, cfg hive.Config) *hive.Conn {
	t.Helper()
	c, err := hive.Connect(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// plain returns what judge.py writes for the values of a column.
func plain(t *testing.T, c *hive.Column) []any {
	t.Helper()
	var value func(i int) any
	switch c.Info().Type {
	case hive.TypeBoolean:
		value = func(i int) any { return c.Bools()[i] }
	case hive.TypeTinyInt, hive.TypeSmallInt, hive.TypeInt, hive.TypeBigInt:
		values := c.Int64s()
		value = func(i int) any { return values[i] }
	case hive.TypeFloat, hive.TypeDouble:
		value = func(i int) any {
			switch f := c.Float64s()[i]; {
			case math.IsNaN(f):
				return "nan"
			case math.IsInf(f, 0):
				return strings.TrimPrefix(strings.ToLower(fmt.Sprint(f)), "+")
			default:
				return f
			}
		}
	case hive.TypeBinary:
		value = func(i int) any { return hex.EncodeToString(c.Bytes()[i]) }
	case hive.TypeDecimal:
		values, err := c.Decimals()
		if err != nil {
			t.Fatal(err)
		}
		value = func(i int) any { return values[i].String() }
	case hive.TypeTimestamp, hive.TypeDate:
		values, err := c.Times()
		if err != nil {
			t.Fatal(err)
		}
		layout := "2006-01-02 15:04:05.000000"
		if c.Info().Type == hive.TypeDate {
			layout = "2006-01-02"
		}
		value = func(i int) any { return values[i].Format(layout) }
	default:
		value = func(i int) any { return c.Strings()[i] }
	}
	column := make([]any, c.Len())
	for i := range column {
		if !c.IsNull(i) {
			column[i] = value(i)
		}
	}
	return column
}

// rowsOf returns the rows of a result as lines of JSON.
func rowsOf(t *testing.T, r *hive.Result) []string {
	t.Helper()
	var lines []string
	for r.Next() {
		b := r.Batch()
		columns := make([][]any, len(r.Columns()))
		for k := range columns {
			columns[k] = plain(t, b.Column(k))
		}
		for i := range b.Len() {
			row := make([]any, len(columns))
			for k := range row {
				row[k] = columns[k][i]
			}
			lines = append(lines, asJSON(t, row))
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return lines
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// wanted returns what PyHive has read, in the form of rowsOf.
func wanted(t *testing.T, text string) []string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(text) {
		if line == "\n" { // after a statement
			continue
		}
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var row []any
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		for i, v := range row {
			n, ok := v.(json.Number)
			if !ok {
				continue
			}
			if whole, err := n.Int64(); err == nil {
				row[i] = whole
			} else if row[i], err = n.Float64(); err != nil {
				t.Fatal(err)
			}
		}
		lines = append(lines, asJSON(t, row))
	}
	return lines
}

func compareLines(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("row %d:\n%s, want\n%s", i, got[i], want[i])
		}
	}
}

// recordings returns the folders with recorded replies.
func recordings(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/*/*/values.json")
	if err != nil || len(dirs) < 10 {
		t.Fatal(len(dirs), err)
	}
	for i := range dirs {
		dirs[i] = filepath.Dir(dirs[i])
	}
	return dirs
}

func readFile(t *testing.T, names ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(names...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRecorded compares what is read of replies of real servers with what PyHive has read there,
// in batches of several sizes.
func TestRecorded(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(dir, func(t *testing.T) {
			queries, err := fakehive.Load(filepath.Dir(dir))
			if err != nil {
				t.Fatal(err)
			}
			cfg := serve(t, &fakehive.Server{Queries: queries})
			sql := strings.TrimSuffix(readFile(t, dir, "statement.sql"), "\n")
			want := wanted(t, readFile(t, dir, "values.json"))
			for _, rows := range []int{0, 1, 64, 1000} {
				if cfg.BatchRows = rows; rows == 64 {
					cfg.Location = location(t, "America/New_York") // what clocks show is the same
				}
				r, err := connect(t, cfg).Query(t.Context(), sql)
				if err != nil {
					t.Fatal(err)
				}
				compareLines(t, rowsOf(t, r), want)
			}
		})
	}
}

// schemaOf makes the reply about the columns of these types.
func schemaOf(types ...hive.Type) tcli.TGetResultSetMetadataResp {
	resp := tcli.NewTGetResultSetMetadataResp()
	resp.NewStatus().SetStatusCode(tcli.TStatusCode_SUCCESS_STATUS)
	columns := resp.NewSchema().NewColumns(0)
	for i, typ := range types {
		c := columns.AppendNew()
		c.SetColumnName(fmt.Sprint("c", i))
		c.SetPosition(int32(i + 1))
		c.NewTypeDesc().NewTypes(1).At(0).NewPrimitiveEntry().SetType(tcli.TTypeId(typ))
	}
	return resp
}

// fetchOf makes a reply with rows that fill sets.
func fetchOf(fill ...func(tcli.TColumn)) tcli.TFetchResultsResp {
	resp := tcli.NewTFetchResultsResp()
	resp.NewStatus().SetStatusCode(tcli.TStatusCode_SUCCESS_STATUS)
	resp.SetHasMoreRows(false)
	set := resp.NewResults()
	set.NewRows(0)
	columns := set.NewColumns(0)
	for _, f := range fill {
		f(columns.AppendNew())
	}
	return resp
}

func int64Column(nulls []byte, values ...int64) func(tcli.TColumn) {
	return func(c tcli.TColumn) {
		v := c.NewI64Val()
		v.SetValues(values)
		v.SetNulls(nulls)
	}
}

func stringColumn(nulls []byte, values ...string) func(tcli.TColumn) {
	return func(c tcli.TColumn) {
		v := c.NewStringVal()
		v.SetValues(values)
		v.SetNulls(nulls)
	}
}

func ended(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal(what, "did not end")
	}
}
