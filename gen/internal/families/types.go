package main

import (
	"fmt"
	"strings"
)

// tables is what templates get.
type tables struct {
	Bases      []base
	Containers []container
}

// base is a base type, or the enums.
type base struct {
	Name string // in names of functions, such as SetInt16 and Int16List
	Go   string // the Go type; of enums, the type parameter
	IDL  string // the IDL's name, as in "a list of i16"
	A    string // a field of that type, as in "sets an i16 field"
	Zero string // what an unset field reads as
	Wire string // the end of the names of its WireType and Type
	Size int    // bytes on the wire
	// From and To convert unsigned integers of this size to values and back; @ stands for the
	// operand. Of a uuid, From converts a slice of 16 bytes.
	From, To string
	// Via is the base type of the same size, with the Go type ViaGo, by whose methods some of this
	// type's work, so that the compiler inlines them.
	Via, ViaGo string
	// All says that functions of package byteorder convert whole lists.
	All bool
}

// basesFor returns the base types for a package: uuid is its Go type of uuids, and boolByte its
// function that returns the byte of a bool.
func basesFor(uuid, boolByte string) []base {
	return []base{
		{Name: "Bool", Go: "bool", IDL: "bool", A: "a bool", Zero: "false", Wire: "Bool", Size: 1, From: "@ != 0", To: boolByte + "(@)", Via: "Int8", ViaGo: "int8"},
		{Name: "Int8", Go: "int8", IDL: "i8", A: "an i8", Zero: "0", Wire: "I8", Size: 1, From: "int8(@)", To: "byte(@)", All: true},
		{Name: "Int16", Go: "int16", IDL: "i16", A: "an i16", Zero: "0", Wire: "I16", Size: 2, From: "int16(@)", To: "uint16(@)", All: true},
		{Name: "Int32", Go: "int32", IDL: "i32", A: "an i32 or enum", Zero: "0", Wire: "I32", Size: 4, From: "int32(@)", To: "uint32(@)", All: true},
		{Name: "Int64", Go: "int64", IDL: "i64", A: "an i64", Zero: "0", Wire: "I64", Size: 8, From: "int64(@)", To: "uint64(@)", All: true},
		{Name: "Float64", Go: "float64", IDL: "double", A: "a double", Zero: "0", Wire: "Double", Size: 8,
			From: "math.Float64frombits(@)", To: "math.Float64bits(@)", Via: "Int64", ViaGo: "int64", All: true},
		{Name: "UUID", Go: uuid, IDL: "uuid", A: "a uuid", Zero: "zeros", Wire: "UUID", Size: 16, From: uuid + "(@)"},
		{Name: "Enum", Go: "E", IDL: "an enum", Wire: "I32", Size: 4, From: "E(@)", To: "uint32(@)", All: true},
	}
}

// IsEnum reports whether b stands for the enums, which have a type parameter.
func (b base) IsEnum() bool { return b.Go == "E" }

// IsUUID reports whether b is uuid, whose values are slices or arrays of bytes.
func (b base) IsUUID() bool { return b.Size == 16 }

// Of returns the expression that makes a value of an unsigned integer or, of a uuid, of 16 bytes.
func (b base) Of(bits string) string { return strings.ReplaceAll(b.From, "@", bits) }

// Number returns the expression that makes an unsigned integer of a value.
func (b base) Number(value string) string { return strings.ReplaceAll(b.To, "@", value) }

// Bits returns the number of bits on the wire.
func (b base) Bits() int { return 8 * b.Size }

// Load returns the expression that loads a value from the beginning of a slice of bytes.
func (b base) Load(bytes string) string {
	switch b.Size {
	case 1:
		return b.Of(bytes + "[0]")
	case 16:
		return b.Of(bytes + "[:16]")
	}
	return b.Of(fmt.Sprintf("binary.BigEndian.Uint%d(%s)", b.Bits(), bytes))
}

