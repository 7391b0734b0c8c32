// Package compact converts Thrift's compact protocol to Thrift Binary and back. It works on the
// bytes of one struct. It knows nothing of messages, or of the source of the bytes.
//
// In the compact protocol a struct is a sequence of fields that ends with a zero byte:
//
//	field   1 byte: delta<<4 | type, where delta (1 to 15) is added to the id of the field before;
//	        or 1 byte: type, and then the id as a number
//	bool    as a field it is its type: 1 is true, 2 is false
//	number  i16, i32 and i64 are zigzag varints of at most 10 bytes; i8 is a byte
//	double  8 bytes, little-endian, as Apache's libraries write it
//	text    its length as a varint, then its bytes
//	uuid    16 bytes
//	list    1 byte: count<<4 | type for up to 14 elements;
//	set     or 1 byte: 0xf0 | type, and then the count as a varint
//	map     its count as a varint, and, unless that is 0, 1 byte: key type<<4 | value type
//
// A bool that is an element is a byte: 1 is true, anything else is false. False is written as 2,
// and the type of bool elements as 1.
//
// A [Reader] makes Thrift Binary. It can stop at any byte of its input and continue when more
// bytes have arrived. It trusts no size in the input, and takes memory and time proportional to
// the bytes. One byte becomes at most 8 (a zero in a list of i64). A [Writer] makes the compact
// protocol. 2 bytes become at most 3.
package compact

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// The types of the compact protocol. 14 and 15 are no types.
const (
	stop    = 0
	isTrue  = 1
	isFalse = 2
	i8      = 3
	i16     = 4
	i32     = 5
	i64     = 6
	double  = 7
	text    = 8
	list    = 9
	set     = 10
	dict    = 11
	record  = 12
	uuid    = 13
)

// wireOf has the types of Thrift Binary by the types of the compact protocol.
var wireOf = [16]wire.Type{
	isTrue: wire.Bool, isFalse: wire.Bool, i8: wire.I8, i16: wire.I16, i32: wire.I32, i64: wire.I64, double: wire.Double, text: wire.String,
	list: wire.List, set: wire.Set, dict: wire.Map, record: wire.Struct, uuid: wire.UUID,
}

// compactOf has the types of the compact protocol by the types of Thrift Binary, 0 for numbers
// that are no type.
var compactOf = [256]byte{
	wire.Bool: isTrue, wire.I8: i8, wire.I16: i16, wire.I32: i32, wire.I64: i64, wire.Double: double, wire.String: text,
	wire.List: list, wire.Set: set, wire.Map: dict, wire.Struct: record, wire.UUID: uuid,
}

// isKind reports whether k is a type in the compact protocol.
func isKind(k byte) bool { return k < 16 && wireOf[k] != 0 }

// leastOf is the least number of bytes that a value takes in the compact protocol.
var leastOf = [16]int{
	isTrue: 1, isFalse: 1, i8: 1, i16: 1, i32: 1, i64: 1, double: 8, text: 1, list: 1, set: 1, dict: 1, record: 1, uuid: 16,
}

// sizeOf is the size of a value, or of the header of a container or text, in Thrift Binary.
var sizeOf = [256]uint8{
	wire.Bool: 1, wire.I8: 1, wire.Double: 8, wire.I16: 2, wire.I32: 4, wire.I64: 8, wire.UUID: 16,
	wire.String: 4, wire.Map: 6, wire.Set: 5, wire.List: 5,
}

// ofKind returns t if values of type kind may be of it, else nil. The type says what the compact
// protocol does not. It is nil of a value that nothing is known of.
func ofKind(t *schema.Type, kind byte) *schema.Type {
	if t == nil || t.Wire() != wireOf[kind] {
		return nil
	}
	return t
}
