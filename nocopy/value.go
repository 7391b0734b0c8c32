package nocopy

import (
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Value holds the wire bytes of a value: of a field that the IDL does not know, or of a value that
// Peek found. It aliases the message. Methods that read another type than the value's return zero.
// Its field Type, a WireType, is the value's type, or 0 if there is no value.
type Value engine.WireValue

// Raw returns the value's wire bytes. They alias the message.
func (v Value) Raw() []byte { return engine.WireValue(v).Raw() }

func (v Value) fixed(t WireType) []byte {
	if v.Type == t && len(v.Raw()) >= int(wire.FixedSize[t]) {
		return v.Raw()
	}
	return zero[:]
}

var zero [16]byte

// Bytes returns a binary. It aliases the message.
func (v Value) Bytes() []byte {
	if v.Type != WireString || len(v.Raw()) < wire.TextHeader {
		return nil
	}
	return v.Raw()[wire.TextHeader:]
}

// Text returns a string. It aliases the message.
func (v Value) Text() string { return memory.String(v.Bytes()) }

// Len returns the number of elements of a list or set, or of pairs of a map.
func (v Value) Len() int {
	switch {
	case (v.Type == WireList || v.Type == WireSet) && len(v.Raw()) >= wire.ListHeader:
		return int(wire.BE32(v.Raw()[1:]))
	case v.Type == WireMap && len(v.Raw()) >= wire.MapHeader:
		return int(wire.BE32(v.Raw()[2:]))
	}
	return 0
}

// Peek finds one value in the wire bytes of a struct without making a message. The path consists
// of field ids and, in a list or set, the index of an element. Peek looks at no more bytes than
// needed; bytes after the value are not checked. If a field comes twice, the first one counts. The
// value aliases b. The error is an *Error, with ErrNotFound if there is no such field or element,
// and ErrLimit if the value ends beyond 2 GiB. Its Path has the part of the path that was
// followed, such as "3.0.1".
func Peek(b []byte, path ...int) (Value, error) {
	v, err := engine.Peek(b, path...)
	return Value(v), err
}

// PeekAll finds several values in one pass over the wire bytes of a struct, without making a
// message. It appends them to dst in the order of the paths: each is the value that Peek finds, or
// the zero Value, whose Type is 0, if there is no such field or element. A dst with enough
// capacity spares an allocation.
//
// d is the descriptor of the struct, such as order.OrderDesc, or nil. PeekAll uses it to skip
// values faster, whether or not the bytes are of that type. It compares the fields and
// elements on its way with all paths: for hundreds of paths, parsing is faster. PeekAll looks at
// no more bytes than needed; bytes after the last value are not checked. The values alias b. The
// error is an *Error; in that case dst is returned as it was.
func PeekAll(dst []Value, d *Desc, b []byte, paths ...[]int) ([]Value, error) {
	var few [4]parse.Sought
	sought := few[:]
	if len(paths) > len(few) {
		sought = make([]parse.Sought, len(paths))
	}
	if err := parse.PeekAll(d, b, paths, sought); err != nil {
		return dst, err
	}
	for i := range paths {
		dst = append(dst, Value(engine.ValueOfWire(sought[i].Value(b))))
	}
	return dst, nil
}

// WireType is the type code in the header of a field, list, set or map. Its method String returns
// the IDL's name of the type.
type WireType = wire.Type

// The wire types of Thrift Binary, with the numbers of its specification. On the wire, enums are
// i32 and binaries are strings.
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
