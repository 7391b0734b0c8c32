package edits_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// child holds the expected fields of an element of a list of structs; nil is a field that is not
// set.
type child struct {
	medium     *int32
	text, blob *string
	words      []string
	x          *int32
}

// childrenSession changes fields of the elements of a list of structs in any order.
type childrenSession struct {
	orderSession
	list  nocopy.StructList[engine.Struct]
	model []child
}

// set changes a field of element i.
func (o *childrenSession) set(i int) {
	s, c := o.list.At(i), &o.model[i]
	switch o.IntN(12) {
	case 0, 1, 2, 3, 4:
		v := o.text()
		s.SetText(fieldNamed(allDesc, "text"), v)
		c.text = &v
	case 5, 6:
		v := o.Int32()
		s.SetInt32(fieldNamed(allDesc, "medium"), v)
		c.medium = &v
	case 7, 8:
		v := o.text()
		s.SetBytes(fieldNamed(allDesc, "blob"), []byte(v))
		c.blob = &v
	case 9:
		v := o.Int32()
		s.NewChild(fieldNamed(allDesc, "point"), allDesc, 0).SetInt32(fieldNamed(pointDesc, "x"), v)
		c.x = &v
	case 10:
		l := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, 3))
		c.words = []string{"first", "", "third"}
		l.Set(2, "third")
		l.Set(0, "first")
	default:
		switch o.IntN(3) {
		case 0:
			s.Unset(fieldNamed(allDesc, "text"))
			c.text = nil
		case 1:
			s.Unset(fieldNamed(allDesc, "medium"))
			c.medium = nil
		default:
			s.Unset(fieldNamed(allDesc, "words"))
			c.words = nil
		}
	}
}

// checkChild compares an element.
func (o *childrenSession) checkChild(s engine.Struct, i int) {
	o.t.Helper()
	c := &o.model[i]
	number := func(what string, s engine.Struct, f schema.Ref, want *int32) {
		if s.Has(f) != (want != nil) || want != nil && s.Int32(f) != *want {
			o.t.Fatalf("%s: %s of element %d is wrong", o.way, what, i)
		}
	}
	text := func(what string, f schema.Ref, got string, want *string) {
		if s.Has(f) != (want != nil) || want != nil && got != *want {
			o.t.Fatalf("%s: %s of element %d is %d bytes %.20q", o.way, what, i, len(got), got)
		}
	}
	number("medium", s, fieldNamed(allDesc, "medium"), c.medium)
	number("x", s.Child(fieldNamed(allDesc, "point"), allDesc), fieldNamed(pointDesc, "x"), c.x)
	text("text", fieldNamed(allDesc, "text"), s.Text(fieldNamed(allDesc, "text")), c.text)
	text("blob", fieldNamed(allDesc, "blob"), string(s.Bytes(fieldNamed(allDesc, "blob"))), c.blob)
	if got := nocopy.StringList(s.Child(fieldNamed(allDesc, "words"), allDesc)).AppendTo(nil); !slices.Equal(got, c.words) {
		o.t.Fatalf("%s: words of element %d are %q, not %q", o.way, i, got, c.words)
	}
}

// checkAll compares all elements, in the message and in a message parsed from its wire bytes.
func (o *childrenSession) checkAll() {
	o.t.Helper()
	again := mustParse(o.t, allDesc, o.s.Message().AppendTo(nil), engine.Limits{MaxBytes: 1 << 30})
	l := nocopy.StructList[engine.Struct](again.Child(fieldNamed(allDesc, "children"), allDesc))
	if l.Len() != len(o.model) || o.list.Len() != len(o.model) {
		o.t.Fatalf("%s: %d and %d elements, not %d", o.way, o.list.Len(), l.Len(), len(o.model))
	}
	for i := range o.model {
		o.checkChild(o.list.At(i), i)
		o.checkChild(l.At(i), i)
	}
	again.Release()
}

