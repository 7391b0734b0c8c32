package containers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/testtypes"
)

// Columns are compared with getters. Package sessions does so, too, for random types and after
// random edits.

type (
	child   nocopy.Struct // an All
	hundred nocopy.Struct // of hundredDesc
	preset  nocopy.Struct // a Default
	color   int32
)

func (child) ThriftDesc() *nocopy.Desc   { return allDesc }
func (hundred) ThriftDesc() *nocopy.Desc { return hundredDesc }
func (preset) ThriftDesc() *nocopy.Desc  { return testtypes.Default }

// hundredDesc has more than 57 fields.
var hundredDesc = func() *schema.Struct {
	var fields []schema.FieldDesc
	for i := range 100 {
		fields = append(fields, schema.FieldDesc{ID: int16(1 + i), Name: "f" + itoa(1+i), Type: typeI64, Req: schema.Optional})
	}
	d := schema.NewStruct("Hundred")
	d.DefineWide(fields...)
	return d
}()

// newChildren returns a list of n elements; each has about half of the fields that have columns.
func newChildren(n int) nocopy.StructList[child] {
	root := newStruct(allDesc)
	l := nocopy.StructList[child](root.NewChild(fieldNamed(allDesc, "children"), allDesc, n))
	for i := range n {
		s, has := engine.Struct(l.At(i)), func(bit int) bool { return i*7>>bit&1 != 0 }
		if has(0) {
			s.SetBool(fieldNamed(allDesc, "flag"), i%3 == 0)
			s.SetInt64(fieldNamed(allDesc, "large"), -int64(i)<<33)
		}
		if has(1) {
			s.SetInt8(fieldNamed(allDesc, "tiny"), int8(i))
			s.SetText(fieldNamed(allDesc, "text"), strings.Repeat("t", i%30))
			s.SetInt32(fieldNamed(allDesc, "color"), int32(i))
		}
		if has(2) {
			s.SetInt16(fieldNamed(allDesc, "small"), int16(-i))
			s.SetFloat64(fieldNamed(allDesc, "real"), float64(i)/3)
			s.SetBytes(fieldNamed(allDesc, "blob"), fmt.Append(nil, i))
			s.SetUUID(fieldNamed(allDesc, "key"), [16]byte{byte(i), 15: 1})
		}
		if has(3) {
			s.SetInt32(fieldNamed(allDesc, "medium"), int32(i)<<20)
			s.NewChild(fieldNamed(allDesc, "point"), allDesc, 0)
		}
	}
	return l
}

// children returns the list in a message of type All.
func children(root engine.Struct) nocopy.StructList[child] {
	return nocopy.StructList[child](root.Child(fieldNamed(allDesc, "children"), allDesc))
}

// mustEqualGetters compares all columns of l with its getters.
func mustEqualGetters(t *testing.T, what string, l nocopy.StructList[child]) {
	t.Helper()
	mustEqual(t, what, l, 1, engine.Struct.Bool, "flag")
	mustEqual(t, what, l, 2, engine.Struct.Int8, "tiny")
	mustEqual(t, what, l, 3, engine.Struct.Int16, "small")
	mustEqual(t, what, l, 4, engine.Struct.Int32, "medium")
	mustEqual(t, what, l, 5, engine.Struct.Int64, "large")
	mustEqual(t, what, l, 6, engine.Struct.Float64, "real")
	mustEqual(t, what, l, 7, engine.Struct.Text, "text")
	mustEqual(t, what, l, 8, func(s engine.Struct, f schema.Ref) string { return string(s.Bytes(f)) }, "blob")
	mustEqual(t, what, l, 9, func(s engine.Struct, f schema.Ref) nocopy.UUID { return s.UUID(f) }, "key")
	mustEqual(t, what, l, 10, func(s engine.Struct, f schema.Ref) color { return color(s.Int32(f)) }, "color")
	for id, name := range map[int16]string{7: "text", 8: "blob"} {
		f := fieldNamed(allDesc, name)
		offsets, data := nocopy.TextColumn(nil, []byte("before"), l, id)
		offsets, data = nocopy.TextColumn(offsets, data, l, id) // the same again
		if len(offsets) != 2*l.Len()+1 || offsets[0] != 6 {
			t.Fatalf("%s: %d offsets of %d texts, from %d on", what, len(offsets), l.Len(), offsets[0])
		}
		for i := range 2 * l.Len() {
			if got, want := string(data[offsets[i]:offsets[i+1]]), string(engine.Struct(l.At(i%l.Len())).Bytes(f)); got != want {
				t.Fatalf("%s: text %d of field %s is %q, not %q", what, i, name, got, want)
			}
		}
	}
	point := fieldNamed(allDesc, "point")
	bits := nocopy.ColumnValidity([]byte{5}, 3, l, 11)
	if len(bits) != (3+l.Len()+7)/8 || bits[0]&7 != 5 {
		t.Fatalf("%s: %d bytes for %d bits", what, len(bits), 3+l.Len())
	}
	for i := range 8*len(bits) - 3 {
		if has, want := bits[(3+i)/8]>>((3+i)%8)&1 != 0, i < l.Len() && engine.Struct(l.At(i)).Has(point); has != want {
			t.Fatalf("%s: bit %d is %v", what, i, has)
		}
	}
}

