package engine

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// checkEditedHostile changes, copies and links a message whose index may say anything. The bytes
// that are sent then have no index, and are the same as after a plain parse; or the operation is
// refused with a fixed text.
func checkEditedHostile(t testing.TB, d *schema.Struct, b []byte, edit func(s Struct) Struct) {
	t.Helper()
	run := func(opts ...Option) (out []byte, refused bool) {
		s, err := Parse(d, b, opts...)
		if err != nil {
			return nil, true
		}
		defer s.Release()
		defer func() {
			if v := recover(); v != nil {
				if text, _ := v.(string); !strings.HasPrefix(text, "nocopy: message can't be changed or copied from: ") {
					panic(v)
				}
				out, refused = nil, true
			}
		}()
		edited := edit(s)
		return bytes.Clone(edited.m.Bytes()), false
	}
	want, bad := run()
	got, refused := run(ByIndex)
	switch {
	case bad && !refused:
		t.Fatalf("a message that is not valid was edited: %x", got)
	case refused:
		return
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("edited it is\n%x not\n%x", got, want)
	}
	if err := CheckSentIndex(d, got, false); err != nil {
		t.Fatal(err)
	}
}

// TestIndexBytes reads and edits messages with an index in which each byte in turn is another one,
// which end early, have two indexes, or one that was made for another message.
func TestIndexBytes(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, testmode.Seed(t)))
	plain := largeBusiness(t, 250)
	with := withIndex(t, businessDesc, plain)
	id, items := fieldNamed(businessDesc, "id"), fieldNamed(businessDesc, "items")
	edits := []func(s Struct) Struct{
		func(s Struct) Struct { s.SetInt64(id, 99); return s },
		func(s Struct) Struct {
			if l := StructList[Struct](s.Child(items, businessDesc)); l.Len() > 7 {
				l.Delete(3, 5)
			} else {
				s.Unset(items)
			}
			return s
		},
		func(s Struct) Struct { return s.Clone(businessDesc) },
		func(s Struct) Struct {
			to := New(businessDesc)
			l := StructList[Struct](to.NewChild(items, businessDesc, 0))
			if from := StructList[Struct](s.Child(items, businessDesc)); from.Len() > 2 && from.At(2).Valid() {
				l.Append(from.At(2))
			} else {
				s.SetInt64(id, 1)
			}
			return to
		},
	}
	check := func(b []byte) {
		t.Helper()
		checkHostileIndex(t, businessDesc, b)
		checkEditedHostile(t, businessDesc, b, edits[rnd.IntN(len(edits))])
	}
	for at := range with {
		if at < len(plain)-1 && at%testmode.Of(51, 17) != 0 {
			continue
		}
		for range testmode.Of(2, 4) {
			b := bytes.Clone(with)
			if b[at] ^= 1 << rnd.IntN(8); rnd.IntN(3) == 0 {
				b[at] = byte(rnd.Uint32())
			}
			check(b)
		}
	}
	tail := with[len(plain)-1 : len(with)-1] // the field with the index
	for n := range len(tail) {
		check(with[:len(with)-n])
		check(append(bytes.Clone(with[:len(plain)-1]), append(bytes.Clone(tail[n:]), 0)...))
		check(append(bytes.Clone(with[:len(with)-1-n]), 0))
	}
	check(append(append(bytes.Clone(with[:len(with)-1]), tail...), 0))
	check(append(append(bytes.Clone(tail), with[:len(plain)-1]...), append(bytes.Clone(tail), 0)...))
	// Of the same length, and another order of fields: its index is for another message
	s, err := Parse(businessDesc, plain)
	if err != nil {
		t.Fatal(err)
	}
	at, end := s.m.extent(index.Word(s.word(items)).Entry(), businessDesc.FieldOf(items).Type)
	first := int(end - s.m.ix.StartOf(s.m.root))
	b := bytes.Clone(with) // the index is right, except that the elements are not of their type
	b[at-s.m.ix.StartOf(s.m.root)] = byte(wire.Map)
	s.Release()
	for range 9 {
		check(b)
	}
	turned := append(append(bytes.Clone(plain[first:len(plain)-1]), plain[:first]...), tail...)
	check(append(turned, 0))
}

// TestPageTooDeep: a page of elements that may not be parsed, since structs are nested too deeply,
// leaves the entries below it as they are.
func TestPageTooDeep(t *testing.T) {
	made := New(orchardDesc)
	fillLeaves(made, "list", 1000)
	s, err := Parse(orchardDesc, withIndex(t, orchardDesc, made.m.Bytes()), ByIndex, Limits{MaxDepth: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := StructList[Struct](s.Child(fieldNamed(orchardDesc, "list"), orchardDesc))
	for _, i := range []int{700, 0, 999} {
		if got := l.At(i).Text(fieldNamed(fruitDesc, "name")); got != "" || l.Len() != 1000 {
			t.Errorf("element %d: %q of %d", i, got, l.Len())
		}
	}
	if err := s.m.Index(); !errors.Is(err, wire.ErrLimit) {
		t.Errorf("Index: %v, want ErrLimit", err)
	}
}
