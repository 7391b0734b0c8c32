package nocopy

import (
	"encoding/binary"
	"iter"
	"math"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// Value holds the wire bytes of a value: of a field that the IDL does not know, or of a value that
// Peek found. It aliases the message. Methods that read another type than the value's return zero.
type Value struct {
	Type WireType // 0 if there is no value
	b    []byte
}

// Raw returns the value's wire bytes. They alias the message.
func (v Value) Raw() []byte { return v.b }

func (v Value) fixed(t WireType) []byte {
	if v.Type == t && len(v.b) >= int(wire.FixedSize[t]) {
		return v.b
	}
	return zero[:]
}

var zero [16]byte

// Bool returns a bool.
func (v Value) Bool() bool { return v.fixed(WireBool)[0] != 0 }

// Int8 returns an i8.
func (v Value) Int8() int8 { return int8(v.fixed(WireI8)[0]) }

// Int16 returns an i16.
func (v Value) Int16() int16 { return int16(binary.BigEndian.Uint16(v.fixed(WireI16))) }

// Int32 returns an i32 or enum.
func (v Value) Int32() int32 { return int32(wire.BE32(v.fixed(WireI32))) }

// Int64 returns an i64.
func (v Value) Int64() int64 { return int64(wire.BE64(v.fixed(WireI64))) }

// Float64 returns a double.
func (v Value) Float64() float64 { return math.Float64frombits(wire.BE64(v.fixed(WireDouble))) }

// UUID returns a uuid.
func (v Value) UUID() UUID { return UUID(v.fixed(WireUUID)[:16]) }

// Bytes returns a binary. It aliases the message.
func (v Value) Bytes() []byte {
	if v.Type != WireString || len(v.b) < wire.TextHeader {
		return nil
	}
	return v.b[wire.TextHeader:]
}

// Text returns a string. It aliases the message.
func (v Value) Text() string { return chain.String(v.Bytes()) }

// Len returns the number of elements of a list or set, or of pairs of a map.
func (v Value) Len() int {
	switch {
	case (v.Type == WireList || v.Type == WireSet) && len(v.b) >= wire.ListHeader:
		return int(wire.BE32(v.b[1:]))
	case v.Type == WireMap && len(v.b) >= wire.MapHeader:
		return int(wire.BE32(v.b[2:]))
	}
	return 0
}

// Unknown iterates over the fields of s that its descriptor d does not have, or has with another
// type. They come with their ids, are kept, and are sent with the struct. The values alias the
// message if the struct was not edited. A wire index is not among them.
func (s XStruct) Unknown(d *XDesc) iter.Seq2[int16, Value] {
	return func(yield func(int16, Value) bool) {
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
				if !yield(int16(key), Value{t, b[at:end:end]}) {
					return
				}
			}
			i = end
		}
	}
}