// Store returns the statement that stores a value at the beginning of a slice of bytes.
func (b base) Store(bytes, value string) string {
	switch b.Size {
	case 1:
		return bytes + "[0] = " + b.Number(value)
	case 16:
		return "copy(" + bytes + ", " + value + "[:])"
	}
	return fmt.Sprintf("binary.BigEndian.PutUint%d(%s, %s)", b.Bits(), bytes, b.Number(value))
}

// Read returns the expression by which a plain.Reader reads a value at an offset.
func (b base) Read(at string) string {
	switch b.Size {
	case 1:
		return b.Of("r.b[" + at + "]")
	case 16:
		return b.Of("r.b[" + at + ":]")
	}
	return b.Of(fmt.Sprintf("r.load%d(%s)", b.Bits(), at))
}

// Slice returns the name of many values in names of functions.
func (b base) Slice() string { return b.Name + "s" }

// Bulk returns the name of many values in functions of package byteorder.
func (b base) Bulk() string {
	if b.IsEnum() {
		return "Int32s"
	}
	return b.Slice()
}

// Type returns the type of lists.
func (b base) Type() string { return b.List().Type }

// List returns the lists of these elements.
func (b base) List() container {
	c := container{Name: b.Name + "List", Type: b.Name + "List", Elem: b.Go, Fixed: true}
	if b.IsEnum() {
		c.Type += "[E]"
	}
	return c
}

// At returns the expression for element i of list l.
func (b base) At() string {
	if b.IsEnum() {
		return "E(engine.Struct(l).Int32At(i))"
	}
	return "engine.Struct(l)." + b.Name + "At(i)"
}

// Param returns the type parameter of functions of the engine, which knows the Go types neither of
// enums nor of uuids.
func (b base) Param() string {
	switch {
	case b.IsEnum():
		return "E"
	case b.IsUUID():
		return "U"
	}
	return ""
}

// Declared returns the list of type parameters of a type of the engine.
func (b base) Declared() string {
	switch {
	case b.IsEnum():
		return "[E ~int32]"
	case b.IsUUID():
		return "[U ~[16]byte]"
	}
	return ""
}

// container is a type of lists or maps.
type container struct {
	Name, Type string // without and with type parameters
	Elem       string // the Go type of elements
	Views      bool   // elements or values are structs or containers
	Each       string // the expression by which All gets element i, if it has the usual loop
	Sorted     string // the function of the engine by which SortFunc gets elements
	Codec      string // of the values of a map with type parameters
	IsMap      bool
	Fixed      bool // elements have a fixed size
}

// Receiver returns the name of receivers.
func (c container) Receiver() string {
	if c.IsMap {
		return "p"
	}
	return "l"
}

// containers are all of them, except lists of base types.
var containers = []container{
	{Name: "StringList", Type: "StringList", Elem: "string", Each: "engine.Struct(l).TextOf(i)", Sorted: "(*engine.Message).TextString"},
	{Name: "BytesList", Type: "BytesList", Elem: "[]byte", Each: "l.At(i)", Sorted: "(*engine.Message).LentBytes"},
	{Name: "StructList", Type: "StructList[S]", Elem: "S", Views: true, Sorted: "engine.HandleOf[S]"},
	{Name: "NestedList", Type: "NestedList[C]", Elem: "C", Each: "l.At(i)", Views: true, Sorted: "engine.HandleOf[C]"},
	{Name: "StringMap", Type: "StringMap", IsMap: true},
	{Name: "Map", Type: "Map[K, V, KC, VC]", IsMap: true, Codec: "VC"},
	{Name: "StructMap", Type: "StructMap[K, V, KC]", IsMap: true, Views: true, Codec: "engine.AsView[V]"},
	{Name: "NestedMap", Type: "NestedMap[K, V, KC]", IsMap: true, Views: true, Codec: "engine.AsView[V]"},
}