func mustEqual[T interface {
	comparable
	nocopy.ColumnType
}](t *testing.T, what string, l nocopy.StructList[child], id int16, get func(engine.Struct, schema.Ref) T, field string) {
	t.Helper()
	var first, zero T
	got := nocopy.Column([]T{zero}, l, id)[1:]
	if len(got) != l.Len() {
		t.Fatalf("%s: %d values of %d elements", what, len(got), l.Len())
	}
	for i, s := range l.All() {
		if first = get(engine.Struct(s), fieldNamed(allDesc, field)); got[i] != first {
			t.Fatalf("%s: value %d of field %s is %v, not %v", what, i, field, got[i], first)
		}
	}
}

// TestColumns: columns are what getters return, in lists in all states.
func TestColumns(t *testing.T) {
	const n = 200
	built := newChildren(n)
	mustEqualGetters(t, "built", built)
	wire := messageOf(built).AppendTo(nil)
	mustEqualGetters(t, "finished", built)
	indexed := messageOf(mustParse(t, allDesc, wire, engine.WithIndex)).AppendTo(nil)
	if len(indexed) <= len(wire) {
		t.Fatal("no index")
	}
	byIndex := way{Name: "by index", Parse: func(d *schema.Struct, _ []byte, opts ...engine.Option) (engine.Struct, error) {
		return engine.Parse(d, indexed, append(opts, engine.ByIndex)...)
	}}
	for _, w := range append(slices.Clone(manyWays), owned, cloned, cutEvery(100), byIndex) {
		root, err := w.Parse(allDesc, wire)
		if err != nil {
			t.Fatal(err)
		}
		l := children(root)
		mustEqualGetters(t, w.Name, l)
		for i := 0; i < n; i += 3 { // nodes
			engine.Struct(l.At(i)).SetText(fieldNamed(allDesc, "text"), longText[:i])
			engine.Struct(l.At(i)).SetInt64(fieldNamed(allDesc, "large"), int64(i))
			engine.Struct(l.At(i)).Unset(fieldNamed(allDesc, "point"))
		}
		mustEqualGetters(t, w.Name+", edited", l)
		l.Swap(0, 1)
		l.Delete(10, 20)
		mustEqualGetters(t, w.Name+", arranged", l)
		l.Append(l.At(2))
		engine.Struct(l.AppendNew()).SetText(fieldNamed(allDesc, "text"), "new")
		mustEqualGetters(t, w.Name+", longer", l)
		l.Truncate(0)
		mustEqualGetters(t, w.Name+", empty", l)
		root.Release()
	}
	messageOf(built).Release()
}

// TestColumnsOfBuilt: columns of a list that is being built begin its elements, as All does.
func TestColumnsOfBuilt(t *testing.T) {
	strict := newStruct(testtypes.Strict)
	l := nocopy.StructList[required](strict.NewChild(fieldNamed(testtypes.Strict, "list"), testtypes.Strict, 70))
	engine.Struct(l.At(0)).SetInt32(fieldNamed(testtypes.Strict, "id"), 5)
	bits, ids := nocopy.ColumnValidity(nil, 0, l, 1), nocopy.Column([]int32(nil), l, 1)
	for i, s := range l.All() {
		f := fieldNamed(testtypes.Strict, "id")
		if has := bits[i/8]>>(i%8)&1 != 0; has != engine.Struct(s).Has(f) || ids[i] != engine.Struct(s).Int32(f) {
			t.Errorf("element %d: %v, %d in the columns", i, has, ids[i])
		}
	}
	engine.Struct(l.At(69)).SetInt32(fieldNamed(testtypes.Strict, "id"), 6)
	if ids = nocopy.Column(ids[:0], l, 1); ids[0] != 5 || ids[69] != 6 {
		t.Errorf("ids %v", ids)
	}
	strict.Release()
}

