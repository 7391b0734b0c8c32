package nocopycmp_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// bags loads an IDL with structs of the same name in two files. It returns a message of each, and
// a function that makes a message of the struct Bag.
func bags(t *testing.T) (a, b dynamic.Message, bag func(text string) dynamic.Message) {
	s, err := dynamic.LoadText(map[string]string{
		"a.thrift": "struct In { 1: optional i32 n, 2: optional i32 id, 3: optional list<i32> l, 4: optional double d }",
		"b.thrift": "struct In { 1: optional i32 n, 2: optional i32 id, 3: optional list<i32> l, 4: optional double d }",
		"bag.thrift": `include "a.thrift"
include "b.thrift"
struct Bag { 1: optional a.In a, 2: optional b.In b, 3: optional set<a.In> set, 4: optional map<a.In, b.In> keyed, 5: optional list<a.In> list,
6: optional list<set<list<a.In>>> deep, 7: optional map<string, set<a.In>> named, 8: optional set<set<a.In>> sets }`})
	if err != nil {
		t.Fatal(err)
	}
	typ := func(name string) dynamic.Type {
		typ, err := s.Struct(name)
		if err != nil {
			t.Fatal(err)
		}
		return typ
	}
	return typ("a.In").New(), typ("b.In").New(), func(text string) dynamic.Message {
		m := typ("bag.Bag").New()
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(text, err)
		}
		return m
	}
}

