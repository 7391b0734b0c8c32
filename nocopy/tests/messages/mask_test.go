package messages_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// randomPath returns a path that exists in m, without indexes of lists.
func randomPath(g *referee.Gen, m message) string {
	var path strings.Builder
	t, v := thriftimpl.StructOf(m.d), m.s
	for depth := 0; ; depth++ {
		var next impl.Value
		switch {
		case depth > 0 && g.Intn(3) == 0 || t.Wire() == nocopy.WireStruct && t.Struct().NumFields() == 0:
			return path.String()
		case t.Wire() == nocopy.WireStruct:
			i := g.Intn(t.Struct().NumFields())
			if depth > 0 {
				path.WriteByte('.')
			}
			path.WriteString(t.Struct().FieldDesc(i).Name)
			next = v.Value(t.Struct().Field(i), t.Struct())
		case t.Wire() == nocopy.WireSet:
			return path.String() + "[*]"
		case t.Wire() == nocopy.WireList:
			path.WriteString("[*]")
			if next = (impl.Value{}); v.Count() > 0 {
				next = v.Element(0)
			}
		case t.Wire() == nocopy.WireMap:
			name := "*"
			for k, x := range v.Pairs() {
				switch next = x; k.Type().Wire() {
				case nocopy.WireString:
					name = strconv.Quote(k.Text())
				case nocopy.WireUUID:
					name = strconv.Quote(nocopy.UUID(k.UUID()).String())
				case nocopy.WireBool:
					name = strconv.FormatBool(k.Bool())
				case nocopy.WireI8, nocopy.WireI16, nocopy.WireI32, nocopy.WireI64:
					name = strconv.FormatInt(k.Int(), 10)
				}
				if g.Intn(2) == 0 {
					break
				}
			}
			path.WriteString("[" + name + "]")
		default:
			return path.String()
		}
		if t.Wire() != nocopy.WireStruct {
			t = t.Elem()
		} else {
			t = next.Type()
		}
		v = next.Struct()
	}
}

// TestMaskRandom: a mask drops exactly the parts that it copies. Keeping twice is keeping once. A
// mask made from a mask's text is the same.
func TestMaskRandom(t *testing.T) {
	for round := range testmode.Of(8, 50) {
		g := newGen(uint64(round))
		structs := g.Structs(4)
		if round%5 == 0 {
			structs = referee.Everything()
		}
		ts, us := newTypes(structs), newTypes(structs)
		rnd := rand.New(rand.NewPCG(uint64(round), 7))
		for range 20 {
			s := structs[g.Intn(len(structs))]
			a := g.Record(s, 4)
			g.Noise(a)
			wire := referee.Write(a, rnd)
			x, y, z := ts.parse(t, s, wire), ts.parse(t, s, wire), us.parse(t, s, wire)
			if g.Intn(2) == 0 { // a built message, not a parsed one
				y.s = thriftimpl.New(y.d)
				messages.CopyInto(y, x)
			}
			var paths []string
			for range 1 + g.Intn(4) {
				paths = append(paths, randomPath(g, x))
			}
			m, err := messages.NewMask(ts[s], paths...)
			if err != nil {
				t.Fatal(err)
			}
			again, err := messages.NewMask(ts[s], m.String())
			if err != nil || again.String() != m.String() {
				t.Fatalf("%q: %v, then %v: %v", paths, m, again, err)
			}
			m.Drop(y)
			again.Drop(z)
			if !messages.Equal(y, z, messages.EquateNaNs) {
				t.Fatalf("%q: %s and %s", paths, render.Text(y.s, y.d), render.Text(z.s, z.d))
			}
			ts.checkSent(t, s, y)
			if err := m.Copy(y, x); err != nil || !messages.Equal(x, y, messages.EquateNaNs) {
				t.Fatalf("round %d, %q dropped from and copied to: %v: %s", round, paths, err, difference(y, x))
			}
			ts.checkSent(t, s, y)
			m.Keep(y)
			ts.checkSent(t, s, y)
			kept := ts.parse(t, s, y.s.AppendStruct(nil, y.d))
			if again.Keep(y); !messages.Equal(y, kept, messages.EquateNaNs) {
				t.Fatalf("%q keeps more at first", paths)
			}
		}
	}
}

