package match_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
	"github.com/nocopythrift/nocopythrift/parquetmeta/match"
)

// most is the greatest rank of a test's values; the least is -most.
const most = 120

// column is a column of the test's files. value and goValue turn a rank, from -most to most, into
// a value: the greater the rank, the greater the value in the column's order. The ranks cross the
// places at which a wrong order shows: zero, the greatest signed number, the first byte that is
// negative.
type column struct {
	name    string
	node    parquet.Node
	value   func(k int) parquet.Value
	goValue func(k int) any
	vague   bool // parquet-go writes no bounds for it that can exclude anything
	blind   bool // it has no Bloom filter that knows the values
}

var day = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)

func bigEndian(k, n int) []byte { // two's complement
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(int64(k) >> min(8*(n-1-i), 63))
	}
	return b
}

// raw is k in unsigned bytes.
func raw(k, n int) []byte {
	b := make([]byte, n)
	binary.BigEndian.PutUint16(b, uint16(0x8000+k))
	return b
}

func integer(k int) any { return k }

func columns() []column {
	i32 := func(k int) parquet.Value { return parquet.Int32Value(int32(k)) }
	i64 := func(k int) parquet.Value { return parquet.Int64Value(int64(k)) }
	bytesOf := func(k int) parquet.Value { return parquet.ByteArrayValue(raw(k, 3)) }
	textOf := func(k int) any { return string(raw(k, 3)) }
	hundredths := func(k int) any { return big.NewRat(int64(k), 100) }
	at := func(unit time.Duration) func(k int) any {
		return func(k int) any { return day.Add(time.Duration(k) * unit).In(time.FixedZone("", 3600)) }
	}
	local := func(k int) any {
		t := day.Add(time.Duration(k) * time.Millisecond)
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.FixedZone("", -7200))
	}
	return []column{
		{name: "bool", node: parquet.Leaf(parquet.BooleanType), value: func(k int) parquet.Value { return parquet.BooleanValue(k > 0) }, goValue: func(k int) any { return k > 0 }, blind: true},
		{name: "plain32", node: parquet.Leaf(parquet.Int32Type), value: i32, goValue: integer},
		{name: "plain64", node: parquet.Leaf(parquet.Int64Type), value: i64, goValue: func(k int) any { return big.NewInt(int64(k)) }},
		{name: "i8", node: parquet.Int(8), value: i32, goValue: func(k int) any { return int8(k) }},
		{name: "i64", node: parquet.Int(64), value: i64, goValue: integer},
		{name: "u16", node: parquet.Uint(16), value: func(k int) parquet.Value { return parquet.Int32Value(int32(0x8000 + k)) }, goValue: func(k int) any { return uint16(0x8000 + k) }},
		{name: "u32", node: parquet.Uint(32), value: func(k int) parquet.Value { return parquet.Int32Value(int32(uint32(1<<31) + uint32(k))) }, goValue: func(k int) any { return uint32(1<<31) + uint32(k) }},
		{name: "u64", node: parquet.Uint(64), value: func(k int) parquet.Value { return parquet.Int64Value(math.MinInt64 + int64(k)) }, goValue: func(k int) any { return uint64(1<<63) + uint64(k) }},
		{name: "f32", node: parquet.Leaf(parquet.FloatType), value: func(k int) parquet.Value { return parquet.FloatValue(float32(k) / 8) }, goValue: func(k int) any { return float32(k) / 8 }},
		{name: "f64", node: parquet.Leaf(parquet.DoubleType), value: func(k int) parquet.Value { return parquet.DoubleValue(float64(k) / 10) }, goValue: func(k int) any { return float64(k) / 10 }},
		{name: "decimal32", node: parquet.Decimal(2, 9, parquet.Int32Type), value: i32, goValue: hundredths},
		{name: "decimal64", node: parquet.Decimal(2, 18, parquet.Int64Type), value: i64, goValue: hundredths},
		{name: "decimal13", node: parquet.Decimal(2, 30, parquet.FixedLenByteArrayType(13)), value: func(k int) parquet.Value { return parquet.FixedLenByteArrayValue(bigEndian(k, 13)) }, goValue: hundredths, blind: true},
		{name: "date", node: parquet.Date(), value: i32, goValue: func(k int) any { return day.AddDate(0, 0, k) }},
		{name: "clock3", node: parquet.Time(parquet.Millisecond), value: func(k int) parquet.Value { return i32(k + most) }, goValue: func(k int) any { return time.Duration(k+most) * time.Millisecond }},
		{name: "clock9", node: parquet.Time(parquet.Nanosecond), value: func(k int) parquet.Value { return i64(k + most) }, goValue: func(k int) any { return time.Duration(k + most) }},
		{name: "time3", node: parquet.Timestamp(parquet.Millisecond), value: i64, goValue: at(time.Millisecond)},
		{name: "time6", node: parquet.Timestamp(parquet.Microsecond), value: i64, goValue: at(time.Microsecond)},
		{name: "time9", node: parquet.Timestamp(parquet.Nanosecond), value: i64, goValue: at(time.Nanosecond)},
		{name: "local", node: parquet.TimestampAdjusted(parquet.Millisecond, false), value: i64, goValue: local},
		{name: "string", node: parquet.String(), value: bytesOf, goValue: textOf},
		{name: "enum", node: parquet.Enum(), value: bytesOf, goValue: textOf},
		{name: "json", node: parquet.JSON(), value: bytesOf, goValue: textOf},
		{name: "bson", node: parquet.BSON(), value: bytesOf, goValue: textOf},
		{name: "long", node: parquet.String(), value: func(k int) parquet.Value { return parquet.ByteArrayValue(bytes.Repeat(raw(k, 2), 20)) }, goValue: func(k int) any { return bytes.Repeat(raw(k, 2), 20) }},
		{name: "binary", node: parquet.Leaf(parquet.ByteArrayType), value: bytesOf, goValue: textOf},
		{name: "fixed", node: parquet.Leaf(parquet.FixedLenByteArrayType(3)), value: func(k int) parquet.Value { return parquet.FixedLenByteArrayValue(raw(k, 3)) }, goValue: textOf},
		{name: "uuid", node: parquet.UUID(), value: func(k int) parquet.Value { return parquet.FixedLenByteArrayValue(raw(k, 16)) }, goValue: func(k int) any { return raw(k, 16) }},
		{name: "int96", node: parquet.Leaf(parquet.Int96Type), value: func(k int) parquet.Value { return parquet.Int96Value(deprecated.Int96{0, 0, uint32(k)}) }, goValue: at(time.Nanosecond), vague: true, blind: true},
	}
}

