package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// TestMissing: the paths of required fields that nobody has set, before a message is finished and
// after; of numbers with the tag nocopydebug only.
func TestMissing(t *testing.T) {
	line := func(o order.Order) order.Line {
		l := o.NewLines(1).At(0)
		l.SetArticle("a")
		return l
	}
	complete := func() order.Order {
		o := order.NewOrder()
		o.SetID(0)
		return o
	}
	for _, c := range []struct {
		name  string
		build func() *nocopy.Message
		want  string // texts, structs and containers
		debug string // numbers besides, in the order of fields
	}{
		{"complete", func() *nocopy.Message { return complete().Message() }, "", ""},
		{"a number", func() *nocopy.Message { return order.NewOrder().Message() }, "", "Order.id"},
		{"an element", func() *nocopy.Message {
			o := complete()
			lines := o.NewLines(3)
			lines.At(0).SetArticle("a")
			lines.At(1).SetCount(2)
			return o.Message()
		}, "Order.lines[1].article Order.lines[2].article", ""},
		{"an element, and the list is complete", func() *nocopy.Message {
			o := complete()
			lines := o.NewLines(3)
			lines.At(0).SetArticle("a")
			lines.At(1).SetCount(2)
			o.SetCustomer("c")
			return o.Message()
		}, "Order.lines[1].article Order.lines[2].article", ""},
		{"one that is appended", func() *nocopy.Message {
			o := complete()
			line(o)
			o.GetLines().AppendNew().SetPrice(1)
			return o.Message()
		}, "Order.lines[1].article", ""},
		{"set later", func() *nocopy.Message {
			o := complete()
			l := o.NewLines(1).At(0)
			o.SetCustomer("c")
			l.SetArticle("a")
			return o.Message()
		}, "", ""},
		{"set to nothing", func() *nocopy.Message {
			o := complete()
			o.NewLines(1).At(0).SetArticle("")
			return o.Message()
		}, "", ""},
		{"unset", func() *nocopy.Message {
			o := complete()
			line(o).UnsetArticle()
			return o.Message()
		}, "Order.lines[0].article", ""},
		{"replaced", func() *nocopy.Message {
			o := complete()
			o.NewLines(4)
			line(o)
			return o.Message()
		}, "", ""},
		{"received", func() *nocopy.Message {
			o := complete()
			line(o)
			p, err := order.ParseOrder(o.Message().AppendTo(nil))
			if err != nil {
				t.Fatal(err)
			}
			return p.Message()
		}, "", ""},
		{"received, and appended", func() *nocopy.Message {
			p, err := order.ParseOrder(complete().Message().AppendTo(nil))
			if err != nil {
				t.Fatal(err)
			}
			p.NewLines(0).AppendNew()
			return p.Message()
		}, "Order.lines[0].article", ""},
		{"plain values", func() *nocopy.Message {
			o := order.NewOrderOf(order.OrderFields{ID: 0})
			return o.Message()
		}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			if engine.Debugging && c.debug != "" {
				want = c.debug
			}
			check := func(m *nocopy.Message) {
				t.Helper()
				if got := strings.Join(m.Missing(), " "); got != want {
					t.Errorf("missing %q, want %q", got, want)
				}
			}
			m := c.build()
			check(m)
			text := panicText(m.Finish)
			switch first, _, _ := strings.Cut(want, " "); {
			case engine.Debugging && want != "" && engine.ChecksMissing:
				if !strings.HasPrefix(text, "nocopy: ") || !strings.Contains(text, first+", a required field of ") || !strings.HasSuffix(text, ", was never set") {
					t.Errorf("Finish: %q", text)
				}
			case text != "":
				t.Errorf("Finish: %q", text)
			}
			check(m)
		})
	}
}

// panicText returns the text with which f panics, "" if it does not.
func panicText(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}

// TestMissingBounded: many missing fields, and deep ones, take bounded room.
func TestMissingBounded(t *testing.T) {
	o := order.NewOrder()
	o.SetID(1)
	o.NewLines(100_000)
	if n := len(o.Message().Missing()); n != 100 {
		t.Errorf("%d of them", n)
	}
	o.NewLines(0)
	for range 1000 {
		o.GetLines().AppendNew()
	}
	o.SetCustomer("c")
	if n := len(o.Message().Missing()); n != 100 {
		t.Errorf("%d of them", n)
	}
	o.Release()
	if p := order.NewOrder(); engine.Debugging == (len(p.Message().Missing()) == 0) {
		t.Errorf("another message: %q", p.Message().Missing())
	}
	if text := panicText(func() { new(nocopy.Message).Missing() }); !strings.HasPrefix(text, "nocopy: ") {
		t.Errorf("an empty message: %q", text)
	}
	var absent order.Order
	if got := absent.Message().Missing(); got != nil {
		t.Errorf("of what is absent: %q", got)
	}
}

// TestWriteToRemoved: with the tag nocopydebug, a write to a replaced or removed value panics, and
// names its type. Without the tag, it has no effect on the message. The value that replaced it
// does not change.
func TestWriteToRemoved(t *testing.T) {
	for _, c := range []struct {
		name  string
		stale func(o order.Order) func() // removes something and returns a write to it
		typ   string
	}{
		{"an element of a list replaced by NewX", func(o order.Order) func() {
			l := o.NewLines(2).At(1)
			o.NewLines(3)
			return func() { l.SetArticle("x") }
		}, "Line"},
		{"its number", func(o order.Order) func() {
			l := o.NewLines(2).At(1)
			o.NewLines(3).At(0).SetCount(1)
			return func() { l.SetCount(7) }
		}, "Line"},
		{"the list", func(o order.Order) func() {
			l := o.NewLines(2)
			o.NewLines(3)
			return func() { l.AppendNew() }
		}, "list<Line>"},
		{"an element that was deleted", func(o order.Order) func() {
			lines := o.NewLines(2)
			lines.At(0).SetArticle("a")
			l := lines.At(1)
			lines.Truncate(1)
			return func() { l.SetArticle("x") }
		}, "Line"},
		{"of a field that was unset", func(o order.Order) func() {
			l := o.NewLines(1).At(0)
			o.UnsetLines()
			return func() { l.SetPrice(1) }
		}, "Line"},
		{"a map", func(o order.Order) func() {
			l := o.NewLabels(1)
			o.NewLabels(1).Put("b", "c")
			return func() { l.Put("a", "b") }
		}, "map<string, string>"},
	} {
		for _, received := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, %t", c.name, received), func(t *testing.T) {
				o := order.NewOrder()
				o.SetID(1)
				if received {
					o.NewLines(1).At(0).SetArticle("a")
					o, _ = order.ParseOrder(o.Message().AppendTo(nil), nocopy.Own)
				}
				write := c.stale(o)
				want := "nocopy: setter called on a " + c.typ + " that is no longer in its message: it was replaced or removed"
				text := panicText(write)
				if engine.Debugging && engine.ChecksRemoved && text != want || !engine.Debugging && text != "" {
					t.Errorf("%q, want %q", text, want)
				}
				o.SetCustomer("c")
				for _, l := range o.GetLines().All() {
					l.SetArticle("new")
				}
				o.Message().Finish()
			})
		}
	}
}
