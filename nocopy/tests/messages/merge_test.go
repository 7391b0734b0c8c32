package messages_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// merged returns the expected result of Merge for two records.
func merged(a, b *referee.Record) *referee.Record {
	a = referee.Clone(a).(*referee.Record)
	for i, v := range b.Fields {
		switch {
		case v == nil || b.Type.Union && b.Last != i+1:
		case a.Fields[i] == nil || a.Type.Union && a.Last != b.Last:
			if a.Type.Union {
				clear(a.Fields)
				a.Unknown = nil
			}
			a.Fields[i] = referee.Clone(v)
		default:
			switch v.(type) {
			case *referee.Record, *referee.List, *referee.Map:
			default: // set it as setters do: in a union that removes all other arms
				if a.Type.Union {
					a.Unknown = nil
				}
			}
			a.Fields[i] = mergedValue(a.Fields[i], v)
		}
	}
	if b.Last > 0 {
		a.Last = b.Last
	}
	a.Unknown = append(a.Unknown, b.Unknown...)
	return a
}

func mergedValue(a, b referee.Value) referee.Value {
	switch b := b.(type) {
	case *referee.Record:
		return merged(a.(*referee.Record), b)
	case *referee.List:
		l := a.(*referee.List)
		l.Elems = append(l.Elems, referee.Clone(b).(*referee.List).Elems...)
		return l
	case *referee.Map:
		m := a.(*referee.Map)
		m.Pairs = append(m.Pairs, referee.Clone(b).(*referee.Map).Pairs...)
		return m
	}
	return b
}

// checkSent checks that the sent form of m equals m.
func (ts types) checkSent(t *testing.T, s *referee.Struct, m message) {
	t.Helper()
	wire := m.s.AppendStruct(nil, m.d)
	if sent := ts.parse(t, s, wire, nocopy.Limits{MaxDepth: 1000}); !messages.Equal(m, sent, messages.EquateNaNs) {
		t.Fatalf("%s is sent as\n%s", render.Text(m.s, m.d), render.Text(sent.s, m.d))
	}
}

// difference returns the first field that differs.
func difference(got, want message) string {
	for i := range got.d.NumFields() {
		f := got.d.Field(i)
		v, w := message{got.d, thriftimpl.New(got.d)}, message{got.d, thriftimpl.New(got.d)}
		for _, c := range [][2]message{{v, got}, {w, want}} {
			c[0].s.Clear(got.d)
			if c[1].s.HasField(f) {
				c[0].s.SetValue(f, got.d, c[1].s.Value(f, got.d))
			}
		}
		if !messages.Equal(v, w, messages.EquateNaNs) {
			return fmt.Sprintf("it is\n%s, not\n%s", render.Text(v.s, v.d), render.Text(w.s, w.d))
		}
	}
	return "unknown fields differ"
}

// TestMergeRandom: Merge and CopyInto have the same effect on messages as on records: on parsed
// and edited messages, and on messages of other types made from the same IDL.
func TestMergeRandom(t *testing.T) {
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
			a, b := g.Record(s, 3), g.Record(s, 3)
			g.Noise(a)
			g.Noise(b)
			wireA, wireB := referee.Write(a, rnd), referee.Write(b, rnd)
			a, b = read(t, s, wireA), read(t, s, wireB)
			opts := []nocopy.Option{}
			if g.Intn(2) == 0 {
				opts = append(opts, nocopy.Recycle)
			}
			same := []messages.Option{messages.EquateNaNs}

			x, y := ts.parse(t, s, wireA, opts...), ts.parse(t, s, wireB, opts...)
			messages.Merge(x, y)
			z := ts.parse(t, s, wireA)
			messages.Merge(z, us.parse(t, s, wireB))
			want := ts.parse(t, s, referee.Write(merged(a, b), nil))
			for i, got := range []message{x, z} {
				if !messages.Equal(got, want, same...) {
					t.Fatalf("round %d, %d: %s", round, i, difference(got, want))
				}
				ts.checkSent(t, s, got)
			}
			if !bytes.Equal(y.s.Message().Bytes(), wireB) {
				t.Fatal("the source was changed")
			}

			messages.CopyInto(x, y) // x has been edited
			messages.CopyInto(z, us.parse(t, s, wireB))
			fresh := message{ts[s], thriftimpl.New(ts[s])}
			messages.CopyInto(fresh, y)
			y.s.Release()
			want = ts.parse(t, s, wireB)
			for i, got := range []message{x, z, fresh} {
				if !messages.Equal(got, want, same...) {
					t.Fatalf("round %d, %d: %s is copied as\n%s", round, i, render.Text(want.s, x.d), render.Text(got.s, x.d))
				}
				ts.checkSent(t, s, got)
			}
			messages.Merge(x, want)
			messages.CopyInto(x, want) // again, with unknown fields from both
			if !messages.Equal(x, want, same...) {
				t.Fatalf("round %d: the second copy is %s", round, render.Text(x.s, x.d))
			}
			x.s.Message().Compact()
			if !messages.Equal(x, want, same...) {
				t.Fatalf("round %d: compacted it is %s", round, render.Text(x.s, x.d))
			}
			ts.checkSent(t, s, x)
		}
	}
}

