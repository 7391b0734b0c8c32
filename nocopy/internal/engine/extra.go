package engine

import (
	"iter"
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// This file has the fields that no accessor of generated code reads: unknown ones and further arms
// of a union. It removes fields, and has what package rpc adds to requests and takes from them.

// Which returns the word of the field that is set in a union, or 0. If several came on the wire,
// it is the last.
func (s Struct) Which() int32 {
	if s.m == nil {
		return 0
	}
	s.alive()
	return int32(s.m.ix.Words[s.m.ix.ArmWord(s.entry())])
}

// Arm makes f the only field of a union that is set, and removes any other, known or unknown. It
// is called after the field was set: if the setter panics, the other fields stay. The methods that
// set a field and have a parameter d call Arm themselves. d describes s.
func (s Struct) Arm(f schema.Ref, d *schema.Struct) Struct {
	s.writable() // not changeable: memory that the setter has just returned stays where it is
	m, e := s.m, s.entry()
	for i := m.ix.Next(d, e, 0); i < len(d.Fields()); i = m.ix.Next(d, e, i+1) {
		if other := d.Field(i); other.Word() != f.Word() && m.ix.At(e, other) != 0 {
			s.Unset(other)
		}
	}
	if m.ix.Words[e+entry.Arm]&index.HasExtra != 0 {
		m.unsetExtra(e)
	}
	m.ix.Words[e+entry.Arm] = f.Word()
	return s
}

// unsetExtra removes the fields of a union that no word stands for.
func (m *Message) unsetExtra(e uint32) {
	for w := m.ix.Words[e+entry.Arm]; w&index.HasExtra != 0; {
		f := m.ix.Words[w&^index.HasExtra:][:index.ExtraWords]
		m.buf.AddReplace(f[index.ExtraAt], f[index.ExtraEnd])
		w = f[index.ExtraNext]
	}
	m.ix.FreeExtra(m.ix.Words[e+entry.Arm])
}

// UnsetArm removes the field f of a union.
func (s Struct) UnsetArm(f schema.Ref) {
	s.Unset(f)
	e := s.entry()
	at := s.m.ix.ArmWord(e)
	if s.m.ix.Words[at] != f.Word() {
		return
	}
	if f.Wide() {
		s.m.ix.Words[at] = s.m.ix.LastArmIn(e, f)
		return
	}
	which := uint32(0)
	for w := uint32(entry.UnionWords); w < f.Words(); w++ {
		if s.m.ix.Words[e+w] != 0 {
			which = w
		}
	}
	s.m.ix.Words[at] = which
}

// WireIn returns the wire bytes of s, a handle of type t, and whether they are in one piece. They
// alias the message until its next change or Release. WireIn completes the values that are being
// built in s.
func (s Struct) WireIn(t *schema.Type) ([]byte, bool) {
	s = s.orAbsent()
	if s.m.isEmpty() {
		return nil, false
	}
	s.m.closeAllUnlessSealed()
	return s.m.flat(s.entry(), t)
}

// AppendUnknown adds a field that d, the descriptor of s, does not have, or has with another type.
// Its wire bytes, which must be valid, are sent with the struct. In a union it does not become the
// field that is set.
func (s Struct) AppendUnknown(d *schema.Struct, id int16, v WireValue) {
	s.room(len(v.b))
	m, e := s.m, s.entry()
	m.openStruct(e)
	p, b := m.buf.Extend(wire.FieldHeader + len(v.b))
	wire.PutHeader(b, uint32(v.Type)<<16|uint32(uint16(id)))
	copy(b[wire.FieldHeader:], v.b)
	if d.IsUnion() {
		m.ix.AddExtra(m.ix.AllocRaw(index.ExtraWords), e, p, p+uint32(wire.FieldHeader+len(v.b)), m.ix.Words[m.ix.ArmWord(e)])
	}
}

// Clear removes everything from s, which d describes, including unknown fields and fields that
// came twice. Afterwards s lacks its required fields, which the caller must set.
func (s Struct) Clear(d *schema.Struct) {
	s.Changeable()
	m, e := s.m, s.entry()
	m.closeAll() // first, since it adds fields that are required or have a default
	for i := m.ix.Next(d, e, 0); i < len(d.Fields()); i = m.ix.Next(d, e, i+1) {
		s.Unset(d.Field(i))
	}
	if d.IsUnion() {
		if m.ix.Words[e+entry.Arm]&index.HasExtra != 0 {
			m.unsetExtra(e)
		}
		m.ix.Words[e+entry.Arm] = 0
		return
	}
	b, one := m.flat(e, d.Type())
	if !one {
		if !s.anyUnknown(d) {
			return
		}
		m.compact(false)
		if b, one = m.flat(e, d.Type()); !one {
			panic("nocopy: internal error: a compacted struct in pieces")
		}
	}
	from := m.ix.Words[e+entry.Start]
	for f := range parse.Fields(b) {
		m.buf.AddReplace(from+uint32(f.From), from+uint32(f.End))
	}
}

// Unset removes the field.
func (s Struct) Unset(f schema.Ref) {
	// Not changeable: compacting would complete the struct, adding defaults that are removed then
	s.writable()
	m, e := s.m, uint32(s.k)
	if m.ix.At(e, f) != 0 {
		m.buf.SetEmpty(m.replaceField(e, f))
		m.ix.Put(e, f, 0)
		m.removeShadows()
	}
}

// anyUnknown reports whether s has fields that d does not have.
func (s Struct) anyUnknown(d *schema.Struct) bool {
	for range s.Unknown(d) {
		return true
	}
	return false
}

// Unknown iterates over the fields of s that its descriptor d does not have, or has with another
// type. They come with their ids, are kept, and are sent with the struct. The values alias the
// message if the struct was not edited. A wire index is not among them.
func (s Struct) Unknown(d *schema.Struct) iter.Seq2[int16, WireValue] {
	return func(yield func(int16, WireValue) bool) {
		s := s.orAbsent()
		s.alive()
		if s.m.isEmpty() {
			return
		}
		if s.m.pending&byIndex != 0 && s.m.Index() != nil {
			return
		}
		s.m.closeAllUnlessSealed()
		r := s.m.rangeOf(s.entry(), someStruct, chain.Range{})
		b, one := r.Bytes()
		s.m.buf.Lend()
		if !one {
			b = r.AppendTo(nil)
		}
		for w := range parse.Fields(b) {
			f := d.Find(w.Header)
			if (f == nil || !parse.Takes(b, f.Type, w.At)) && w.Header != wireindex.Header &&
				!yield(int16(w.Header), WireValue{wire.Type(w.Header >> 16), b[w.At:w.End:w.End]}) {
				return
			}
		}
	}
}

// ContainerWire returns the wire bytes of a list, set or map: an alias if they are in one piece,
// else a copy; nil if it is absent. Values that are being built in it are completed.
func (s Struct) ContainerWire() []byte {
	s = s.orAbsent()
	s.alive()
	if s.m.isEmpty() {
		return nil
	}
	t := s.typ()
	if s.m.pending&byIndex != 0 && !s.m.fillByIndex(s.entry()) {
		return nil
	}
	s.m.closeAllUnlessSealed()
	s.m.buf.Lend()
	return slices.Clip(s.m.wire(s.entry(), t))
}

// CarriesIndex reports whether the finished message of s has a wire index in a field of its root.
// When other fields are added for sending, the index must be left out.
func (s Struct) CarriesIndex() bool {
	return s.m != nil && s.m.pending&(carriesIndex|placedIndex) != 0
}

// FindField finishes the message of s, its root, and returns the value of the first field with
// this id, and whether there is one. It allocates nothing, however many such fields there are.
func (s Struct) FindField(id int16) (first WireValue, ok bool) {
	first = s.findField(id, nil)
	return first, first.Type != wire.Stop
}

// AddOpen adds the wire bytes of the message of s to a batch, without the parts in cuts and
// without the STOP; fields and a STOP may follow. The message must be finished. It must be neither
// changed nor released before the batch is written.
func (s Struct) AddOpen(b *chain.Batch, cuts []Cut) {
	m := s.m
	end, off, from := m.buf.Len()-1, 0, 0 // of the STOP, of mem, and of the next byte to add
	m.buf.Pieces(func(_ chain.Pos, mem []byte) bool {
		for n := min(off+len(mem), end); from < n; {
			to := n
			if len(cuts) > 0 {
				to = min(n, cuts[0].From)
			}
			if from < to {
				b.AddBytes(mem[from-off : to-off])
			}
			if from = to; len(cuts) > 0 && from == cuts[0].From {
				from, cuts = cuts[0].To, cuts[1:]
			}
		}
		off += len(mem)
		return true
	})
}

// HasType reports whether data is exactly one value of type t.
func HasType(t wire.Type, data []byte) bool {
	if wire.MinSize[t] == 0 {
		return false
	}
	n, err := parse.Skip(data, 0, t, parse.BudgetOf(parse.MaxDepth), 1)
	return err == nil && n == len(data)
}

// ValueOfWire returns the value of type t with these wire bytes, and refers to them.
func ValueOfWire(t wire.Type, data []byte) WireValue {
	return WireValue{t, data[:len(data):len(data)]}
}