// table is a file and what is in it: for each row group and row, the ranks of each column.
type table struct {
	file   []byte
	ranks  [][][][]int // of the group, the row, the column
	leaves []int       // the number of each column in the file
}

// newTable writes a file with a column of each kind, optional or repeated. The rows of a group
// are near each other, but for a few.
func newTable(t testing.TB, r *rand.Rand, all []column) (out table) {
	fields := parquet.Group{}
	var filters []parquet.BloomFilterColumn
	for i, c := range all {
		fields[c.name] = parquet.Optional(c.node)
		if i%5 == 4 {
			fields[c.name] = parquet.Repeated(c.node)
		}
		if !c.blind {
			filters = append(filters, parquet.SplitBlockFilter(10, c.name))
		}
	}
	schema := parquet.NewSchema("table", fields)
	for _, c := range all {
		leaf, _ := schema.Lookup(c.name)
		out.leaves = append(out.leaves, leaf.ColumnIndex)
	}
	var file bytes.Buffer
	w := parquet.NewWriter(&file, schema, parquet.PageBufferSize(60), parquet.BloomFilters(filters...))
	for g := range 4 {
		var group [][][]int
		middle := r.IntN(2*most) - most
		for range 60 {
			ranks := make([][]int, len(all))
			row := make(parquet.Row, 0, len(all))
			for i, c := range all {
				n := 1
				if i%5 == 4 {
					n = r.IntN(4)
				} else if r.IntN(10) == 0 || g == 2 && i%3 == 0 {
					n = 0
				}
				if n == 0 {
					row = append(row, parquet.NullValue().Level(0, 0, out.leaves[i]))
				}
				for k := range n {
					rank := min(max(middle+r.IntN(21)-10, -most), most)
					v := c.value(rank)
					if c.node.Type().Kind() == parquet.Double && r.IntN(8) == 0 {
						v = parquet.DoubleValue(math.NaN())
					} else {
						ranks[i] = append(ranks[i], rank)
					}
					row = append(row, v.Level(min(k, 1), 1, out.leaves[i]))
				}
			}
			slices.SortStableFunc(row, func(a, b parquet.Value) int { return a.Column() - b.Column() })
			group = append(group, ranks)
			if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
				t.Fatal(err)
			}
		}
		out.ranks = append(out.ranks, group)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out.file = file.Bytes()
	return out
}

