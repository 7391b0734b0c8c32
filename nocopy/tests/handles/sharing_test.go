package handles_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Messages that share memory. Each has a twin that gets the same changes, but with copies, so that
// it shares nothing. A message must always read like its twin, even if other messages change.

// shared is a message with its twin. Its owner changes it under the lock; others link its bytes
// under the lock for readers.
type shared struct {
	sync.RWMutex
	s, twin thriftimpl.Struct
	number  int // locks are taken in the order of numbers
}

// change calls f, which changes the message, and then finishes the message, so that others may
// link its bytes.
func (x *shared) change(f func()) {
	x.Lock()
	defer x.Unlock()
	f()
	x.s.Message().Finish()
	x.twin.Message().Finish()
}

// changeFrom is change with a function that reads src.
func (x *shared) changeFrom(src *shared, f func()) {
	if src.number < x.number {
		src.RLock()
		defer src.RUnlock()
		x.change(f)
		return
	}
	x.change(func() {
		src.RLock()
		defer src.RUnlock()
		f()
	})
}

type sharedFields struct{ self, children, numbers, words, text, blob, medium, counts, points thriftimpl.Field }

func fieldsToShare() sharedFields {
	f := namedIn(allDesc)
	return sharedFields{f("self"), f("children"), f("numbers"), f("words"), f("text"), f("blob"), f("medium"), f("counts"), f("points")}
}

// newShared makes a message that is large enough for linking, in one of the ways to make or
// receive one.
func newShared(r *rand.Rand, recycle bool) *shared {
	fillShared := func(s thriftimpl.Struct, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := fieldsToShare()
		s.SetInt32(f.medium, int32(r.Uint32()))
		s.SetInt64s(f.numbers, allDesc, make([]int64, 700+r.IntN(700)))
		s.SetTexts(f.words, allDesc, []string{strings.Repeat("w", r.IntN(3000)), strings.Repeat("v", referSize+r.IntN(100)), "short"})
		s.SetText(f.text, strings.Repeat("t", r.IntN(2*referSize)))
		copy(s.NewBytes(f.blob, r.IntN(9000)), "blob")
		points := nocopy.StructList[thriftimpl.Struct](s.NewChild(f.points, allDesc, 300))
		for i := range 300 {
			points.At(i).SetInt32(fieldNamed(pointDesc, "x"), int32(i))
		}
		self := s.NewChild(f.self, allDesc, 0)
		self.SetInt64s(f.numbers, allDesc, make([]int64, 800))
		self.SetText(f.text, "inner")
		nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](self.NewChild(f.counts, allDesc, 0)).Put("k", 1)
	}
	seed := r.Uint64()
	var opts []nocopy.Option
	if recycle {
		opts = append(opts, nocopy.Recycle)
	}
	x := &shared{twin: newStruct(allDesc)}
	fillShared(x.twin, seed)
	switch r.IntN(3) {
	case 0:
		x.s, _ = fromReaderOf(1000)(x.twin.Message().Bytes(), opts...)
	case 1:
		x.s, _ = owned.Parse(allDesc, x.twin.Message().Bytes(), opts...)
	default:
		x.s = newStruct(allDesc, opts...)
		fillShared(x.s, seed)
	}
	x.s.Message().Finish()
	x.twin.Message().Finish()
	return x
}

// fromReaderOf reads from a reader that gives n bytes at a time.
func fromReaderOf(n int) func(wire []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
	return func(wire []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
		w := recycled
		if len(opts) == 0 {
			w = fromReader
		}
		return w.Parse(allDesc, wire)
	}
}

