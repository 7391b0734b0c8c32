package messages_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestEqualAbsent: an absent handle equals only absent handles, unless defaults count.
func TestEqualAbsent(t *testing.T) {
	o := order.NewOrder()
	empty := order.NewOrder()
	empty.NewLines(0)
	empty.NewLabels()
	var zero order.Order
	var line order.Line
	check := func(name string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	check("zero and zero", messages.Equal(zero, order.Order{}), true)
	check("zero and new", messages.Equal(zero, order.NewOrder()), false)
	check("zero and new, defaults", messages.Equal(zero, order.NewOrder(), messages.EquateDefaults), true)
	check("other types", messages.Equal(zero, line), false)
	check("other types, defaults", messages.Equal(order.NewOrder(), order.NewLine(), messages.EquateDefaults), false)
	check("absent lists", messages.Equal(o.GetLines(), zero.GetLines()), true)
	check("absent and empty list", messages.Equal(o.GetLines(), empty.GetLines()), false)
	check("absent and empty list, defaults", messages.Equal(empty.GetLines(), o.GetLines(), messages.EquateDefaults), true)
	check("absent and empty map", messages.Equal(o.GetLabels(), empty.GetLabels()), false)
	check("absent list and map that is there", messages.Equal(o.GetLines(), newOrder().GetLabels(), messages.EquateDefaults), false)
	check("list and struct", messages.Equal(o.GetLines(), zero), true) // both are absent
	check("list and struct, defaults", messages.Equal(o.GetLines(), newOrder(), messages.EquateDefaults), false)
	check("list of another type", messages.Equal(newOrder().GetLines(), newOrder().GetLabels()), false)
	check("nil", messages.Equal[nocopy.AnyStruct](nil, zero), true)
	check("nil and something", messages.Equal[nocopy.AnyStruct](nil, o), false)
	defer func() {
		if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "nocopy: ") {
			t.Errorf("a released message: %q", p)
		}
	}()
	released := order.NewOrder()
	released.Release()
	messages.Equal(released, o)
}

// TestEqualUnfinished: a message that is being built equals its form after sending.
func TestEqualUnfinished(t *testing.T) {
	a := order.NewOrder()
	lines := a.NewLines(3)
	lines.At(0).SetArticle("x")
	sent := newFrom(t, order.ParseOrder, a.AppendTo(nil))
	b := order.NewOrder()
	b.NewLines(3).At(0).SetArticle("x")
	if !messages.Equal(b, sent) || !messages.Equal(sent.GetLines(), b.GetLines()) || !messages.Equal(a, b) {
		t.Errorf("%v\n%v", b, sent)
	}
}

func newFrom[S any](t *testing.T, parse func([]byte, ...nocopy.Option) (S, error), wire []byte) S {
	t.Helper()
	s, err := parse(wire)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEqualDoubles: NaN, 0 and −0 as fields, in sets and as keys.
func TestEqualDoubles(t *testing.T) {
	a, b := order.NewLine(), order.NewLine()
	a.SetPrice(math.NaN())
	b.SetPrice(math.Float64frombits(0xfff8000000000123))
	if messages.Equal(a, b) || messages.Equal(a, a) || !messages.Equal(a, b, messages.EquateNaNs) {
		t.Error("NaNs")
	}
	a.SetPrice(0)
	b.SetPrice(math.Copysign(0, -1))
	if !messages.Equal(a, b) {
		t.Error("0 and −0")
	}
}

// TestEqualAllocates: comparing messages with the same bytes allocates almost nothing.
func TestEqualAllocates(t *testing.T) {
	a, b := newOrder(), newOrder()
	a.Message().Finish()
	b.Message().Finish()
	for _, f := range []func() bool{
		func() bool { return messages.Equal(a, b) },
		func() bool { return messages.Equal(a.GetLines(), b.GetLines(), messages.IgnoreUnknown) },
		func() bool { return messages.Equal(a.GetLabels(), b.GetLabels()) },
	} {
		if n := testing.AllocsPerRun(100, func() {
			if !f() {
				t.Fatal("not equal")
			}
		}); n > 2 { // the handles converted to interfaces
			t.Errorf("%v allocations", n)
		}
	}
}

// TestEqualHostile: comparing large sets and maps of structs in any order, and deep nesting, takes
// no quadratic time.
func TestEqualHostile(t *testing.T) {
	point := thriftimpl.NewDesc("P")
	node := thriftimpl.NewDesc("N")
	p := thriftimpl.StructOf(point)
	point.Define(thriftimpl.FieldDesc{ID: 1, Name: "x", Type: thriftimpl.TypeI32}, thriftimpl.FieldDesc{ID: 2, Name: "y", Type: thriftimpl.TypeI32})
	node.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "set", Type: thriftimpl.SetOf(p)},
		thriftimpl.FieldDesc{ID: 2, Name: "map", Type: thriftimpl.MapOf(p, p)},
		thriftimpl.FieldDesc{ID: 3, Name: "sets", Type: thriftimpl.SetOf(thriftimpl.StructOf(node))},
		thriftimpl.FieldDesc{ID: 4, Name: "maps", Type: thriftimpl.MapOf(thriftimpl.TypeI32, thriftimpl.StructOf(node))},
	)
	build := func(n, depth int, reverse bool) message {
		wire := []byte{}
		at := func(i int) []byte {
			if reverse {
				i = n - 1 - i
			}
			x, y := field(nocopy.WireI32, 1, be32(i)...), field(nocopy.WireI32, 2, be32(i/2)...)
			if reverse {
				x, y = y, x
			}
			return append(append(x, y...), 0)
		}
		for i := range n {
			if i == 0 {
				wire = append(field(nocopy.WireSet, 1, byte(nocopy.WireStruct)), be32(n)...)
			}
			wire = append(wire, at(i)...)
		}
		wire = append(append(wire, field(nocopy.WireMap, 2, byte(nocopy.WireStruct), byte(nocopy.WireStruct))...), be32(n)...)
		for i := range n {
			wire = append(append(wire, at(i)...), at(i)...)
		}
		wire = append(wire, 0)
		for range depth {
			leaf := []byte{0}
			w := append(field(nocopy.WireMap, 4, byte(nocopy.WireI32), byte(nocopy.WireStruct)), be32(3)...)
			w = append(append(append(w, be32(1)...), wire...), be32(2)...)
			w = append(append(append(w, leaf...), be32(3)...), leaf...)
			if reverse {
				w = append(field(nocopy.WireMap, 4, byte(nocopy.WireI32), byte(nocopy.WireStruct)), be32(3)...)
				w = append(append(append(w, be32(3)...), leaf...), be32(2)...)
				w = append(append(append(w, leaf...), be32(1)...), wire...)
			}
			set := append(field(nocopy.WireSet, 3, byte(nocopy.WireStruct)), be32(1)...)
			w = append(append(set, append(w, 0)...), 0)
			wire = w
		}
		s, err := thriftimpl.Parse(node, wire, nocopy.Limits{MaxDepth: 1 << 12})
		if err != nil {
			t.Fatal(err)
		}
		return message{node, s}
	}
	for _, size := range []struct{ n, depth int }{{testmode.Of(10_000, 50_000), 0}, {testmode.Of(500, 2000), 20}, {10, testmode.Of(300, 1000)}} {
		a, b := build(size.n, size.depth, false), build(size.n, size.depth, true)
		start := time.Now()
		if !messages.Equal(a, b) || !messages.Equal(a, b, messages.EquateDefaults) {
			t.Errorf("%+v: not equal", size)
		}
		t.Logf("%+v: %v", size, time.Since(start))
	}
}

