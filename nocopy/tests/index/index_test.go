// Package index_test tests the words of an index without a message: what is allocated, freed and
// used again, the tables of wide structs, and the arms of unions.
package index_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// owner is the message of an index: none that is nearly full, or changed at once.
type owner struct{}

func (owner) MostWords(int) int   { return index.MaxWords }
func (owner) EndChange()          {}
func (owner) PanicChangedAtOnce() { panic("changed at once") }

// newIndex returns an empty index.
func newIndex() *index.Index {
	x := new(index.Index)
	x.Begin(owner{})
	x.Used = index.First
	return x
}

// structOf returns a struct or union of n optional fields.
func structOf(n int, union bool) *schema.Struct {
	d, fields := schema.NewStruct("S"), make([]schema.FieldDesc, n)
	if union {
		d = schema.NewUnion("U")
	}
	for i := range fields {
		fields[i] = schema.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i+1), Type: schema.TypeI32, Req: schema.Optional}
	}
	if n > entry.MaxDirect {
		d.DefineWide(fields...)
	} else {
		d.Define(fields...)
	}
	return d
}

// TestAlloc: allocated words are zero, do not overlap, and stay where they are, also in an index
// that had other contents before.
func TestAlloc(t *testing.T) {
	x := newIndex()
	for round := range 3 {
		next := uint32(index.First)
		for n := range 200 {
			e := x.Alloc(n)
			if e != next {
				t.Fatalf("round %d: %d words at %d, not %d", round, n, e, next)
			}
			words := x.Words[e:][:n]
			if slices.ContainsFunc(words, func(w uint32) bool { return w != 0 }) {
				t.Fatalf("round %d: %d words are not zero", round, n)
			}
			for i := range words {
				words[i] = 7
			}
			next += uint32(n)
		}
		x.End()
		x.EndMore()
		x.Used = index.First
	}
}

// TestReuse: words that were freed are used again for values of the same type only, and are zero.
func TestReuse(t *testing.T) {
	x := newIndex()
	var again []uint32
	x.Reuse(func(e, words uint32) { again = append(again, e, words) })
	small, large := structOf(3, false).Type(), structOf(5, false).Type()
	e := x.AllocFor(small, small.Struct().Words())
	raw := x.AllocRaw(4)
	for i := range x.Words[index.First:x.Used] {
		x.Words[index.First+i] = 9
	}
	x.FreeBlock(small, e, uint32(small.Struct().Words()))
	x.FreeRaw(raw, 4)
	if got := x.AllocFor(large, large.Struct().Words()); got < x.Used-uint32(large.Struct().Words()) {
		t.Errorf("a struct of another type at %d, where one was freed", got)
	}
	if got := x.AllocFor(small, small.Struct().Words()); got != e || len(again) != 2 || again[0] != e {
		t.Errorf("a struct at %d, not at %d; reported: %v", got, e, again)
	}
	if got := x.AllocRaw(4); got != raw {
		t.Errorf("words at %d, not at %d", got, raw)
	}
	if x.Words[e+1] != 0 || x.Words[raw+3] != 0 {
		t.Error("words that are used again are not zero")
	}
	x.EachFree(func(at, words uint32, what string) { t.Errorf("%s of %d words at %d is left", what, words, at) })
}

// TestWide: a table keeps what a map does, in every order, and in tables of all sizes. Tables that
// have become too small are used again.
func TestWide(t *testing.T) {
	for _, n := range []int{entry.MaxDirect + 1, 64, 200, 862, 863, 5000, 32767} {
		x, d := newIndex(), structOf(n, false)
		e, want := x.Alloc(d.Words()), map[int]uint32{}
		r := rand.New(rand.NewPCG(uint64(n), 1))
		for step := range 3000 {
			i := r.IntN(n)
			if step%3 == 0 {
				i %= 40
			}
			want[i] = uint32(step + 1)
			if step%5 == 4 {
				want[i] = 0
			}
			if x.Put(e, d.Field(i), index.Word(want[i])); uint32(x.At(e, d.Field(i))) != want[i] {
				t.Fatalf("%d fields: field %d is %d, not %d", n, i, x.At(e, d.Field(i)), want[i])
			}
		}
		maps.DeleteFunc(want, func(_ int, word uint32) bool { return word == 0 })
		got := map[int]uint32{}
		for i := x.Next(d, e, 0); i < n; i = x.Next(d, e, i+1) {
			got[i] = uint32(x.At(e, d.Field(i)))
		}
		if !maps.Equal(got, want) {
			t.Errorf("%d fields: Next and At find %v, not %v", n, got, want)
		}
		if most := 100 * (len(want) + n/16 + 40); int(x.Used) > most {
			t.Errorf("%d fields, %d of them set: %d words, more than %d", n, len(want), x.Used, most)
		}
	}
}