// edit changes something at the same place of the message and its twin.
func (x *shared) edit(r *rand.Rand) {
	seed, class := r.Uint64(), r.IntN(9)
	deep := r.IntN(3)
	for _, s := range []thriftimpl.Struct{x.s, x.twin} {
		r := rand.New(rand.NewPCG(seed, 2))
		f := fieldsToShare()
		for range deep {
			if s.HasField(f.self) {
				s = s.Child(f.self, allDesc)
			}
		}
		switch class {
		case 0:
			s.SetInt32(f.medium, int32(r.Uint32()))
		case 1:
			s.SetText(f.text, strings.Repeat("e", r.IntN(2*referSize)))
		case 2:
			if l := nocopy.Int64List(s.Child(f.numbers, allDesc)); l.Len() > 0 {
				l.Set(r.IntN(l.Len()), r.Int64())
				l.Append(r.Int64())
			}
		case 3:
			if l := nocopy.StringList(s.Child(f.words, allDesc)); l.Len() > 0 {
				l.Set(r.IntN(l.Len()), "set")
				l.Append("appended")
			}
		case 4:
			if l := nocopy.StructList[thriftimpl.Struct](s.Child(f.points, allDesc)); l.Len() > 0 {
				l.At(r.IntN(l.Len())).SetInt32(fieldNamed(pointDesc, "y"), int32(r.Uint32()))
				l.At(r.IntN(l.Len())).SetInt32(fieldNamed(pointDesc, "x"), int32(r.Uint32()))
			}
		case 5:
			s.Unset(f.points)
		case 6:
			copy(s.NewBytes(f.blob, 100+r.IntN(5000)), "edited")
		case 7:
			if s.HasField(f.counts) {
				p := nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](s.Child(f.counts, allDesc))
				p.Put("k", r.Int64())
				p.Put("l"+itoa(r.IntN(50)), 1)
			}
		case 8:
			s.Unset(f.children)
		}
	}
}

// link puts a part of src into x by reference, and a copy of it into x's twin.
func (x *shared) link(r *rand.Rand, src *shared) {
	f := fieldsToShare()
	class := r.IntN(5)
	copied, err := inOnePiece.Parse(allDesc, bytes.Clone(src.twin.Message().Bytes()), nocopy.Limits{MaxDepth: 10_000})
	if err != nil {
		panic(err)
	}
	for _, c := range []struct{ to, from thriftimpl.Struct }{{x.s, src.s}, {x.twin, copied}} {
		switch class {
		case 0:
			c.to.SetChild(f.self, allDesc, c.from)
		case 1:
			if c.from.HasField(f.self) {
				c.to.SetChild(f.self, allDesc, c.from.Child(f.self, allDesc))
			}
		case 2:
			c.to.SetChild(f.numbers, allDesc, c.from.Child(f.numbers, allDesc))
		case 3:
			l := c.to.Child(f.children, allDesc)
			if !l.Valid() || nocopy.StructList[thriftimpl.Struct](l).Len() > 3 {
				l = c.to.NewChild(f.children, allDesc, 0)
			}
			nocopy.StructList[thriftimpl.Struct](l).Append(c.from)
		case 4:
			c.to.SetChild(f.points, allDesc, c.from.Child(f.points, allDesc))
			c.to.SetChild(f.words, allDesc, c.from.Child(f.words, allDesc))
		}
	}
	copied.Release()
	if x.s.Message().Len() > 1<<20 {
		x.s.Unset(f.self)
		x.twin.Unset(f.self)
		x.s.Unset(f.children)
		x.twin.Unset(f.children)
	}
}

// check finishes both messages, and checks that the message reads and is sent like its twin.
func (x *shared) check() error {
	x.s.Message().Finish()
	x.twin.Message().Finish()
	if got, want := render.Text(x.s, allDesc), render.Text(x.twin, allDesc); got != want {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		return fmt.Errorf("reads as …%.200s, not …%.200s (at %d)", got[at:], want[at:], at)
	}
	sent, want := x.s.Message().Bytes(), x.twin.Message().Bytes()
	if bytes.Equal(sent, want) {
		return nil
	}
	// A field that was removed and set again has another place if the message was compacted in
	// between, which depends on its memory.
	got, err := inOnePiece.Parse(allDesc, sent, nocopy.Limits{MaxDepth: 10_000})
	if err != nil {
		return err
	}
	defer got.Release()
	if len(sent) != len(want) || render.Text(got, allDesc) != render.Text(x.twin, allDesc) {
		return fmt.Errorf("is sent otherwise than its twin")
	}
	return nil
}

func (x *shared) release() {
	x.s.Release()
	x.twin.Release()
}