// TestEqualTypes: which types are alike.
func TestEqualTypes(t *testing.T) {
	make := func(name string, fields ...thriftimpl.FieldDesc) message {
		d := thriftimpl.NewDesc(name)
		d.Define(fields...)
		return message{d, thriftimpl.New(d)}
	}
	f := func(id int16, name string, t *thriftimpl.Type) thriftimpl.FieldDesc {
		return thriftimpl.FieldDesc{ID: id, Name: name, Type: t, Req: thriftimpl.Optional}
	}
	enum := func(name string) *thriftimpl.Type { return thriftimpl.EnumOf(thriftimpl.NewEnum(name, nil)) }
	a := make("A", f(1, "x", thriftimpl.TypeI32), f(2, "e", enum("E")))
	for name, other := range map[string]message{
		"order":    make("A", f(2, "e", enum("E")), f(1, "x", thriftimpl.TypeI32)),
		"name":     make("B", f(1, "x", thriftimpl.TypeI32), f(2, "e", enum("E"))),
		"field":    make("A", f(1, "y", thriftimpl.TypeI32), f(2, "e", enum("E"))),
		"id":       make("A", f(3, "x", thriftimpl.TypeI32), f(2, "e", enum("E"))),
		"type":     make("A", f(1, "x", thriftimpl.TypeI64), f(2, "e", enum("E"))),
		"enum":     make("A", f(1, "x", thriftimpl.TypeI32), f(2, "e", enum("F"))),
		"enum i32": make("A", f(1, "x", thriftimpl.TypeI32), f(2, "e", thriftimpl.TypeI32)),
		"fewer":    make("A", f(1, "x", thriftimpl.TypeI32)),
	} {
		if got := messages.Equal(a, other); got != (name == "order") {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestEqualUnknown: unknown fields count. Their order matters only for fields with the same id.
func TestEqualUnknown(t *testing.T) {
	wire := func(fields ...[]byte) order.Line {
		b := append(field(nocopy.WireString, 1), be32(0)...)
		for _, f := range fields {
			b = append(b, f...)
		}
		return newFrom(t, order.ParseLine, append(b, 0))
	}
	one, two, again := field(nocopy.WireI8, 100, 1), field(nocopy.WireI8, 101, 2), field(nocopy.WireI8, 100, 3)
	odd := field(nocopy.WireI8, 2, 7) // a known id with another type
	for i, c := range []struct {
		a, b order.Line
		want bool
	}{
		{wire(one, two), wire(two, one), true},
		{wire(one, two), wire(one), false},
		{wire(one, again), wire(again, one), false},
		{wire(one, again, two), wire(one, two, again), true},
		{wire(one), wire(again), false},
		{wire(odd), wire(odd), true},
		{wire(odd), wire(), false},
	} {
		if messages.Equal(c.a, c.b) != c.want || !messages.Equal(c.a, c.b, messages.IgnoreUnknown) {
			t.Errorf("case %d", i)
		}
	}
}