// TestIgnoring: ignored fields have no effect in sets, keys or sorted lists. Fields that are not
// ignored count, even in a type of the same name in another file.
func TestIgnoring(t *testing.T) {
	a, b, bag := bags(t)
	n := nocopycmp.IgnoreFields(a, "n")
	sorted := nocopycmp.SortRepeatedFields(bag("{}"), "list")
	about := nocopycmp.FilterField(a, "d", cmpopts.EquateApprox(0, 0.1))
	for _, test := range []struct {
		x, y string
		opts cmp.Options
		want bool
	}{
		{`{"a":{"n":1}}`, `{"a":{"n":2}}`, cmp.Options{n}, true},
		{`{"b":{"n":1}}`, `{"b":{"n":2}}`, cmp.Options{n}, false},
		{`{"b":{"n":1}}`, `{"b":{"n":2}}`, cmp.Options{nocopycmp.IgnoreFields(b, "n")}, true},
		{`{"a":{"n":1},"b":{"n":1}}`, `{"a":{"n":2},"b":{"n":2}}`, cmp.Options{n, nocopycmp.IgnoreFields(b, "n")}, true},

		{`{"set":[{"n":1,"id":2},{"n":2,"id":1}]}`, `{"set":[{"n":1,"id":1},{"n":2,"id":2}]}`, cmp.Options{n}, true},
		{`{"set":[{"n":1,"id":2},{"n":2,"id":1}]}`, `{"set":[{"n":1,"id":1},{"n":2,"id":2}]}`, nil, false},
		{`{"set":[{"n":1,"id":2},{"n":2,"id":1}]}`, `{"set":[{"n":1,"id":1},{"n":2,"id":3}]}`, cmp.Options{n}, false},
		{`{"set":[{"n":1,"id":1},{"n":2,"id":1}]}`, `{"set":[{"n":3,"id":1},{"n":4,"id":1}]}`, cmp.Options{n}, true},
		{`{"set":[{"n":1,"id":1},{"n":2,"id":1}]}`, `{"set":[{"n":3,"id":1}]}`, cmp.Options{n}, false},
		{`{"set":[{"id":1},{"id":1}]}`, `{"set":[{"id":1}]}`, nil, true},
		{`{"set":[{"n":1,"id":2,"l":[1]},{"n":2,"id":1,"l":[2]}]}`, `{"set":[{"n":1,"id":1,"l":[3]},{"n":2,"id":2,"l":[4]}]}`,
			cmp.Options{n, nocopycmp.IgnoreFields(a, "l")}, true},
		{`{"set":[{"n":0,"id":2},{"id":1}]}`, `{"set":[{"n":0,"id":1},{"id":2}]}`, cmp.Options{nocopycmp.IgnoreDefaults()}, true},
		{`{"named":{"x":[{"n":1,"id":2},{"n":2,"id":1}]}}`, `{"named":{"x":[{"n":1,"id":1},{"n":2,"id":2}]}}`, cmp.Options{n}, true},
		{`{"deep":[[[{"n":1,"id":2}],[{"n":2,"id":1}]]]}`, `{"deep":[[[{"n":1,"id":1}],[{"n":2,"id":2}]]]}`, cmp.Options{n}, true},
		{`{"deep":[[[{"n":1,"id":2}],[{"n":2,"id":1}]]]}`, `{"deep":[[[{"n":1,"id":1}],[{"n":2,"id":1}]]]}`, cmp.Options{n}, false},
		{`{"sets":[[{"n":1,"id":2}],[{"n":2,"id":1}]]}`, `{"sets":[[{"n":1,"id":1}],[{"n":2,"id":2}]]}`, cmp.Options{n}, true},

		{`{"keyed":[[{"n":1,"id":1},{"id":7}]]}`, `{"keyed":[[{"n":2,"id":1},{"id":7}]]}`, cmp.Options{n}, true},
		{`{"keyed":[[{"n":1,"id":1},{"id":7}]]}`, `{"keyed":[[{"n":2,"id":1},{"id":7}]]}`, nil, false},
		{`{"keyed":[[{"n":1,"id":1},{"id":7}]]}`, `{"keyed":[[{"n":2,"id":1},{"id":8}]]}`, cmp.Options{n}, false},
		{`{"keyed":[[{"n":1,"id":1},{"id":7}],[{"n":2,"id":1},{"id":8}]]}`, `{"keyed":[[{"n":3,"id":1},{"id":8}],[{"n":4,"id":1},{"id":7}]]}`, cmp.Options{n}, true},
		{`{"keyed":[[{"n":1,"id":1},{"id":7}],[{"n":2,"id":1},{"id":8}]]}`, `{"keyed":[[{"n":3,"id":1},{"id":8}]]}`, cmp.Options{n}, false},

		{`{"list":[{"n":1,"id":2},{"n":2,"id":1}]}`, `{"list":[{"n":1,"id":1},{"n":2,"id":2}]}`, cmp.Options{n, sorted}, true},
		{`{"list":[{"n":1,"id":2},{"n":2,"id":1}]}`, `{"list":[{"n":1,"id":1},{"n":2,"id":2}]}`, cmp.Options{sorted}, false},
		{`{"set":[{"id":1,"d":0.01},{"id":2,"d":0.02}]}`, `{"set":[{"id":1,"d":0.02},{"id":2,"d":0.01}]}`, cmp.Options{about}, true},
		{`{"set":[{"id":1,"d":0.01},{"id":2,"d":0.02}]}`, `{"set":[{"id":1,"d":0.5},{"id":2,"d":0.01}]}`, cmp.Options{about}, false},
		{`{"set":[{"id":1,"l":[1,2]},{"id":2,"l":[2,3]}]}`, `{"set":[{"id":2,"l":[3,2]},{"id":1,"l":[2,1]}]}`, cmp.Options{nocopycmp.SortRepeatedFields(a, "l")}, true},
		{`{"set":[]}`, `{}`, cmp.Options{nocopycmp.IgnoreDefaults()}, true},
	} {
		for name, opts := range map[string]cmp.Options{
			"first": {nocopycmp.Transform(), test.opts}, "last": {test.opts, nocopycmp.Transform()},
		} {
			x, y := bag(test.x), bag(test.y)
			if got := cmp.Equal(x, y, opts); got != test.want || cmp.Equal(y, x, opts) != test.want {
				t.Errorf("Transform %s: %s and %s: %v\n%s", name, test.x, test.y, got, cmp.Diff(x, y, opts))
			}
		}
	}
	diff := cmp.Diff(bag(`{"set":[{"id":1}]}`), bag(`{"set":[{"id":2}]}`), nocopycmp.Transform())
	if !strings.Contains(diff, `"id"`) || strings.Contains(cmp.Diff(bag(`{"set":[{"id":1}]}`), bag(`{}`), nocopycmp.Transform()), "options") {
		t.Error(diff)
	}
	// FilterField for a field that is a set of structs
	if !cmp.Equal(bag(`{"set":[]}`), bag(`{"set":[]}`), nocopycmp.Transform(), nocopycmp.FilterField(bag("{}"), "set", cmpopts.EquateEmpty())) {
		t.Error("empty sets differ")
	}
}