// TestMaskHides: Keep and Drop leave no removed bytes in the message, not even in fields that came
// twice, in repeated keys, or in unknown fields.
func TestMaskHides(t *testing.T) {
	secret := append(field(nocopy.WireString, 2), append(be32(6), "secret"...)...) // the customer
	label := func(k, v string) []byte {
		return append(append(append(be32(len(k)), k...), be32(len(v))...), v...)
	}
	id := field(nocopy.WireI64, 1, 0, 0, 0, 0, 0, 0, 0, 1)
	wire := append([]byte{}, id...)
	wire = append(append(wire, secret...), append(field(nocopy.WireString, 2), append(be32(2), "ok"...)...)...)
	wire = append(append(wire, field(nocopy.WireMap, 5, byte(nocopy.WireString), byte(nocopy.WireString))...), be32(3)...)
	wire = append(append(append(wire, label("a", "secret")...), label("b", "2")...), label("a", "3")...)
	unknown := append(field(nocopy.WireString, 99), append(be32(6), "secret"...)...)
	kept := append(append(append([]byte{}, wire...), unknown...), 0)
	for name, f := range map[string]func(o order.Order){
		"keep":  func(o order.Order) { messages.MustMask(order.OrderDesc, "id", "labels[\"b\"]").Keep(o) },
		"keep2": func(o order.Order) { messages.MustMask(order.OrderDesc, "labels[*]", "customer").Keep(o) },
	} {
		o := newFrom(t, order.ParseOrder, kept)
		f(o)
		if strings.Contains(string(o.AppendTo(nil)), "secret") {
			t.Errorf("%s: %q", name, o.AppendTo(nil))
		}
		if name == "keep" && o.GetID() != 1 {
			t.Error(o)
		}
	}
	o := newFrom(t, order.ParseOrder, append(wire, 0))
	messages.MustMask(order.OrderDesc, "customer", "labels[\"a\"]").Drop(o)
	if strings.Contains(string(o.AppendTo(nil)), "secret") || o.GetLabels().Len() != 1 {
		t.Errorf("drop: %q", o.AppendTo(nil))
	}
}

// TestMaskErrors: errors give the mistake and its place.
func TestMaskErrors(t *testing.T) {
	ts, all := newTypes(referee.Everything()), thriftimpl.NewDesc("All")
	_ = ts
	point := thriftimpl.NewDesc("Point")
	point.Define(thriftimpl.FieldDesc{ID: 1, Name: "x", Type: thriftimpl.TypeI32})
	color := thriftimpl.EnumOf(thriftimpl.NewEnum("Color", []thriftimpl.EnumValue{{Name: "RED", Value: 1}}))
	p := thriftimpl.StructOf(point)
	all.Define([]thriftimpl.FieldDesc{
		{ID: 1, Name: "p", Type: p}, {ID: 2, Name: "list", Type: thriftimpl.ListOf(p)}, {ID: 3, Name: "set", Type: thriftimpl.SetOf(p)},
		{ID: 4, Name: "names", Type: thriftimpl.MapOf(thriftimpl.TypeString, p)}, {ID: 5, Name: "byColor", Type: thriftimpl.MapOf(color, p)},
		{ID: 6, Name: "flags", Type: thriftimpl.MapOf(thriftimpl.TypeBool, p)}, {ID: 7, Name: "bytes", Type: thriftimpl.MapOf(thriftimpl.TypeI8, p)},
		{ID: 8, Name: "byPoint", Type: thriftimpl.MapOf(p, p)}, {ID: 9, Name: "ids", Type: thriftimpl.MapOf(thriftimpl.TypeUUID, p)},
		{ID: 10, Name: "rows", Type: thriftimpl.ListOf(thriftimpl.ListOf(thriftimpl.TypeI32))},
	}...)
	for text, want := range map[string]string{
		"":                "",
		"q":               "0: All has no field \"q\"",
		"p.y":             "2: Point has no field \"y\"",
		"p.":              "2: the name of a field must come here",
		".p":              "0: the name of a field must come here",
		"p..x":            "2: the name of a field must come here",
		"p.x.y":           "4: field \"y\" of a i32, which has none",
		"p,":              "2: a path must come after the comma",
		"p,,p":            "2: the name of a field must come here",
		"p[0]":            "1: an index of a Point, which is no list or map",
		"list.x":          "5: field \"x\" of a list<Point>: [*], or an index or key, must come before it",
		"list[":           "5: \"\" is no index of a list",
		"list[1":          "6: ] must come here",
		"list[*":          "6: ] must come here",
		"list[-1]":        "5: \"-1\" is no index of a list",
		"list[01]":        "5: \"01\" is no index of a list",
		"list[1]x":        "7: a dot, [ or a comma must come here",
		"set[0]":          "4: the elements of a set have no index: only [*] can come here",
		"set[*].x":        "6: nothing can be selected in the elements of a set",
		"names[a]":        "6: a key in quotation marks must come here",
		"names[\"a]":      "6: a key in quotation marks must come here",
		"names[\"a\"].y":  "11: Point has no field \"y\"",
		"byColor[BLUE]":   "8: \"BLUE\" is no Color",
		"flags[1]":        "6: \"1\" is no bool",
		"bytes[128]":      "6: \"128\" is no i8",
		"byPoint[1]":      "8: keys of type Point have no names: only [*] can come here",
		"ids[\"1\"]":      "4: \"1\" is no uuid",
		"rows[1][2][3]":   "10: an index of a i32, which is no list or map",
		"p,list[*],p.x":   "",
		"rows[1][*]":      "",
		"byColor[RED].x":  "",
		"byColor[-7]":     "",
		"flags[true]":     "",
		"names[\"a,].\"]": "",
	} {
		_, err := messages.NewMask(all, text)
		var bad *messages.MaskError
		switch {
		case want == "" && err != nil, want != "" && !errors.As(err, &bad):
			t.Errorf("%s: %v", text, err)
		case want != "" && err.Error() != fmt.Sprintf("mask %q, offset %s", text, want):
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := messages.NewMask(all, "p."+strings.Repeat("x.", 300)); err == nil {
		t.Error("a path of 300 names")
	}
}

// TestZeroMask: using the zero Mask panics with a text that says so.
func TestZeroMask(t *testing.T) {
	var zero messages.Mask
	var none *messages.Mask
	for name, f := range map[string]func(){
		"NewMask": func() { messages.NewMask(nil, "id") }, "Keep": func() { zero.Keep(newOrder()) }, "Drop": func() { none.Drop(newOrder()) },
		"Set": func() { zero.Set(newOrder(), 1) }, "Copy": func() { none.Copy(newOrder(), newOrder()) },
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "nocopy: ") {
					t.Errorf("%s: %s", name, p)
				}
			}()
			f()
		}()
	}
	if zero.String() != "" {
		t.Error(&zero)
	}
}

