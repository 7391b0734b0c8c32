package arrowhive_test

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/arrowhive"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestRecorded compares Arrow's values of recorded replies with what PyHive has read, after the
// result was closed. Nothing leaks.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("../testdata/*/*/values.json")
	if err != nil || len(files) < 10 {
		t.Fatal(len(files), err)
	}
	for _, name := range files {
		dir := filepath.Dir(name)
		test := func(t *testing.T, loc *time.Location) {
			queries, err := fakehive.Load(filepath.Dir(dir))
			if err != nil {
				t.Fatal(err)
			}
			s := &fakehive.Server{Queries: queries}
			c, err := hive.Connect(t.Context(), hive.Config{Addr: s.Serve(t, &rpc.Server{}), NoSASL: true, BatchRows: 64, Location: loc})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			sql, err := os.ReadFile(filepath.Join(dir, "statement.sql"))
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Query(t.Context(), strings.TrimSuffix(string(sql), "\n"))
			if err != nil {
				t.Fatal(err)
			}
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			reader, err := arrowhive.NewReader(r, mem)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for reader.Next() {
				rec := reader.RecordBatch()
				for i := range int(rec.NumRows()) {
					row := make([]any, rec.NumCols())
					for k := range row {
						row[k] = value(rec.Column(k), i)
					}
					b, err := json.Marshal(row)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, string(b))
				}
			}
			reader.Release()
			if err := reader.Err(); err != nil {
				t.Fatal(err)
			}
			compare(t, got, name)
			if s.Operations() != 0 {
				t.Error("the query stays open")
			}
		}
		t.Run(dir, func(t *testing.T) {
			york, err := time.LoadLocation("America/New_York")
			if err != nil {
				t.Fatal(err)
			}
			test(t, nil)
			test(t, york) // what clocks show is the same
		})
	}
}

// value returns what judge.py writes for a value.
func value(a interface{ IsNull(int) bool }, i int) any {
	if a.IsNull(i) {
		return nil
	}
	float := func(f float64) any {
		switch {
		case math.IsNaN(f):
			return "nan"
		case math.IsInf(f, 1):
			return "inf"
		}
		return f
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Int8:
		return a.Value(i)
	case *array.Int16:
		return a.Value(i)
	case *array.Int32:
		return a.Value(i)
	case *array.Int64:
		return a.Value(i)
	case *array.Float32:
		return float(float64(a.Value(i)))
	case *array.Float64:
		return float(a.Value(i))
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Date32:
		return a.Value(i).ToTime().Format("2006-01-02")
	case *array.Timestamp:
		return a.Value(i).ToTime(arrow.Microsecond).Format("2006-01-02 15:04:05.000000")
	case *array.Binary:
		return hex.EncodeToString(a.Value(i))
	}
	return a.(*array.String).Value(i)
}

func compare(t *testing.T, got []string, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for line := range strings.Lines(string(b)) {
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var row []any
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		for i, v := range row {
			if n, ok := v.(json.Number); ok {
				if whole, err := n.Int64(); err == nil {
					row[i] = whole
				} else {
					row[i], _ = n.Float64()
				}
			}
		}
		want, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		if at >= len(got) || got[at] != string(want) {
			t.Fatalf("row %d of %d:\n%s, want\n%s", at, len(got), got[min(at, len(got)-1)], want)
		}
		at++
	}
	if at != len(got) {
		t.Errorf("%d rows, want %d", len(got), at)
	}
}
