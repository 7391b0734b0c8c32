package reflection_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

// fill sets fields of m at random, only by reflection.
func fill(t *testing.T, r *rand.Rand, m reflection.Message, depth int) {
	t.Helper()
	for f := range m.Descriptor().Fields() {
		if r.IntN(4) == 0 || m.Descriptor().Shape() == descriptor.ShapeUnion && r.IntN(3) > 0 {
			continue
		}
		switch f.Type().WireType() {
		case nocopy.WireStruct, nocopy.WireList, nocopy.WireSet, nocopy.WireMap:
			if depth == 0 {
				continue
			}
			v, err := m.New(f.Name())
			if err != nil {
				t.Fatal(err)
			}
			fillContainer(t, r, v, depth-1)
		default:
			if err := m.SetByID(f.ID(), scalar(r, f.Type())); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// fillContainer fills an empty struct or container.
func fillContainer(t *testing.T, r *rand.Rand, v reflection.Value, depth int) {
	t.Helper()
	switch v.Type().WireType() {
	case nocopy.WireStruct:
		fill(t, r, v.Message(), depth)
	case nocopy.WireMap:
		for range r.IntN(4) {
			if isHandle(v.Type().Key()) {
				continue
			}
			key := scalar(r, v.Type().Key())
			if isHandle(v.Type().Elem()) {
				x, err := v.Map().PutNew(key)
				if err != nil {
					t.Fatal(err)
				}
				fillContainer(t, r, x, depth-1)
			} else if err := v.Map().Put(key, scalar(r, v.Type().Elem())); err != nil {
				t.Fatal(err)
			}
		}
	default:
		for range r.IntN(4) {
			if isHandle(v.Type().Elem()) {
				fillContainer(t, r, v.List().AppendNew(), depth-1)
			} else if err := v.List().Append(scalar(r, v.Type().Elem())); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func isHandle(t descriptor.Type) bool {
	return t.WireType() == nocopy.WireStruct || t.WireType() == nocopy.WireMap || t.WireType() == nocopy.WireList || t.WireType() == nocopy.WireSet
}

// scalar returns a random Go value of a type.
func scalar(r *rand.Rand, t descriptor.Type) any {
	switch t.WireType() {
	case nocopy.WireBool:
		return r.IntN(2) == 0
	case nocopy.WireI8:
		return int8(r.Uint32())
	case nocopy.WireI16:
		return int(int16(r.Uint32()))
	case nocopy.WireI32:
		if t.Enum().Valid() {
			for v := range t.Enum().Values() {
				if r.IntN(2) == 0 {
					return v.Name()
				}
			}
		}
		return int32(r.Uint32())
	case nocopy.WireI64:
		return int64(r.Uint64())
	case nocopy.WireDouble:
		return r.NormFloat64()
	case nocopy.WireUUID:
		return nocopy.UUID{byte(r.Uint32())}
	}
	if t.IsBinary() {
		return []byte{byte(r.Uint32())}
	}
	return fmt.Sprint(r.Uint32())
}

// copyTo copies the set fields of one message to another, only by reflection.
func copyTo(t *testing.T, from, to reflection.Message) {
	t.Helper()
	for f := range to.Descriptor().Fields() {
		if err := to.UnsetByID(f.ID()); err != nil {
			t.Fatal(err)
		}
	}
	for f, v := range from.All() {
		if !v.IsSet() || !from.Has(f.Name()) || !from.HasByID(f.ID()) {
			t.Errorf("%s is not set", f.Name())
		}
		var x any = v
		if f.Index()%2 == 0 {
			x = v.Interface()
		}
		if err := to.Set(f.Name(), x); err != nil {
			t.Error(err)
		}
	}
}

// nesting has containers in containers, as keys, and in structs that contain each other.
const nesting = `
enum Level { LOW = 1, HIGH = 5 }
struct Node {
  1: string name
  2: map<Level, i64> counts
  3: list<Leaf> leaves
}
struct Leaf {
  1: i8 small
  2: bool flag
  3: double real
  4: uuid key
  5: binary blob
}
union Choice {
  1: i32 number
  2: Node node
}
struct Tree {
  1: string name
  2: optional set<Node> nodes
  3: required list<map<set<i32>, map<i32, set<list<map<Node, string>>>>>> deep
  4: binary blob
  5: uuid key
  6: list<Choice> choices
}`

func load(t *testing.T, text, name string) dynamic.Type {
	t.Helper()
	s, err := dynamic.LoadText(map[string]string{"nesting.thrift": text})
	if err != nil {
		t.Fatal(err)
	}
	typ, err := s.Struct(name)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// TestReflection: a message filled by reflection is received unchanged, and a copy made by
// reflection is the same.
func TestReflection(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tree, node := load(t, nesting, "Tree"), load(t, nesting, "Node")
	for range 200 {
		m := tree.New()
		fill(t, r, m, 5)
		parsed, err := tree.Parse(m.Message().Bytes())
		if err != nil {
			t.Fatal(err)
		}
		again := tree.New()
		copyTo(t, parsed, again)
		if diff := cmp.Diff(parsed.String(), again.String()); diff != "" {
			t.Fatalf("-read +copied:\n%s", diff)
		}
		m.Release()
		parsed.Release()
		again.Release()
	}
	for range 200 {
		m := node.New()
		fill(t, r, m, 4)
		counts, err := m.Get("counts")
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range counts.Map().All() {
			keys := []any{k, int32(k.Int())}
			if k.EnumName() != "" {
				keys = append(keys, k.EnumName())
			}
			for _, key := range keys {
				if got, ok, err := counts.Map().Get(key); err != nil || !ok || got.Int() != want.Int() {
					t.Fatalf("%v is %v, %v", key, got, err)
				}
			}
		}
		m.Release()
	}
}

func TestLookup(t *testing.T) {
	o := order.NewOrder()
	lines := o.NewLines(2)
	lines.At(1).SetArticle("kettle")
	lines.At(1).SetCount(3)
	o.NewLabels().Put(`a "b" ]`, "c")
	m := reflection.Of(o)
	for _, c := range []struct {
		path, want string
		set        bool
	}{
		{"id", "0", true},
		{"customer", "", false},
		{"lines[1].article", "kettle", true},
		{"lines[1].count", "3", true},
		{"lines[0].article", "", true},
		{`labels["a \"b\" ]"]`, "c", true},
		{"labels[`a \"b\" ]`]", "c", true},
	} {
		v, err := m.Lookup(c.path)
		if err != nil || v.String() != c.want || v.IsSet() != c.set {
			t.Errorf("%s is %v, set %v, %v", c.path, v, v.IsSet(), err)
		}
	}
	for _, c := range []struct {
		path   string
		offset int
		what   error
	}{
		{"", 0, reflection.ErrSyntax}, {".", 0, reflection.ErrSyntax}, {"id.", 2, reflection.ErrSyntax},
		{"nothing", 0, descriptor.ErrNotFound}, {"lines[1].nothing", 8, descriptor.ErrNotFound},
		{"id.x", 2, descriptor.ErrNotFound}, {"id[0]", 2, descriptor.ErrNotFound},
		{"lines[2]", 5, descriptor.ErrNotFound}, {"lines[-1]", 5, descriptor.ErrNotFound},
		{"lines[x]", 5, reflection.ErrSyntax}, {`lines["0"]`, 5, reflection.ErrSyntax}, {"lines[0", 5, reflection.ErrSyntax},
		{"lines[", 5, reflection.ErrSyntax}, {"lines[]", 5, reflection.ErrSyntax}, {"lines[0]x", 8, reflection.ErrSyntax},
		{"lines[0]]", 8, reflection.ErrSyntax}, {`labels["b"]`, 6, descriptor.ErrNotFound}, {"labels[b]", 6, reflection.ErrSyntax},
		{`labels["b`, 6, reflection.ErrSyntax}, {`labels["b"`, 6, reflection.ErrSyntax}, {"lines[99999999999999999999]", 5, reflection.ErrSyntax},
		{"[0]", 0, descriptor.ErrNotFound},
	} {
		_, err := m.Lookup(c.path)
		var at *reflection.PathError
		if !errors.As(err, &at) || at.Offset != c.offset || !errors.Is(err, c.what) {
			t.Errorf("%q: %v", c.path, err)
		}
	}
}

// TestRefused: values that do not fit give errors that name the field, and set nothing.
func TestRefused(t *testing.T) {
	o := order.NewOrder()
	o.SetCustomer("Ada")
	m := reflection.Of(o)
	before := o.String()
	line, err := m.Lookup("lines")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		v    any
	}{
		{"nothing", 1}, {"id", "1"}, {"id", 1.5}, {"id", nil}, {"id", uint64(1) << 63}, {"id", true}, {"id", []byte{1}},
		{"customer", 1}, {"customer", nocopy.UUID{}}, {"customer", nil}, {"lines", 1}, {"lines", order.NewLine()},
		{"lines", reflection.Value{}}, {"lines", reflection.List{}}, {"labels", line}, {"labels", map[string]int{"a": 1}},
	} {
		err := m.Set(c.name, c.v)
		var f *reflection.FieldError
		if !errors.As(err, &f) || f.Struct != "Order" || f.Field != c.name {
			t.Errorf("%s = %T: %v", c.name, c.v, err)
		}
	}
	for name, err := range map[string]error{
		"ID": m.SetByID(99, 1), "unset": m.Unset("nothing"), "unset ID": m.UnsetByID(99),
	} {
		if !errors.Is(err, descriptor.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := m.New("customer"); err == nil {
		t.Error("a new string")
	}
	if _, err := m.Get("nothing"); err == nil {
		t.Error("nothing is something")
	}
	if o.String() != before {
		t.Errorf("%v, was %v", o, before)
	}
	l := reflection.Of(order.NewLine())
	if err := l.Set("count", int64(1<<31)); err == nil || err.Error() != "Line.count: a number out of the range of i32" {
		t.Error(err)
	}
}

// TestZero: zero Values, Lists, Maps and handles read as empty.
func TestZero(t *testing.T) {
	var v reflection.Value
	if v.Bool() || v.Int() != 0 || v.Float() != 0 || v.Text() != "" || v.Bytes() != nil || v.UUID() != (nocopy.UUID{}) ||
		v.EnumName() != "" || v.Message().Valid() || v.List().Len() != 0 || v.Map().Len() != 0 || v.Interface() != nil || v.IsSet() {
		t.Errorf("%v", v)
	}
	for range v.List().All() {
		t.Error("an element of nothing")
	}
	for range v.Map().All() {
		t.Error("a pair of nothing")
	}
	if _, _, err := v.Map().Get("x"); err == nil {
		t.Error("a key of nothing")
	}
	if v.List().Append(1) == nil || v.Map().Put(1, 2) == nil {
		t.Error("put into nothing")
	}
	none := reflection.Message{}
	if _, err := none.Get("x"); !errors.Is(err, descriptor.ErrNotFound) {
		t.Error(err)
	}
	if _, err := none.Lookup("x"); !errors.Is(err, descriptor.ErrNotFound) {
		t.Error(err)
	}
	for name, err := range map[string]error{"Set": none.Set("x", 1), "SetID": none.SetByID(1, 1), "Unset": none.Unset("x"), "UnsetID": none.UnsetByID(1)} {
		if !errors.Is(err, descriptor.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range none.All() {
		t.Error("a field of nothing")
	}
	for range none.Unknown() {
		t.Error("an unknown field of nothing")
	}
	if none.Has("x") || none.HasByID(1) || none.String() != "<none>" || none.Descriptor().Valid() || none.Valid() {
		t.Error(none)
	}
	if b, err := none.MarshalJSON(); string(none.AppendTo(nil)) != "\x00" || string(b) != "null" || err != nil {
		t.Errorf("%x; %s, %v", none.AppendTo(nil), b, err)
	}
	none.Clone().Release()
	none.Release()
	m := reflection.Of(order.Order{})
	for f, v := range m.All() {
		t.Errorf("%s is %v", f.Name(), v)
	}
	for id := range m.Unknown() {
		t.Errorf("field %d", id)
	}
	if v, err := m.Lookup("labels"); err != nil || v.Map().Len() != 0 || m.Valid() {
		t.Errorf("%v, %v", v, err)
	}
}

// FuzzLookup: no path makes a program panic.
func FuzzLookup(f *testing.F) {
	for _, path := range []string{"id", "lines[1].article", `labels["a"]`, "labels[`a`]", "lines[0].", "[", `labels["\x`} {
		f.Add(path)
	}
	o := order.NewOrder()
	o.NewLines(2)
	o.NewLabels().Put("a", "b")
	f.Fuzz(func(t *testing.T, path string) {
		v, err := reflection.Of(o).Lookup(path)
		var at *reflection.PathError
		switch {
		case err == nil:
			_ = v.String()
		case !errors.As(err, &at) || at.Offset < 0 || at.Offset > len(path):
			t.Errorf("%q: %v", path, err)
		}
	})
}

// TestOfStruct: a descriptor of another type would read and change the message as that type.
func TestOfStruct(t *testing.T) {
	line := order.NewLine()
	line.SetArticle("oil")
	if got := reflection.OfStruct(order.LineDesc, line.ThriftStruct()).String(); got != line.String() {
		t.Errorf("%s, want %v", got, line)
	}
	defer func() {
		if got := recover(); got != "nocopy: descriptor of Order for a handle of Line" {
			t.Errorf("panic %v", got)
		}
	}()
	reflection.OfStruct(order.OrderDesc, line.ThriftStruct())
}