// doubles has a map with doubles as keys, and a set of them.
var doubles = thriftimpl.NewDesc("Doubles")

func init() {
	doubles.Define(thriftimpl.FieldDesc{ID: 1, Name: "m", Type: thriftimpl.MapOf(thriftimpl.TypeDouble, thriftimpl.TypeI32)},
		thriftimpl.FieldDesc{ID: 2, Name: "s", Type: thriftimpl.SetOf(thriftimpl.TypeDouble)})
}

// doublesOf returns a message of doubles with these keys and elements, and the keys' values.
func doublesOf(bits []uint64, values ...int64) message {
	m := message{doubles, thriftimpl.New(doubles)}
	pairs := m.s.NewValue(doubles.Field(0), doubles, 0).Struct()
	set := m.s.NewValue(doubles.Field(1), doubles, 0).Struct()
	for i, b := range bits {
		key := impl.ValueOfFloat(math.Float64frombits(b))
		pairs.PutPair(key, impl.ValueOfInt(thriftimpl.TypeI32, values[i]))
		set.AppendElement(key)
	}
	return m
}

// TestZeros: 0 and −0 are two keys of a map and one element of a set, as for messages.Equal.
func TestZeros(t *testing.T) {
	const zero, minus = 0, 1 << 63
	for _, test := range []struct {
		x, y message
		want bool
	}{
		{doublesOf([]uint64{zero, minus}, 1, 2), doublesOf([]uint64{minus, zero}, 2, 1), true},
		{doublesOf([]uint64{zero, minus}, 1, 2), doublesOf([]uint64{minus, zero}, 1, 2), false},
		{doublesOf([]uint64{zero, minus}, 1, 2), doublesOf([]uint64{minus}, 2), false},
		{doublesOf([]uint64{zero}, 1), doublesOf([]uint64{minus}, 1), false},
	} {
		if got := cmp.Equal(test.x, test.y, nocopycmp.Transform()); got != test.want || messages.Equal(test.x, test.y) != test.want {
			t.Errorf("%v: %s", got, cmp.Diff(test.x, test.y, nocopycmp.Transform()))
		}
	}
}

// TestNaNs: each NaN is an element or key of its own.
func TestNaNs(t *testing.T) {
	const nan, other, third = 0x7ff8000000000001, 0x7ff8000000000002, 0x7ff8000000000003
	one := math.Float64bits(1)
	for _, test := range []struct {
		x, y message
		want bool
	}{
		{doublesOf([]uint64{nan, other}, 1, 2), doublesOf([]uint64{nan, other}, 1, 2), true},
		// All NaNs are equal
		{doublesOf([]uint64{nan, other}, 1, 2), doublesOf([]uint64{other, nan}, 1, 2), true},
		{doublesOf([]uint64{nan, other}, 1, 2), doublesOf([]uint64{nan}, 2), false},
		{doublesOf([]uint64{nan, other}, 1, 2), doublesOf([]uint64{nan, other}, 1, 3), false},
		{doublesOf([]uint64{nan, other, one}, 1, 2, 3), doublesOf([]uint64{one, nan, other}, 3, 2, 1), true},
		{doublesOf([]uint64{nan, other, third}, 1, 2, 2), doublesOf([]uint64{nan, other, third}, 1, 1, 2), false},
	} {
		opts := cmp.Options{nocopycmp.Transform(), cmpopts.EquateNaNs()}
		if got := cmp.Equal(test.x, test.y, opts); got != test.want || cmp.Equal(test.y, test.x, opts) != test.want {
			t.Errorf("%v: %s", got, cmp.Diff(test.x, test.y, opts))
		}
	}
	if x := doublesOf([]uint64{nan}, 1); cmp.Equal(x, x, nocopycmp.Transform()) {
		t.Error("NaN in a set equals itself")
	}
}
