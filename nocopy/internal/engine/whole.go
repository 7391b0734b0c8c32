package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// WireIn returns the wire bytes of s, a handle of type t, and whether they are in one piece. They
// alias the message until its next change or Release. WireIn completes the values that are being
// built in s.
func (s Struct) WireIn(t *schema.Type) ([]byte, bool) {
	s = s.orAbsent()
	if s.m.isEmpty() {
		return nil, false
	}
	s.m.closeAllUnlessSealed()
	from, to := s.m.extent(s.entry(), t)
	return s.m.buf.Flat(from, to, s.m.editOf(s.entry()).valueNode)
}

// AppendWire appends a copy of the wire bytes of v to dst. An absent struct or container gives the
// bytes of an empty one. AppendWire completes the values that are being built in it.
func (v Value) AppendWire(dst []byte) []byte {
	switch t := v.typ; {
	case t.Kind() == schema.Text:
		return append(wire.AppendBE32(dst, uint32(len(v.text))), v.text...)
	case t.Kind() >= schema.Record:
		s := v.s.orAbsent()
		if s.m.isEmpty() {
			return schema.AppendZero(dst, t)
		}
		s.m.closeAllUnlessSealed()
		if b, ok := s.m.withoutIndex(s.entry(), t); ok {
			return append(dst, b...)
		}
		return s.m.rangeOf(s.entry(), t, chain.Range{}).AppendTo(dst)
	default:
		b := v.encoded()
		return append(dst, b.fixed[:t.Size()]...)
	}
}

// AppendUnknown adds a field that d, the descriptor of s, does not have, or has with another type.
// Its wire bytes, which must be valid, are sent with the struct. In a union it does not become the
// field that is set.
func (s Struct) AppendUnknown(d *schema.Struct, id int16, v WireValue) {
	s.changeableBy(len(v.b))
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
	from, to := m.extent(e, d.Type())
	b, one := m.buf.Flat(from, to, m.editOf(e).valueNode)
	if !one {
		if !s.anyUnknown(d) {
			return
		}
		m.compact()
		from, to = m.extent(e, d.Type())
		if b, one = m.buf.Flat(from, to, m.editOf(e).valueNode); !one {
			panic("nocopy: internal error: a compacted struct in pieces")
		}
	}
	for i := 0; ; {
		key := wire.HeaderIn(wire.LoadHeader(b, i))
		t := wire.Type(key >> 16)
		if t == wire.Stop {
			return
		}
		end, err := parse.Skip(b, i+wire.FieldHeader, t, parse.MaxBudget, 1)
		if err != nil {
			panic("nocopy: internal error: " + err.Error())
		}
		m.buf.AddReplace(from+uint32(i), from+uint32(end))
		i = end
	}
}

// anyUnknown reports whether s has fields that d does not have.
func (s Struct) anyUnknown(d *schema.Struct) bool {
	for range s.Unknown(d) {
		return true
	}
	return false
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
	if b, ok := s.WireIn(t); ok {
		s.m.buf.Lend()
		return b[:len(b):len(b)]
	}
	return s.m.rangeOf(s.entry(), t, chain.Range{}).AppendTo(nil)
}
