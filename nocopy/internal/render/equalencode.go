package render

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// The encoding of a value is bytes that two values of the same type share if and only if they are
// equal by the options of a comparison: sets and maps, which have no order to compare them in, are
// sorted in it. A double that equals nothing is noted in c.unequal.

// encode appends the encoding of v, a value of type u, to dst. t is the same type as u; the
// encoding has its fields in the order of t.
func (c *comparison) encode(dst []byte, t, u *schema.Type, v engine.Value) []byte {
	switch t.Wire() {
	case wire.Double:
		x := v.Float()
		switch {
		case math.IsNaN(x):
			c.unequal = c.unequal || c.opt&EquateNaNs == 0
			x = math.NaN()
		case x == 0:
			x = 0 // not −0
		}
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(x))
	case wire.String:
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(v.Bytes())))
		return append(dst, v.Bytes()...)
	case wire.Struct, wire.List, wire.Set, wire.Map:
		return c.handle(dst, t, u, v.Struct())
	}
	return append(binary.BigEndian.AppendUint64(dst, uint64(v.Int())), v.Bytes()...)
}

// handle appends the encoding of a struct, list, set or map. The other methods append the same of
// one of these.
func (c *comparison) handle(dst []byte, t, u *schema.Type, s engine.Struct) []byte {
	c.enter()
	defer func() { c.depth-- }()
	s.WireIn(u) // completes it
	switch t.Wire() {
	case wire.Struct:
		return c.structure(dst, t.Struct(), u.Struct(), s)
	case wire.List:
		dst = binary.BigEndian.AppendUint32(dst, uint32(s.Count()))
		for i := range s.Count() {
			dst = c.encode(dst, t.Elem(), u.Elem(), s.Element(i))
		}
		return dst
	}
	p := encodedPairs{all: make([]pair, 0, s.Count())}
	if t.Wire() == wire.Set {
		for i := range s.Count() {
			p.add(c.encode(p.mem, t.Elem(), u.Elem(), s.Element(i)), engine.Value{})
		}
	} else {
		for k, v := range s.Pairs() {
			p.add(c.key(p.mem, t.Key(), u.Key(), k), v)
		}
	}
	p.sort()
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(p.all)))
	for _, pair := range p.all {
		dst = append(dst, p.mem[pair.from:pair.to]...)
		if t.Wire() == wire.Map {
			dst = c.encode(dst, t.Elem(), u.Elem(), pair.value)
		}
	}
	return dst
}

// The bytes before each part of a struct's encoding.
const (
	encodedEnd = iota
	encodedField
	encodedUnknown
)

func (c *comparison) structure(dst []byte, d, e *schema.Struct, s engine.Struct) []byte {
	next := s
	if d != e {
		next = engine.Struct{}
	}
	for i := next.NextField(d, 0); i < d.NumFields(); i = next.NextField(d, i+1) {
		v, set := fieldOf(d, e, i, s)
		if !set {
			continue
		}
		before := len(dst)
		dst = binary.BigEndian.AppendUint16(append(dst, encodedField), uint16(d.FieldDesc(i).ID))
		start := len(dst)
		dst = c.encode(dst, d.FieldDesc(i).Type, v.Type(), v)
		if c.opt&EquateDefaults != 0 && !d.IsUnion() && c.isDefault(d, i, dst[start:]) {
			dst = dst[:before]
		}
	}
	return append(c.unknown(dst, e, s), encodedEnd)
}

// unknown appends the fields that the IDL does not know, in the order of their ids. Fields with
// the same id keep their order.
func (c *comparison) unknown(dst []byte, d *schema.Struct, s engine.Struct) []byte {
	if c.opt&IgnoreUnknown != 0 {
		return dst
	}
	type field struct {
		id    int16
		value engine.WireValue
	}
	var all []field
	for id, v := range s.Unknown(d) {
		all = append(all, field{id, v})
	}
	slices.SortStableFunc(all, func(a, b field) int { return int(a.id) - int(b.id) })
	for _, f := range all {
		raw := f.value.Raw()
		dst = binary.BigEndian.AppendUint16(append(dst, encodedUnknown), uint16(f.id))
		dst = binary.BigEndian.AppendUint32(append(dst, byte(f.value.Type)), uint32(len(raw)))
		dst = append(dst, raw...)
	}
	return dst
}

// isDefault reports whether encoded is the encoding of the value that field i of d reads as when
// it is unset. While that value is being encoded, nothing in it equals it: the same field may be
// nested in it.
func (c *comparison) isDefault(d *schema.Struct, i int, encoded []byte) bool {
	f := d.FieldDesc(i)
	zero, known := c.zeros[f]
	if !known {
		if c.zeros == nil {
			c.zeros = map[*schema.FieldDesc][]byte{}
		}
		c.zeros[f] = nil
		unequal := c.unequal
		zero = c.encode([]byte{}, f.Type, f.Type, engine.Struct{}.Value(d.Field(i), d))
		c.unequal = unequal
		c.zeros[f] = zero
	}
	return zero != nil && bytes.Equal(encoded, zero)
}

// encodedPairs are the pairs of a map, by the encodings of their keys, each once; or the elements
// of a set.
type encodedPairs struct {
	mem []byte // the keys
	all []pair
}

// pair is one of encodedPairs: where its key is, and its value.
type pair struct {
	from, to int
	value    engine.Value
}

// add adds a pair. mem is p.mem with the encoding of the key appended.
func (p *encodedPairs) add(mem []byte, value engine.Value) {
	p.all = append(p.all, pair{len(p.mem), len(mem), value})
	p.mem = mem
}

// sort sorts the pairs by their keys. Only the last pair with the same key is kept.
func (p *encodedPairs) sort() {
	byKey := func(a, b pair) int { return bytes.Compare(p.mem[a.from:a.to], p.mem[b.from:b.to]) }
	latest := func(a, b pair) int { // the last one of the same key comes first
		if n := byKey(a, b); n != 0 {
			return n
		}
		return b.from - a.from
	}
	if !slices.IsSortedFunc(p.all, latest) {
		slices.SortFunc(p.all, latest)
	}
	p.all = slices.CompactFunc(p.all, func(a, b pair) bool { return byKey(a, b) == 0 })
}

// key appends the encoding of a map's key. As keys 0 and −0 are different, as for peers.
func (c *comparison) key(dst []byte, t, u *schema.Type, k engine.Value) []byte {
	if t.Wire() == wire.Double && k.Float() == 0 {
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(k.Float()))
	}
	return c.encode(dst, t, u, k)
}