// condition is a predicate, and the same by ranks.
type condition struct {
	match.Predicate
	holds func(ranks [][]int) bool
	text  string
}

// simple returns a condition on column i.
func simple(r *rand.Rand, all []column, i int) condition {
	c := all[i]
	lo := r.IntN(2*most+1) - most
	hi := min(lo+r.IntN(12), most)
	some := func(is func(k int) bool) func([][]int) bool {
		return func(ranks [][]int) bool { return slices.ContainsFunc(ranks[i], is) }
	}
	isBool := c.name == "bool"
	within := func(lo, hi int) func(k int) bool {
		if isBool {
			return func(k int) bool { return (k > 0 || !(lo > 0)) && (!(k > 0) || hi > 0) }
		}
		return func(k int) bool { return lo <= k && k <= hi }
	}
	switch r.IntN(6) {
	case 0:
		return condition{match.Equal(c.name, c.goValue(lo)), some(within(lo, lo)), fmt.Sprint(c.name, " = ", lo)}
	case 1:
		return condition{match.Between(c.name, c.goValue(lo), nil), some(within(lo, most)), fmt.Sprint(c.name, " >= ", lo)}
	case 2:
		return condition{match.Between(c.name, nil, c.goValue(hi)), some(within(-most, hi)), fmt.Sprint(c.name, " <= ", hi)}
	case 3:
		return condition{match.IsNull(c.name), func(ranks [][]int) bool { return len(ranks[i]) == 0 && c.name != "f64" }, c.name + " is null"}
	case 4:
		return condition{match.NotNull(c.name), func(ranks [][]int) bool { return len(ranks[i]) > 0 }, c.name + " is not null"}
	}
	return condition{match.Between(c.name, c.goValue(lo), c.goValue(hi)), some(within(lo, hi)), fmt.Sprint(c.name, " from ", lo, " to ", hi)}
}

// compound returns a condition of conditions.
func compound(r *rand.Rand, all []column, depth int) condition {
	if depth == 0 || r.IntN(3) == 0 {
		return simple(r, all, r.IntN(len(all)))
	}
	a, b := compound(r, all, depth-1), compound(r, all, depth-1)
	if r.IntN(2) == 0 {
		return condition{match.And(a.Predicate, b.Predicate), func(k [][]int) bool { return a.holds(k) && b.holds(k) }, "(" + a.text + " and " + b.text + ")"}
	}
	return condition{match.Or(a.Predicate, b.Predicate), func(k [][]int) bool { return a.holds(k) || b.holds(k) }, "(" + a.text + " or " + b.text + ")"}
}

// check fails if a row that matches is excluded. It returns how many rows are excluded.
func check(t *testing.T, f *parquetmeta.File, data table, c condition) (excluded int) {
	t.Helper()
	candidates := make([][]bool, len(data.ranks))
	for part, err := range match.Parts(f, c.Predicate) {
		if err != nil {
			t.Fatal(c.text, err)
		}
		candidates[part.RowGroup.Number] = make([]bool, len(data.ranks[0]))
		for _, r := range part.Rows {
			for i := r.Begin; i < r.End; i++ {
				candidates[part.RowGroup.Number][i] = true
			}
		}
	}
	for g, group := range data.ranks {
		for i, ranks := range group {
			can := candidates[g] != nil && candidates[g][i]
			if !can {
				excluded++
			}
			if !can && c.holds(ranks) {
				t.Fatalf("row %d of group %d matches %s, and is excluded", i, g, c.text)
			}
		}
	}
	return excluded
}

func open(t testing.TB, file []byte) *parquetmeta.File {
	t.Helper()
	f, err := parquetmeta.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestNeverTooMuch: no row that matches is excluded, whatever the type and the predicate; and of
// each type with an order, many rows are.
func TestNeverTooMuch(t *testing.T) {
	all := columns()
	excluded, asked := make([]int, len(all)), make([]int, len(all))
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		data := newTable(t, r, all)
		f := open(t, data.file)
		for i := range all {
			for range 12 {
				excluded[i] += check(t, f, data, simple(r, all, i))
				asked[i] += 240
			}
		}
		for range 200 {
			check(t, f, data, compound(r, all, 3))
		}
	}
	for i, c := range all {
		if share := float64(excluded[i]) / float64(asked[i]); share < 0.2 && !c.vague {
			t.Errorf("%s: %.2f of the rows are excluded", c.name, share)
		}
	}
}
