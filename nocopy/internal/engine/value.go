package engine

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// Value holds the wire bytes of a value: of a field that the IDL does not know, or of a value that
// Peek found. It aliases the message. Methods that read another type than the value's return zero.
type WireValue struct {
	Type WireType // 0 if there is no value
	b    []byte
}

// Raw returns the value's wire bytes. They alias the message.
func (v WireValue) Raw() []byte { return v.b }

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
		for i := 0; ; {
			key := wire.HeaderIn(wire.LoadHeader(b, i))
			t := WireType(key >> 16)
			if t == WireStop {
				return
			}
			at := i + wire.FieldHeader
			end, err := skip(b, at, t, maxBudget, 1)
			if err != nil {
				panic("nocopy: internal error: " + err.Error())
			}
			if f := d.Find(key); (f == nil || !fits(b, f.Type, at)) && key != wireindex.Header {
				if !yield(int16(key), WireValue{t, b[at:end:end]}) {
					return
				}
			}
			i = end
		}
	}
}

// WireType is the type code in the header of a field, list, set or map.
type WireType = wire.Type

// The wire types by the names that package nocopy has for them.
const (
	WireStop   WireType = wire.Stop
	WireBool   WireType = wire.Bool
	WireI8     WireType = wire.I8
	WireDouble WireType = wire.Double
	WireI16    WireType = wire.I16
	WireI32    WireType = wire.I32
	WireI64    WireType = wire.I64
	WireString WireType = wire.String
	WireStruct WireType = wire.Struct
	WireMap    WireType = wire.Map
	WireSet    WireType = wire.Set
	WireList   WireType = wire.List
	WireUUID   WireType = wire.UUID
)