// TestSharingConcurrently: goroutines that each own messages link parts of each other's messages,
// edit and release them, in any order.
func TestSharingConcurrently(t *testing.T) {
	for _, recycle := range []func(r *rand.Rand) bool{
		func(*rand.Rand) bool { return true }, func(*rand.Rand) bool { return false }, func(r *rand.Rand) bool { return r.IntN(2) == 0 },
	} {
		before := memory.BlocksInUse()
		const goroutines, each = 4, 4
		steps := testmode.Of(50, 500)
		var all [goroutines * each]*shared
		for i := range all {
			r := rand.New(rand.NewPCG(uint64(i), 3))
			all[i] = newShared(r, recycle(r))
			all[i].number = i
		}
		together(t, func(g int) error {
			if g >= goroutines {
				return nil
			}
			r := rand.New(rand.NewPCG(uint64(g), 4))
			mine := all[g*each : (g+1)*each]
			for range steps {
				x := mine[r.IntN(each)]
				src := all[r.IntN(len(all))]
				switch class := r.IntN(10); {
				case class < 3 && src != x:
					x.changeFrom(src, func() { x.link(r, src) })
				case class < 8:
					x.change(func() { x.edit(r) })
				case class < 9:
					var err error
					if x.change(func() { err = x.check() }); err != nil {
						return err
					}
				default:
					x.change(func() {
						x.release()
						fresh := newShared(r, recycle(r))
						x.s, x.twin = fresh.s, fresh.twin
					})
				}
			}
			return nil
		})
		for i, x := range all {
			if err := x.check(); err != nil {
				t.Errorf("message %d %v", i, err)
			}
			x.release()
		}
		if got := memory.BlocksInUse(); got != before {
			t.Errorf("%d blocks are in use that were not before", got-before)
		}
	}
}

// TestFreeze: later changes do not touch the memory of a frozen message's bytes, but are in the
// message.
func TestFreeze(t *testing.T) {
	before := memory.BlocksInUse()
	for i := range 60 {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		x, src := newShared(r, i%2 == 0), newShared(r, i%4 < 2)
		for range r.IntN(4) {
			x.edit(r)
		}
		var frozen, copies [][]byte
		for range 3 {
			x.change(func() {})
			engine.Buffer(x.s.Message()).Pieces(func(_ chain.Pos, mem []byte) bool {
				frozen, copies = append(frozen, mem), append(copies, bytes.Clone(mem))
				return true
			})
			x.s.Freeze()
			for range 20 {
				if x.edit(r); r.IntN(5) == 0 {
					x.link(r, src)
				}
			}
			for j := range frozen {
				if !bytes.Equal(frozen[j], copies[j]) {
					t.Fatalf("message %d: bytes that were frozen have changed", i)
				}
			}
			if err := x.check(); err != nil {
				t.Fatalf("message %d %v", i, err)
			}
		}
		x.release()
		src.release()
	}
	if got := memory.BlocksInUse(); got != before {
		t.Errorf("%d blocks are in use that were not before", got-before)
	}
}

// TestReleaseOrders: four messages, each made of parts of the previous one, are released in every
// order, with every choice of recycling ones. The remaining messages keep their bytes, even if
// they are changed, and if others use the memory again.
func TestReleaseOrders(t *testing.T) {
	before := memory.BlocksInUse()
	for _, order := range orders(4) {
		for modes := range 16 {
			if !testmode.Long && modes%5 != 0 {
				continue // too slow
			}
			r := rand.New(rand.NewPCG(uint64(modes), 5))
			var chain [4]*shared
			for i := range chain {
				chain[i] = newShared(r, modes>>i&1 != 0)
				if i > 0 {
					chain[i].link(rand.New(rand.NewPCG(uint64(i), 6)), chain[i-1])
					chain[i].change(func() {})
				}
			}
			for k, i := range order {
				chain[i].release()
				for range 3 { // other messages take the memory, if it is free
					o := newShared(r, true)
					o.edit(r)
					o.release()
				}
				for _, j := range order[k+1:] {
					if err := chain[j].check(); err != nil {
						t.Fatalf("order %v, modes %04b: when %d is gone, message %d %v", order, modes, i, j, err)
					}
					chain[j].change(func() { chain[j].edit(r) })
				}
			}
		}
	}
	if got := memory.BlocksInUse(); got != before {
		t.Errorf("%d blocks are in use that were not before", got-before)
	}
}