type required nocopy.Struct // a Strict

func (required) ThriftDesc() *nocopy.Desc { return testtypes.Strict }

// TestColumnsOfLarge: values in many segments of memory. The pieces of 1 MiB and 2 bytes end in a
// value. The value is copied, and the copy gets positions that the piece had.
func TestColumnsOfLarge(t *testing.T) {
	const n = 60_000
	built := newChildren(n)
	large, texts := nocopy.Column([]int64(nil), built, 5), nocopy.Column([]string(nil), built, 7)
	wire := messageOf(built).AppendTo(nil)
	if len(wire) < 3<<20 {
		t.Fatalf("only %d bytes", len(wire))
	}
	for _, w := range []way{inOnePiece, cutEvery(1 << 16), cutEvery(1 << 20), cutEvery(1<<20 + 2)} {
		root, err := w.Parse(allDesc, wire)
		if err != nil {
			t.Fatal(err)
		}
		l, f, g := children(root), fieldNamed(allDesc, "large"), fieldNamed(allDesc, "text")
		got, gotTexts := nocopy.Column([]int64(nil), l, 5), nocopy.Column([]string(nil), l, 7)
		for i, s := range l.All() {
			v, text := engine.Struct(s).Int64(f), engine.Struct(s).Text(g)
			if got[i] != v || large[i] != v || gotTexts[i] != text || texts[i] != text {
				t.Fatalf("%s: element %d: %d and %d, not %d", w.Name, i, got[i], large[i], v)
			}
		}
	}
}

// TestColumnsOfWide: structs of many fields have no words at equal distances.
func TestColumnsOfWide(t *testing.T) {
	d := schema.NewStruct("Hundreds")
	d.Define(schema.FieldDesc{ID: 1, Name: "list", Type: listTypeOf(structTypeOf(hundredDesc))})
	root := newStruct(d)
	l, f := nocopy.StructList[hundred](root.NewChild(d.Field(0), d, 150)), fieldNamed(hundredDesc, "f90")
	for i := range 150 {
		if i%3 != 0 {
			engine.Struct(l.At(i)).SetInt64(f, int64(i))
		}
	}
	for range 2 {
		got, bits := nocopy.Column([]int64(nil), l, 90), nocopy.ColumnValidity(nil, 0, l, 90)
		for i, s := range l.All() {
			if got[i] != engine.Wide(s).Int64(f) || bits[i/8]>>(i%8)&1 != 0 != engine.Wide(s).Has(f) {
				t.Errorf("element %d is %d", i, got[i])
			}
		}
		root.Message().Finish()
	}
}

// TestColumnsDefaults: an unset field gives its IDL default.
func TestColumnsDefaults(t *testing.T) {
	d := schema.NewStruct("Presets")
	d.Define(schema.FieldDesc{ID: 1, Name: "list", Type: listTypeOf(structTypeOf(testtypes.Default))})
	root := mustParse(t, d, []byte("\x0f\x00\x01\x0c\x00\x00\x00\x02"+
		"\x0a\x00\x0b\x00\x00\x00\x00\x00\x00\x00\x01\x0b\x00\x0c\x00\x00\x00\x03one\x0c\x00\x0e\x00\x08\x00\x0f\x00\x00\x00\x00"+
		"\x0f\x00\x0d\x08\x00\x00\x00\x00\x0b\x00\x10\x00\x00\x00\x00\x0d\x00\x11\x0b\x08\x00\x00\x00\x00\x0c\x00\x12\x00\x00"+
		"\x0a\x00\x15\x00\x00\x00\x00\x00\x00\x00\x02\x0b\x00\x16\x00\x00\x00\x03two"+
		"\x0a\x00\x0b\x00\x00\x00\x00\x00\x00\x00\x01\x0b\x00\x0c\x00\x00\x00\x03one\x0c\x00\x0e\x00\x08\x00\x0f\x00\x00\x00\x00"+
		"\x0f\x00\x0d\x08\x00\x00\x00\x00\x0b\x00\x10\x00\x00\x00\x00\x0d\x00\x11\x0b\x08\x00\x00\x00\x00\x0c\x00\x12\x00\x00\x00"))
	l := nocopy.StructList[preset](root.Child(d.Field(0), d))
	if got := nocopy.Column([]int64(nil), l, 21); !slices.Equal(got, []int64{7, 2}) {
		t.Errorf("numbers %v", got)
	}
	if got := nocopy.Column([]string(nil), l, 22); !slices.Equal(got, []string{"hi", "two"}) {
		t.Errorf("strings %q", got)
	}
	if offsets, data := nocopy.TextColumn(nil, nil, l, 22); string(data) != "hitwo" || !slices.Equal(offsets, []int32{0, 2, 5}) {
		t.Errorf("texts %q, %v", data, offsets)
	}
}

