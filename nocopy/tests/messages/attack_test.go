package messages_test

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// place is a struct somewhere in a message, with its expected record.
type place struct {
	m message
	r *referee.Record
}

// structsIn returns the structs in fields, lists and values of maps.
func (ts types) structsIn(m message, r *referee.Record) (all []place) {
	all = append(all, place{m, r})
	for i, v := range r.Fields {
		if v != nil && (!r.Type.Union || r.Last == i+1) {
			all = append(all, ts.structsInValue(r.Type.Fields[i].Type, m.s.Value(m.d.Field(i), m.d), v)...)
		}
	}
	return all
}

func (ts types) structsInValue(t *referee.Type, h impl.Value, v referee.Value) (all []place) {
	switch v := v.(type) {
	case *referee.Record:
		return ts.structsIn(message{ts[t.Struct], h.Struct()}, v)
	case *referee.List:
		for i, x := range v.Elems {
			if t.Elem.IsContainer() && t.IsList() && h.Struct().ContainerType().Wire() == nocopy.WireList {
				all = append(all, ts.structsInValue(t.Elem, h.Struct().Element(i), x)...)
			}
		}
	case *referee.Map:
		i, live := 0, v.Live()
		for _, x := range h.Struct().Pairs() {
			if t.Elem.IsContainer() && i < len(live) && !t.Key.IsContainer() {
				all = append(all, ts.structsInValue(t.Elem, x, live[i].Value)...)
			}
			i++
		}
	}
	return all
}

// inBlocks parses wire bytes that are cut into blocks.
func (ts types) inBlocks(t *testing.T, s *referee.Struct, wire []byte, rnd *rand.Rand) message {
	var blocks [][]byte
	for rest := bytes.Clone(wire); len(rest) > 0; {
		n := 1 + rnd.IntN(min(len(rest), 200))
		blocks, rest = append(blocks, rest[:n]), rest[n:]
	}
	h, err := nocopy.ParseBlocks[nocopy.Struct](ts[s], blocks)
	if err != nil {
		t.Fatal(err)
	}
	return message{ts[s], thriftimpl.Struct(h)}
}

// TestCopyAnywhere: CopyInto makes structs anywhere in a received message, in one piece or in
// blocks, copies of others, one after another. The rest of the message stays unchanged.
func TestCopyAnywhere(t *testing.T) {
	for round := range testmode.Of(20, 150) {
		g := newGen(uint64(round))
		structs := g.Structs(4)
		if round%5 == 0 {
			structs = referee.Everything()
		}
		ts := newTypes(structs)
		rnd := rand.New(rand.NewPCG(uint64(round), 7))
		s := structs[g.Intn(len(structs))]
		r := g.Record(s, 4)
		g.Noise(r)
		wire := referee.Write(r, nil)
		r = read(t, s, wire)
		referee.Normal(r)
		m := ts.parse(t, s, wire)
		if g.Intn(2) == 0 {
			m = ts.inBlocks(t, s, wire, rnd)
		}
		for range 6 {
			places := ts.structsIn(m, r)
			p := places[g.Intn(len(places))]
			from := g.Record(p.r.Type, 2)
			g.Noise(from)
			fromWire := referee.Write(from, rnd)
			*p.r = *read(t, p.r.Type, fromWire)
			referee.Normal(p.r)
			messages.CopyInto(p.m, ts.inBlocks(t, p.r.Type, fromWire, rnd))
			if want := ts.parse(t, s, referee.Write(r, nil), nocopy.Limits{MaxDepth: 1000}); !messages.Equal(m, want, messages.EquateNaNs) {
				t.Fatalf("round %d: %s copied into a %s: %s", round, p.r.Type.Name, s.Name, difference(m, want))
			}
			ts.checkSent(t, s, m)
		}
	}
}