// TestArm: the arm of a union is kept apart from its extra fields, whichever comes first.
func TestArm(t *testing.T) {
	x, d := newIndex(), structOf(3, true)
	e := x.Alloc(d.Words())
	x.SetArmField(e, 4)
	for i := range uint32(3) {
		x.AddExtra(x.AllocRaw(index.ExtraWords), e, 10*i, 10*i+5, x.ArmField(e))
	}
	if got := x.ArmField(e); got != 4 {
		t.Errorf("the arm is %d, not 4", got)
	}
	var at []uint32
	for w := x.Arm(e); w.HasExtra(); {
		from, end, next := x.Extra(w)
		if end != from+5 {
			t.Errorf("an extra field from %d to %d", from, end)
		}
		at, w = append(at, from), next
	}
	if x.Words[e+entry.UnionWords+2] = 1; !slices.Equal(at, []uint32{20, 10, 0}) || x.LastArm(e, d.Span(), false) != entry.FirstArm+2 {
		t.Errorf("extra fields at %d, or the last arm is not the third", at)
	}
}

// TestWord: what a word holds is what was put into it, up to 31 bits, and its top bit has one
// meaning for each kind of word.
func TestWord(t *testing.T) {
	for _, n := range []uint32{1, 2, 1 << 30, 1<<31 - 1} {
		for what, ok := range map[string]bool{
			"a node":           index.InNode(n).IsNode() && index.InNode(n).Node() == n,
			"a text":           !index.Word(n).IsNode(),
			"left for later":   index.LazyAt(n).IsLazy() && index.LazyAt(n).Pos() == n && !index.LazyAt(n).HasEntry(),
			"an entry":         !index.Word(n).IsLazy() && index.Word(n).HasEntry() && index.Word(n).Entry() == n,
			"an edit":          index.EditWord(int(n)).IsEdit() && index.EditWord(int(n)).Edit() == n,
			"a known end":      !index.Word(n).IsEdit(),
			"no extra field":   !index.Word(n).HasExtra(),
			"nothing (no set)": !index.Word(0).HasEntry() && !index.Word(0).IsLazy() && !index.Word(0).IsNode(),
		} {
			if !ok {
				t.Errorf("%d as %s", n, what)
			}
		}
	}
}

// TestRoom: the number of slots and the marks of a list's room are independent of each other.
func TestRoom(t *testing.T) {
	for _, n := range []uint32{0, 1, 7, 1<<30 - 1} {
		plain := index.Room(n)
		table := plain.Table(n)
		for what, ok := range map[string]bool{
			"simple":         plain.Simple() && plain.Len() == n && !plain.HasTable() && plain.WordsPerSlot() == 0,
			"being built":    plain.Building().IsBuilding() && !plain.Building().Simple() && plain.Building().Len() == n,
			"built":          plain.Building().Built() == plain,
			"a table":        table.HasTable() && table.Len() == n && !table.Simple() && table.WordsPerSlot() == 1,
			"a built table":  table.Building().Table(n).IsBuilding() && table.Building().Built() == table,
			"another length": table.Building().WithLen(3) == index.Room(3).Table(3).Building(),
			"read by pages":  index.ByPages.HasTable() && index.ByPages.Len() == 0,
		} {
			if !ok {
				t.Errorf("%d, %s", n, what)
			}
		}
	}
}