// TestColumnsOfNothing: an absent list has no values, a released one panics.
func TestColumnsOfNothing(t *testing.T) {
	root := newStruct(allDesc)
	for _, l := range []nocopy.StructList[child]{{}, children(root)} {
		if v := nocopy.Column([]int64{3}, l, 5); !slices.Equal(v, []int64{3}) {
			t.Errorf("values %v", v)
		}
		if offsets, data := nocopy.TextColumn(nil, []byte("x"), l, 7); !slices.Equal(offsets, []int32{1}) || string(data) != "x" {
			t.Errorf("texts %q, %v", data, offsets)
		}
		if bits := nocopy.ColumnValidity(nil, 0, l, 7); len(bits) != 0 {
			t.Errorf("bits %v", bits)
		}
	}
	l := newChildren(3)
	messageOf(l).Release()
	panics(t, "a column of a released message", testtypes.PanicStale, func() { nocopy.Column([]int64(nil), l, 5) })
}

// TestColumnsRefused: a column of another type, or of no field, is a mistake in the program.
func TestColumnsRefused(t *testing.T) {
	l := nocopy.StructList[child]{}
	panics(t, "number", "nocopy: no column of i64: All.medium is of type i32", func() { nocopy.Column([]int64(nil), l, 4) })
	panics(t, "enum", "nocopy: no column of i32: All.large is of type i64", func() { nocopy.Column([]color(nil), l, 5) })
	panics(t, "uuid", "nocopy: no column of uuid: All.text is of type string", func() { nocopy.Column([]nocopy.UUID(nil), l, 7) })
	panics(t, "list", "nocopy: no column of i64: All.numbers is of type list<i64>", func() { nocopy.Column([]int64(nil), l, 13) })
	panics(t, "string", "nocopy: no column of texts: All.large is of type i64", func() { nocopy.Column([]string(nil), l, 5) })
	panics(t, "text", "nocopy: no column of texts: All.large is of type i64", func() { nocopy.TextColumn(nil, nil, l, 5) })
	panics(t, "field", "nocopy: no column of field 500: All does not have it", func() { nocopy.ColumnValidity(nil, 0, l, 500) })
	for end, data := range map[int32]string{0: "x", 2: "x"} {
		panics(t, "offsets", "nocopy: TextColumn: the last offset is not the length of data", func() { nocopy.TextColumn([]int32{end}, []byte(data), l, 7) })
	}
	for n, dst := range map[int][]byte{0: {0}, 8: nil, 9: {0}, -1: nil} {
		panics(t, "bits", "nocopy: ColumnValidity: dst does not have as many bytes as n bits take", func() { nocopy.ColumnValidity(dst, n, l, 1) })
	}
}

// TestColumnsAllocate: columns into slices with room allocate nothing.
func TestColumnsAllocate(t *testing.T) {
	if raceEnabled || !aliasing {
		t.Skip("without unsafe strings, enums and UUIDs are copied; with the race detector pools lose things")
	}
	l := newChildren(100)
	messageOf(l).Finish()
	numbers, keys, colors, texts := make([]int64, 0, 100), make([]nocopy.UUID, 0, 100), make([]color, 0, 100), make([]string, 0, 100)
	offsets, data, bits := make([]int32, 0, 101), make([]byte, 0, 10_000), make([]byte, 0, 13)
	if n := testing.AllocsPerRun(100, func() {
		numbers = nocopy.Column(numbers[:0], l, 5)
		keys = nocopy.Column(keys[:0], l, 9)
		colors = nocopy.Column(colors[:0], l, 10)
		texts = nocopy.Column(texts[:0], l, 7)
		offsets, data = nocopy.TextColumn(offsets[:0], data[:0], l, 8)
		bits = nocopy.ColumnValidity(bits[:0], 0, l, 8)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