// TestMergeItself: both arguments may be parts of one message, and one may be part of the other.
func TestMergeItself(t *testing.T) {
	o := newOrder()
	messages.Merge(o, o)
	if o.GetLines().Len() != 4 || o.GetLabels().Len() != 2 {
		t.Error(o)
	}
	lines := o.GetLines()
	messages.CopyInto(lines.At(0), lines.At(1))
	messages.CopyInto(lines.At(1), lines.At(1))
	if lines.At(0).GetArticle() != "paper" || lines.At(1).GetArticle() != "paper" {
		t.Error(lines)
	}
	d := thriftimpl.NewDesc("Tree")
	d.Define(thriftimpl.FieldDesc{ID: 1, Name: "name", Type: thriftimpl.TypeString, Req: thriftimpl.Optional},
		thriftimpl.FieldDesc{ID: 2, Name: "kids", Type: thriftimpl.ListOf(thriftimpl.StructOf(d)), Req: thriftimpl.Optional})
	tree := message{d, thriftimpl.New(d)}
	kid := func(i int) message { return message{d, tree.s.Value(d.Field(1), d).Struct().Element(i).Struct()} }
	tree.s.SetText(d.Field(0), "a")
	tree.s.NewValue(d.Field(1), d, 0).Struct().AppendNewElement(0).Struct().SetText(d.Field(0), "b")
	messages.Merge(kid(0), tree) // the whole is merged into a part
	if got := render.Text(tree.s, d); got != `{name: "a", kids: [{name: "a", kids: [{name: "b"}]}]}` {
		t.Error(got)
	}
	messages.CopyInto(tree, kid(0)) // the whole becomes a copy of a part
	if got := render.Text(tree.s, d); got != `{name: "a", kids: [{name: "b"}]}` {
		t.Error(got)
	}
}

// TestCopyLarge: large texts and lists outlive a source that recycles its memory.
func TestCopyLarge(t *testing.T) {
	text := strings.Repeat("x", 100_000)
	from := order.NewOrder(nocopy.Recycle)
	from.SetDocument([]byte(text))
	from.SetCustomer(text)
	from.NewLabels().Put(text, text)
	from.NewLines(0).AppendNew().SetArticle(text)
	from = newFrom(t, func(b []byte, opts ...nocopy.Option) (order.Order, error) {
		return order.ReadOrder(bytes.NewReader(b), len(b), nocopy.Recycle)
	}, from.Message().Bytes())
	to, more := order.NewOrder(), newOrder()
	messages.CopyInto(to, from)
	messages.Merge(more, from)
	from.Release()
	for i := range 8 { // messages that may get the memory
		o := order.NewOrder(nocopy.Recycle)
		o.SetCustomer(fmt.Sprint(i))
		o.SetDocument(bytes.Repeat([]byte{'y'}, 4000))
	}
	for _, o := range []order.Order{to, more} {
		v, _ := o.GetLabels().Get(text)
		if string(o.GetDocument()) != text || o.GetCustomer() != text || v != text || o.GetLines().At(o.GetLines().Len()-1).GetArticle() != text {
			t.Error("the copy has changed")
		}
	}
}

// TestMergeRefuses: arguments that can't be merged give a panic and change nothing.
func TestMergeRefuses(t *testing.T) {
	panics := func(want string, f func()) {
		t.Helper()
		defer func() {
			t.Helper()
			if p := fmt.Sprint(recover()); !strings.HasPrefix(p, want) {
				t.Errorf("%q, not %q", p, want)
			}
		}()
		f()
	}
	o := newOrder()
	for _, f := range []func(dst, src nocopy.AnyStruct){messages.Merge, messages.CopyInto} {
		panics("nocopy: ", func() { f(o, order.NewLine()) })
		panics("nocopy: ", func() { f(order.Order{}, o) })
		panics("nocopy: ", func() { f(nil, o) })
		panics("nocopy: ", func() { f(o, nil) })
		released := newOrder()
		released.Release()
		panics("nocopy: ", func() { f(o, released) })
		panics("nocopy: ", func() { f(released, o) })
	}
	if !messages.Equal(o, newOrder()) {
		t.Error("it was changed")
	}
	messages.Merge(o, order.Order{})
	if !messages.Equal(o, newOrder()) {
		t.Error("an absent source was merged")
	}
	messages.CopyInto(o, order.Order{})
	if !messages.Equal(o, order.NewOrder()) {
		t.Error(o)
	}
}
