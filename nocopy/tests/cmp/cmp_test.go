package nocopycmp_test

import (
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// message is a struct that is known only by its descriptor.
type message struct {
	d *thriftimpl.Desc
	s thriftimpl.Struct
}

func (m message) ThriftDesc() *thriftimpl.Desc    { return m.d }
func (m message) ThriftStruct() thriftimpl.Struct { return m.s }

var (
	color = thriftimpl.NewEnum("Color", []thriftimpl.EnumValue{{Name: "RED", Value: 1}, {Name: "GREEN", Value: 2}})
	point = thriftimpl.NewDesc("Point")
	all   = thriftimpl.NewDesc("All")
)

func init() {
	p, e := thriftimpl.StructOf(point), thriftimpl.EnumOf(color)
	f := func(id int16, name string, t *thriftimpl.Type) thriftimpl.FieldDesc {
		return thriftimpl.FieldDesc{ID: id, Name: name, Type: t, Req: thriftimpl.Optional}
	}
	point.Define(f(1, "x", thriftimpl.TypeI32), f(2, "y", thriftimpl.TypeI32))
	all.Define(f(1, "color", e), f(2, "colors", thriftimpl.ListOf(e)), f(3, "set", thriftimpl.SetOf(p)),
		f(4, "byPoint", thriftimpl.MapOf(p, p)), f(5, "byColor", thriftimpl.MapOf(e, thriftimpl.ListOf(thriftimpl.TypeI32))),
		f(6, "real", thriftimpl.TypeDouble), f(7, "raw", thriftimpl.TypeBinary), f(8, "id", thriftimpl.TypeUUID),
		f(9, "byReal", thriftimpl.MapOf(thriftimpl.TypeDouble, thriftimpl.TypeBinary)), f(10, "point", p),
		thriftimpl.FieldDesc{ID: 11, Name: "count", Type: thriftimpl.TypeI32, Req: thriftimpl.Optional, Default: "\x00\x00\x00\x07"})
}

// newAll returns a message with a point in every place that can have one.
func newAll(x int32) message {
	m := message{all, thriftimpl.New(all)}
	new := func(i int) thriftimpl.Struct { return m.s.NewValue(all.Field(i), all, 0).Struct() }
	set := func(p thriftimpl.Struct) { p.SetInt32(point.Field(0), x) }
	m.s.SetInt32(all.Field(0), x)
	new(1).AppendElement(impl.ValueOfInt(thriftimpl.EnumOf(color), 2))
	set(new(2).AppendNewElement(0).Struct())
	k, v := new(3).AppendNewPair()
	set(k.Struct())
	set(v.Struct())
	new(4).PutNewPair(impl.ValueOfInt(thriftimpl.EnumOf(color), 1), 0).Struct().AppendElement(impl.ValueOfInt(thriftimpl.TypeI32, int64(x)))
	m.s.SetFloat64(all.Field(5), math.NaN())
	m.s.SetBytes(all.Field(6), []byte{1, byte(x)})
	m.s.SetUUID(all.Field(7), nocopy.UUID{1})
	new(8).PutPair(impl.ValueOfFloat(math.NaN()), impl.ValueOfBytes(thriftimpl.TypeBinary, []byte("v")))
	set(new(9))
	return m
}

// TestDiff: differences are shown with the IDL's names, also those of enum values.
func TestDiff(t *testing.T) {
	diff := cmp.Diff(newAll(1), newAll(2), nocopycmp.Transform(), cmpopts.EquateNaNs())
	diff = strings.ReplaceAll(diff, "\u00a0", " ")
	for _, want := range []string{`"color"`, `s"RED"`, `s"GREEN"`, `"x"`, "int32(1)", `"byPoint"`, `"{x: 1}"`, `"raw"`} {
		if !strings.Contains(diff, want) {
			t.Errorf("no %s in\n%s", want, diff)
		}
	}
	if strings.Contains(diff, `"colors"`) && strings.Contains(diff, `-`+"\t"+`"colors"`) {
		t.Error(diff)
	}
	if !cmp.Equal(newAll(1), newAll(1), nocopycmp.Transform(), cmpopts.EquateNaNs()) || cmp.Equal(newAll(1), newAll(1), nocopycmp.Transform()) {
		t.Error("NaNs")
	}
}

// TestInside: handles are found in Go structs, slices and maps. Handles of lists and maps are
// compared, too.
func TestInside(t *testing.T) {
	type holder struct {
		Orders []order.Order
		ByName map[string]order.Line
		Any    any
		Lines  nocopy.StructList[order.Line]
		None   order.Order
	}
	make := func(article string) holder {
		o := newOrder(article)
		return holder{[]order.Order{o}, map[string]order.Line{"a": o.GetLines().At(0)}, o.GetLabels(), o.GetLines(), order.Order{}}
	}
	if diff := cmp.Diff(make("a"), make("a"), nocopycmp.Transform()); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(cmp.Diff(make("a"), make("b"), nocopycmp.Transform()), `"article"`); n != 6 {
		t.Errorf("%d articles differ", n)
	}
	for _, c := range []struct {
		a, b any
		want bool
	}{
		{order.Order{}, order.Order{}, true},
		{order.Order{}, order.NewOrder(), false},
		{order.Order{}.GetLines(), order.NewOrder().GetLines(), true},
		{newOrder("a").GetLines(), order.NewOrder().GetLines(), false},
		{newOrder("a").GetLabels(), newOrder("b").GetLabels(), true},
		{newOrder("a"), newOrder("a").GetLines().At(0), false},
		{newAll(1).s.Value(all.Field(2), all).Struct(), 1, false},
	} {
		if got := cmp.Equal(c.a, c.b, nocopycmp.Transform()); got != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
	released := newOrder("a")
	released.Release()
	defer func() {
		if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "nocopy: ") {
			t.Error(p)
		}
	}()
	cmp.Equal(released, newOrder("a"), nocopycmp.Transform())
}

// TestOptions: each option equates what it should, and nothing else.
func TestOptions(t *testing.T) {
	unknown := order.NewLine()
	withUnknown, err := order.ParseLine(append([]byte{3, 0xff, 0xfe, 1}, unknown.Message().Bytes()...))
	if err != nil {
		t.Fatal(err)
	}
	withCount := message{all, newAll(1).s}
	withCount.s.SetInt32(all.Field(10), 7)
	withCount.s.UnsetValue(all.Field(9), all)
	withCount.s.NewValue(all.Field(9), all, 0).Struct().SetInt32(point.Field(0), 0)
	withoutCount := message{all, newAll(1).s}
	withoutCount.s.UnsetValue(all.Field(9), all)
	two, owt := newAll(1), newAll(1)
	for i, m := range []message{two, owt} {
		m.s.Value(all.Field(1), all).Struct().AppendElement(impl.ValueOfInt(thriftimpl.EnumOf(color), 1))
		if i == 0 {
			c := m.s.Value(all.Field(1), all).Struct()
			c.SetElement(0, impl.ValueOfInt(thriftimpl.EnumOf(color), 1))
			c.SetElement(1, impl.ValueOfInt(thriftimpl.EnumOf(color), 2))
		}
	}
	cheap, dear := order.NewLine(), order.NewLine()
	cheap.SetPrice(1)
	dear.SetPrice(1.0001)
	for name, c := range map[string]struct {
		a, b any
		opt  cmp.Option
	}{
		"IgnoreUnknown":      {unknown, withUnknown, nocopycmp.IgnoreUnknown()},
		"IgnoreDefaults":     {withCount, withoutCount, nocopycmp.IgnoreDefaults()},
		"SortRepeated":       {two, owt, nocopycmp.SortRepeated(func(x, y nocopycmp.Enum) bool { return x.Number() < y.Number() })},
		"SortRepeatedFields": {two, owt, nocopycmp.SortRepeatedFields(two, "colors")},
		"FilterField":        {cheap, dear, nocopycmp.FilterField(cheap, "price", cmpopts.EquateApprox(0.01, 0))},
		"IgnoreFields":       {cheap, dear, nocopycmp.IgnoreFields(order.Line{}, "price", "count")},
	} {
		opts := cmp.Options{nocopycmp.Transform(), cmpopts.EquateNaNs()}
		if cmp.Equal(c.a, c.b, opts) || cmp.Equal(c.b, c.a, opts) {
			t.Errorf("%s: equal without it", name)
		}
		if diff := cmp.Diff(c.a, c.b, opts, c.opt); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if cmp.Equal(newAll(1), newAll(2), opts, c.opt) {
			t.Errorf("%s: equal are messages that differ otherwise", name)
		}
	}
	defer func() {
		if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "nocopy: Line has no field") {
			t.Error(p)
		}
	}()
	nocopycmp.IgnoreFields(order.Line{}, "prise")
}

// TestNotLinked: programs without nocopycmp do not contain go-cmp.
func TestNotLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../../../examples/quickstart", "../../rpc", "../../messages").Output()
	if err != nil || strings.Contains(string(out), "go-cmp") || !strings.Contains(string(out), "/nocopy\n") {
		t.Errorf("%v: %s", err, out)
	}
}

func newOrder(article string) order.Order {
	o := order.NewOrder()
	o.SetID(7)
	o.NewLines(1).At(0).SetArticle(article)
	o.SetLabelsMap(map[string]string{"size": "A4"})
	return o
}

// TestTypeOfUUID: a uuid is a nocopy.UUID, for which a program may have a Comparer.
func TestTypeOfUUID(t *testing.T) {
	n := 0
	count := cmp.Comparer(func(a, b nocopy.UUID) bool { n++; return a == b })
	if !cmp.Equal(newAll(1), newAll(1), nocopycmp.Transform(), cmpopts.EquateNaNs(), count) || n == 0 {
		t.Errorf("%d uuids", n)
	}
}