// between does something other than setting fields.
func (o *childrenSession) between() {
	n := len(o.model)
	switch i := o.IntN(n); o.IntN(10) {
	case 0, 1, 2:
		o.checkChild(o.list.At(i), i)
		if c := &o.model[i]; c.text != nil {
			got := o.list.At(i).Text(fieldNamed(allDesc, "text"))
			o.kept = append(o.kept, struct{ got, want string }{got, strings.Clone(*c.text)})
		}
	case 3: // shared, and both go on
		other := engine.New(allDesc)
		l := nocopy.StructList[engine.Struct](other.NewChild(fieldNamed(allDesc, "children"), allDesc, 2))
		l.Set(1, o.list.At(i))
		o.checkChild(l.At(1), i)
		o.set(i)
		other.Release()
	case 4:
		j := o.IntN(n)
		o.list.Set(j, o.list.At(i))
		o.model[j] = o.model[i]
	case 5:
		j := o.IntN(n)
		o.list.Swap(i, j)
		o.model[i], o.model[j] = o.model[j], o.model[i]
	case 6:
		if n > 2 {
			j := o.IntN(2)
			o.list.Delete(j, j+1)
			o.model = slices.Delete(o.model, j, j+1)
		}
	case 7:
		o.list.AppendNew().SetText(fieldNamed(allDesc, "text"), "appended")
		v := "appended"
		o.model = append(o.model, child{text: &v})
	case 8:
		if o.IntN(4) == 0 {
			o.s.Message().Compact()
		}
	default:
		o.s.Message().Len()
	}
}

// TestAnyFields: fields of the elements of a list of structs may be set in any order, while the
// list is being built and when it was received, and anything else may happen in between.
func TestAnyFields(t *testing.T) {
	r := rand.New(rand.NewPCG(testmode.Seed(t), 2))
	for round := range testmode.Of(24, 60) {
		blocks := memory.BlocksInUse()
		o := &childrenSession{orderSession: orderSession{Rand: r, t: t}}
		recycle, received := round%3 == 0, round%2 == 0
		n := []int{2, 20, 200, 3000}[round%4]
		o.way = fmt.Sprintf("round %d, %d elements, recycle %t, received %t", round, n, recycle, received)
		opts := []engine.Option{engine.Limits{MaxBytes: 1 << 30}}
		if recycle {
			opts = append(opts, engine.Recycle)
		}
		children := fieldNamed(allDesc, "children")
		o.s = engine.New(allDesc, opts...)
		o.list = nocopy.StructList[engine.Struct](o.s.NewChild(children, allDesc, n))
		o.model = make([]child, n)
		if received {
			for i := range n {
				if r.IntN(4) > 0 {
					o.set(i)
				}
			}
			wire := o.s.Message().AppendTo(nil)
			o.s.Release()
			o.s = mustParse(t, allDesc, wire, opts...)
			o.list = nocopy.StructList[engine.Struct](o.s.Child(children, allDesc))
		}
		rare := []int{1 << 30, 200, 20}[r.IntN(3)]
		for k := range 3 * n {
			if r.IntN(rare) == 0 {
				o.between()
			} else {
				o.set(r.IntN(len(o.model)))
			}
			if k == n {
				o.checkAll() // and goes on
			}
		}
		o.checkAll()
		if recycle {
			o.kept = nil
		}
		o.s.Release()
		for _, k := range o.kept {
			if k.got != k.want {
				t.Fatalf("%s: a string that was read as %.20q is %.20q now", o.way, k.want, k.got)
			}
		}
		if now := memory.BlocksInUse(); now != blocks {
			t.Fatalf("%s: %d blocks in use, %d before", o.way, now, blocks)
		}
	}
}

// TestAnyFieldsBounded: setting the fields of a list's elements again and again, in any order,
// takes no more memory than a few times the size of their values.
func TestAnyFieldsBounded(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		for _, n := range []int{2, 300} {
			r := rand.New(rand.NewPCG(1, 2))
			s := engine.New(allDesc, optionsOf(recycle, false))
			l := nocopy.StructList[engine.Struct](s.NewChild(fieldNamed(allDesc, "children"), allDesc, n))
			most, sizes := 0, []int{3, 40, 700}
			for k := range testmode.Of(100_000, 1_000_000) {
				c := l.At(r.IntN(n))
				c.SetText(fieldNamed(allDesc, "text"), strings.Repeat("t", sizes[r.IntN(3)]))
				c.SetInt32(fieldNamed(allDesc, "medium"), int32(k))
				if k%1000 == 7 {
					most = max(most, engine.Buffer(s.Message()).Footprint()+4*engine.IndexWords(s.Message()))
				}
			}
			// It may begin in a slab that a large message of another test has left.
			slack := 2<<20 + memory.MaxSlabSize
			if limit := 8*s.Message().Len() + 4*engine.IndexWords(s.Message()) + slack; most > limit {
				t.Errorf("%d elements, recycle %t: %d bytes at most, limit %d", n, recycle, most, limit)
			}
			s.Release()
		}
	}
}
