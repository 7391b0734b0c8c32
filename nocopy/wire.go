package nocopy

import (
	"encoding/binary"
	"math"

	"github.com/nocopythrift/nocopythrift/internal/entry"
)

// WireType is the type code in the header of a field, list, set or map.
type WireType uint8

// The wire types of Thrift Binary, with the numbers of its specification. On the wire, enums are
// i32 and binaries are strings.
const (
	WireStop   WireType = 0
	WireBool   WireType = 2
	WireI8     WireType = 3
	WireDouble WireType = 4
	WireI16    WireType = 6
	WireI32    WireType = 8
	WireI64    WireType = 10
	WireString WireType = 11
	WireStruct WireType = 12
	WireMap    WireType = 13
	WireSet    WireType = 14
	WireList   WireType = 15
	WireUUID   WireType = 16
)

var wireNames = [...]string{WireStop: "stop", WireBool: "bool", WireI8: "i8", WireDouble: "double", WireI16: "i16", WireI32: "i32", WireI64: "i64",
	WireString: "string", WireStruct: "struct", WireMap: "map", WireSet: "set", WireList: "list", WireUUID: "uuid"}

// String returns the IDL's name of the type.
func (t WireType) String() string {
	if int(t) < len(wireNames) && wireNames[t] != "" {
		return wireNames[t]
	}
	return "unknown type " + itoa(int(t))
}

// fixedSize is the size in bytes of values of a wire type that has only one size, 0 for the
// others.
var fixedSize = [256]uint8{WireBool: 1, WireI8: 1, WireDouble: 8, WireI16: 2, WireI32: 4, WireI64: 8, WireUUID: 16}

// minSize is the least number of bytes that a value of the wire type takes, 0 for codes that are
// no type.
var minSize = [256]uint8{WireBool: 1, WireI8: 1, WireDouble: 8, WireI16: 2, WireI32: 4, WireI64: 8, WireUUID: 16,
	WireString: 4, WireStruct: 1, WireMap: mapHeader, WireSet: listHeader, WireList: listHeader}

const (
	fieldHeader = 3 // type, id
	textHeader  = 4 // length
	listHeader  = 5 // element type, count
	mapHeader   = 6 // key type, value type, count
)

// For generated code. XField is one constant for a field of a struct: its wire type and id, its
// word in the struct's entry, and the number of words of that entry. Package entry has the layout.
type XField uint64

func (f XField) word() uint32   { return uint32(f >> entry.WordShift) }
func (f XField) words() uint32  { return uint32(f>>entry.WordsShift) & math.MaxUint16 }
func (f XField) wire() WireType { return WireType(f >> entry.WireShift) }

// header returns the field header: wire type and id, as a big-endian number of 24 bits.
func (f XField) header() uint32 { return uint32(f) & 0xffffff }

// putHeader stores a field header.
func putHeader(b []byte, header uint32) {
	_ = b[2]
	b[0], b[1], b[2] = byte(header>>16), byte(header>>8), byte(header)
}

func be32(b []byte) uint32       { return binary.BigEndian.Uint32(b) }
func be64(b []byte) uint64       { return binary.BigEndian.Uint64(b) }
func putBE32(b []byte, v uint32) { binary.BigEndian.PutUint32(b, v) }
