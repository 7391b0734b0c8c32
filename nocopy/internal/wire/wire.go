package wire

import "strconv"

// Type is the type code in the header of a field, list, set or map.
type Type uint8

// The wire types of Thrift Binary, with the numbers of its specification. On the wire, enums are
// i32 and binaries are strings.
const (
	Stop   Type = 0
	Bool   Type = 2
	I8     Type = 3
	Double Type = 4
	I16    Type = 6
	I32    Type = 8
	I64    Type = 10
	String Type = 11
	Struct Type = 12
	Map    Type = 13
	Set    Type = 14
	List   Type = 15
	UUID   Type = 16
)

var names = [...]string{Stop: "stop", Bool: "bool", I8: "i8", Double: "double", I16: "i16", I32: "i32", I64: "i64",
	String: "string", Struct: "struct", Map: "map", Set: "set", List: "list", UUID: "uuid"}

// String returns the IDL's name of the type.
func (t Type) String() string {
	if int(t) < len(names) && names[t] != "" {
		return names[t]
	}
	return "unknown type " + strconv.Itoa(int(t))
}

// FixedSize is the size in bytes of values of each fixed-size wire type, 0 for other types.
var FixedSize = [256]uint8{Bool: 1, I8: 1, Double: 8, I16: 2, I32: 4, I64: 8, UUID: 16}

// MinSize is the smallest size in bytes of a value of each wire type, 0 for codes that are not a
// type.
var MinSize = [256]uint8{Bool: 1, I8: 1, Double: 8, I16: 2, I32: 4, I64: 8, UUID: 16,
	String: 4, Struct: 1, Map: MapHeader, Set: ListHeader, List: ListHeader}

// Sizes of the headers of fields and of values without a fixed size, in bytes.
const (
	FieldHeader = 3 // type, id
	TextHeader  = 4 // length
	ListHeader  = 5 // element type, count
	MapHeader   = 6 // key type, value type, count
)