// TestMaskApplies: missing indexes, values that do not fit, and arms that exclude each other give
// errors and change nothing.
func TestMaskApplies(t *testing.T) {
	mask := func(paths ...string) *messages.Mask { return messages.MustMask(order.OrderDesc, paths...) }
	o := newOrder()
	short := order.NewOrder()
	short.NewLines(1).At(0).SetArticle("ink")
	for want, err := range map[string]error{
		"mask: lines[1]: what is copied has 1 elements":                     mask("lines[1].price").Copy(o, short),
		"mask: lines[3]: there are 2 elements":                              mask("lines[3]").Set(o, order.NewLine()),
		"mask: customer: a int can't be set where the type is string":       mask("customer").Set(o, 7),
		"mask: labels[*]: a <nil> can't be set where the type is string":    mask("labels[*]").Set(o, nil),
		"mask: lines[*].count: the number is out of the range of i32":       mask("lines[*].count").Set(o, int64(1)<<32),
		"mask: lines[0]: a order.Order can't be set where the type is Line": mask("lines[0]").Set(o, o),
	} {
		var bad *messages.ApplyError
		if !errors.As(err, &bad) || err.Error() != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
	far := newOrder()
	if err := mask("lines[1]").Copy(short, far); err != nil || short.GetLines().Len() != 2 || short.GetLines().At(1).GetArticle() != "paper" {
		t.Error(err, short) // one beyond the last
	}
	if err := mask("lines[3]").Copy(order.NewOrder(), order.NewOrder()); err != nil {
		t.Error(err) // missing in both
	}
	long := order.NewOrder()
	long.NewLines(9)
	if err := mask("lines[7]").Copy(o, long); err == nil || !messages.Equal(o, newOrder()) {
		t.Error(err, o)
	}
	if err := mask("labels[\"new\"]", "labels[\"size\"]").Set(o, "x"); err != nil || o.GetLabels().String() != `{"colour": "red", "size": "x", "new": "x"}` {
		t.Error(err, o)
	}
	if err := mask("document").Set(o, []byte{1}); err != nil || len(o.GetDocument()) != 1 {
		t.Error(err, o)
	}
	if err := mask("id", "lines[*].count").Set(o, uint8(9)); err != nil || o.GetID() != 9 || o.GetLines().At(1).GetCount() != 9 {
		t.Error(err, o)
	}
	if err := mask("lines").Set(o, o.GetLines()); err != nil || o.GetLines().Len() != 2 {
		t.Error(err, o)
	}
	if err := mask("id", "customer", "lines[*].count", "labels").Copy(o, order.Order{}); err != nil ||
		o.GetID() != 0 || o.IsSetCustomer() || o.IsSetLabels() || len(o.GetDocument()) != 1 {
		t.Error(err, o) // an absent source has nothing set
	}
	// An unset list has no elements, either, even in an unset struct
	for want, err := range map[string]error{
		"mask: lines[0]: what is copied has 0 elements": mask("lines[0]").Copy(o, order.NewOrder()),
		"mask: lines[1]: what is copied has 0 elements": mask("lines[1].price").Copy(o, order.Order{}),
	} {
		if before := o.String(); err == nil || err.Error() != want || o.String() != before || o.GetLines().Len() != 2 {
			t.Errorf("%v, not %s: %v", err, want, o)
		}
	}
	if err := mask("lines[2].price", "lines[*].price").Copy(o, order.NewOrder()); err != nil || o.GetLines().Len() != 2 || o.GetLines().At(0).IsSetPrice() {
		t.Error(err, o)
	}
	if err := mask("lines[*]").Copy(o, order.NewOrder()); err != nil || o.GetLines().Len() != 0 {
		t.Error(err, o)
	}
	if m := messages.MustMask(order.OrderDesc, "", "id", ""); m.String() != "id" {
		t.Error(m)
	}
	empty := order.NewOrder()
	if err := mask("lines[*].price").Set(empty, 1.5); err != nil || empty.IsSetLines() {
		t.Error(err, empty)
	}
	// The wire bytes are those of a struct with the value, which is made if it was missing
	u := thriftimpl.NewUnionDesc("U")
	u.Define(thriftimpl.FieldDesc{ID: 1, Name: "a", Type: thriftimpl.TypeI32}, thriftimpl.FieldDesc{ID: 2, Name: "b", Type: thriftimpl.TypeI32})
	d := thriftimpl.NewDesc("D")
	d.Define(thriftimpl.FieldDesc{ID: 1, Name: "u", Type: thriftimpl.StructOf(u), Req: thriftimpl.Optional})
	x := message{d, thriftimpl.New(d)}
	if err := messages.MustMask(d, "u.a").Set(x, 1); err != nil || render.Text(x.s, d) != "{u: {a: 1}}" {
		t.Error(err, render.Text(x.s, d))
	}
	if err := messages.MustMask(d, "u.b").Set(x, 2); err != nil || render.Text(x.s, d) != "{u: {b: 2}}" {
		t.Error(err, render.Text(x.s, d))
	}
	if err := messages.MustMask(d, "u.b", "u.a").Set(x, 3); err == nil || render.Text(x.s, d) != "{u: {b: 2}}" {
		t.Error(err, render.Text(x.s, d))
	}
}

// TestMaskLarge: masks of many paths take time proportional to their size.
func TestMaskLarge(t *testing.T) {
	d := thriftimpl.NewDesc("D")
	nested := thriftimpl.TypeI32
	for range 24 {
		nested = thriftimpl.ListOf(nested)
	}
	d.Define(thriftimpl.FieldDesc{ID: 1, Name: "l", Type: nested})
	var paths []string
	for i := range 24 { // a naive implementation would make 2^24 combinations
		paths = append(paths, "l"+strings.Repeat("[*]", i)+"[0]"+strings.Repeat("[*]", 23-i))
	}
	start := time.Now()
	m := messages.MustMask(d, paths...)
	wire := append(field(nocopy.WireList, 1), byte(nocopy.WireList))
	for range 23 {
		wire = append(append(wire, be32(1)...), byte(nocopy.WireList))
	}
	wire[len(wire)-1] = byte(nocopy.WireI32)
	wire = append(append(append(wire, be32(1)...), 0, 0, 0, 5), 0)
	wire = append(wire[:3], wire[3:]...)
	s, err := thriftimpl.Parse(d, wire)
	if err != nil {
		t.Skip(err)
	}
	m.Keep(message{d, s})
	t.Log(time.Since(start))
}