// orders returns all orders of n things.
func orders(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range orders(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}

// TestShareAdopted: a small block that was copied because of a setter is in the message's own
// memory, which must stay as long as another message links to it.
func TestShareAdopted(t *testing.T) {
	inner, outer := newStructDesc("Inner"), newStructDesc("Outer")
	inner.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "a", Type: typeString},
		// Not in the template, so that it has a place only when it is set
		thriftimpl.FieldDesc{ID: 2, Name: "n", Type: typeI64, Req: thriftimpl.Optional},
		thriftimpl.FieldDesc{ID: 3, Name: "b", Type: typeString},
	)
	outer.Define(thriftimpl.FieldDesc{ID: 1, Name: "inner", Type: structTypeOf(inner)})
	text := strings.Repeat("x", 3_000)
	s := newStruct(outer)
	c := s.NewChild(outer.Field(0), outer, 0)
	c.SetText(inner.Field(0), text)
	c.SetInt64(inner.Field(1), 1)
	c.SetText(inner.Field(2), text)
	wire := s.Message().AppendTo(nil)
	s.Release()
	const number = 3 + 7 + 3_000 // offset of its header
	for _, options := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
		from, err := nocopy.ParseBlocks[thriftimpl.Struct](outer, [][]byte{wire[:number], wire[number : number+11], wire[number+11:]}, options...)
		if err != nil {
			t.Fatal(err)
		}
		from.Child(outer.Field(0), outer).SetInt64(inner.Field(1), 2)
		if n := from.Message().Nodes(); n > 0 {
			t.Errorf("%v: %d nodes: the block was not copied", options, n)
		}
		to := newStruct(outer, options...)
		to.SetChild(outer.Field(0), outer, from.Child(outer.Field(0), outer))
		want := to.Message().AppendTo(nil)
		if to.Message().Nodes() == 0 {
			t.Error("nothing was linked")
		}
		from.Child(outer.Field(0), outer).SetInt64(inner.Field(1), 3)
		from.Release()
		for range 50 { // messages that may get the memory, and fill it
			other := newStruct(outer, options...)
			other.NewChild(outer.Field(0), outer, 0).SetText(inner.Field(0), strings.Repeat("y", 3_900))
			other.Release()
		}
		if got := to.Message().AppendTo(nil); !bytes.Equal(got, want) || to.Child(outer.Field(0), outer).Int64(inner.Field(1)) != 2 {
			t.Errorf("%v: what was linked has changed", options)
		}
		to.Release()
	}
}

// TestLazySharedThenChanged: a part of a message that was parsed with Lazy is linked into another
// message before it has an entry for all in it. Changing the first message afterwards does not
// change the second.
func TestLazySharedThenChanged(t *testing.T) {
	f := fieldsToShare()
	made := newStruct(allDesc)
	child := made.NewChild(f.self, allDesc, 0)
	child.SetInt64s(f.numbers, allDesc, make([]int64, 2000))
	child.SetTexts(f.words, allDesc, []string{"aaaa", "bbbb"})
	wire := bytes.Clone(made.Message().Bytes())
	for _, w := range []way{inOnePiece, owned, recycled, cutEvery(1000)} {
		t.Run(w.Name, func(t *testing.T) {
			src, err := w.Parse(allDesc, bytes.Clone(wire), nocopy.Lazy)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Release()
			to := newStruct(allDesc, nocopy.Recycle)
			defer to.Release()
			to.SetChild(f.self, allDesc, src.Child(f.self, allDesc))
			to.Message().Finish()
			before := bytes.Clone(to.Message().Bytes())
			inner := src.Child(f.self, allDesc)
			numbers := nocopy.Int64List(inner.Child(f.numbers, allDesc))
			numbers.Set(5, 77)
			nocopy.StringList(inner.Child(f.words, allDesc)).Set(1, "cccc")
			if !bytes.Equal(to.Message().Bytes(), before) {
				t.Error("the other message has changed")
			}
			if got := numbers.At(5); got != 77 {
				t.Errorf("element 5 is %d", got)
			}
		})
	}
}