// TestCopyHuge: unknown fields are removed from messages of many segments, even after edits.
func TestCopyHuge(t *testing.T) {
	d := thriftimpl.NewDesc("D")
	d.Define(thriftimpl.FieldDesc{ID: 1, Name: "text", Type: thriftimpl.TypeString, Req: thriftimpl.Optional},
		thriftimpl.FieldDesc{ID: 2, Name: "kids", Type: thriftimpl.ListOf(thriftimpl.StructOf(d)), Req: thriftimpl.Optional})
	unknown := append(append(field(nocopy.WireString, 9), be32(3<<20)...), make([]byte, 3<<20)...)
	kid := append(bytes.Clone(unknown), 0)
	wire := append(append(bytes.Clone(unknown), field(nocopy.WireList, 2, byte(nocopy.WireStruct))...), be32(3)...)
	wire = append(append(append(append(wire, kid...), kid...), kid...), unknown...)
	s, err := thriftimpl.Parse(d, append(wire, 0))
	if err != nil {
		t.Fatal(err)
	}
	m, small := message{d, s}, message{d, thriftimpl.New(d)}
	small.s.SetText(d.Field(0), "x")
	second := message{d, s.Value(d.Field(1), d).Struct().Element(1).Struct()}
	second.s.SetText(d.Field(0), "edited")
	messages.CopyInto(second, small)
	if n := m.s.Message().Len(); n != len(wire)+1-len(kid)+len(small.s.Message().Bytes()) || !messages.Equal(second, small) {
		t.Errorf("%d bytes are left of %d", n, len(wire)+1)
	}
	messages.CopyInto(m, small)
	if !bytes.Equal(m.s.Message().Bytes(), small.s.Message().Bytes()) {
		t.Errorf("it has %d bytes", m.s.Message().Len())
	}
}

// TestSetsAfterCopy: a set with a lookup table finds its elements after CopyInto has changed them.
func TestSetsAfterCopy(t *testing.T) {
	point, d := thriftimpl.NewDesc("P"), thriftimpl.NewDesc("D")
	point.Define(thriftimpl.FieldDesc{ID: 1, Name: "x", Type: thriftimpl.TypeI32, Req: thriftimpl.Optional})
	d.Define(thriftimpl.FieldDesc{ID: 1, Name: "set", Type: thriftimpl.SetOf(thriftimpl.StructOf(point)), Req: thriftimpl.Optional})
	newPoint := func(x int32) message {
		m := message{point, thriftimpl.New(point)}
		m.s.SetInt32(point.Field(0), x)
		return m
	}
	value := func(m message) impl.Value { return impl.ValueOfStruct(thriftimpl.StructOf(point), m.s) }
	s := thriftimpl.New(d)
	set := s.NewValue(d.Field(0), d, 0).Struct()
	for x := range int32(40) {
		set.AppendElement(value(newPoint(x)))
	}
	if !set.HasElement(value(newPoint(7))) {
		t.Error("7 is not there")
	}
	messages.CopyInto(message{point, set.Element(7).Struct()}, newPoint(100))
	messages.Merge(message{point, set.Element(8).Struct()}, newPoint(101))
	for x, want := range map[int32]bool{7: false, 8: false, 9: true, 100: true, 101: true} {
		if set.HasElement(value(newPoint(x))) != want {
			t.Errorf("%d: %v", x, !want)
		}
	}
}

// TestReadTogether: many goroutines at once compare finished messages, copy from them and select
// parts of them.
func TestReadTogether(t *testing.T) {
	a, b := newOrder(), newOrder()
	b.GetLines().Swap(0, 1)
	b.GetLines().Swap(0, 1)
	a.Message().Finish()
	b.Message().Finish()
	mask := messages.MustMask(a.ThriftDesc(), "lines[*].price", `labels["size"]`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				c := newOrder()
				if !messages.Equal(a, b) || mask.Copy(c, a) != nil || !messages.Equal(c, b, messages.EquateDefaults) {
					t.Error("not equal")
				}
				messages.Merge(c, b)
				messages.CopyInto(c, a)
				mask.Keep(c)
			}
		})
	}
	wg.Wait()
}
