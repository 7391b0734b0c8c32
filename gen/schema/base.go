package schema

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// All code that depends on base types is in this file. A new base type needs a Kind, a line in
// kinds, a name, and a case in evalScalar and in appendScalar.

// Kind is the kind of a type without typedefs.
type Kind uint8

// The kinds of type.
const (
	Bool Kind = iota + 1
	I8
	I16
	I32
	I64
	Double
	String
	Binary
	UUID
	EnumKind
	StructKind // struct, union or exception
	List
	SetKind
	Map
)

// kinds describes the kinds: the names of base types, and the wire formats.
var kinds = [...]struct {
	name  string
	wire  uint8 // the wire type
	least int   // size of the zero value in bytes
	fixed bool  // all values have that size
}{
	Bool: {"bool", 2, 1, true}, I8: {"i8", 3, 1, true}, I16: {"i16", 6, 2, true}, I32: {"i32", 8, 4, true}, I64: {"i64", 10, 8, true},
	Double: {"double", 4, 8, true}, String: {"string", 11, 4, false}, Binary: {"binary", 11, 4, false}, UUID: {"uuid", 16, 16, true},
	EnumKind: {"", 8, 4, true}, StructKind: {"", 12, 1, false}, List: {"", 15, 5, false}, SetKind: {"", 14, 5, false}, Map: {"", 13, 6, false},
}

// baseTypes holds the types whose names are keywords.
var baseTypes = map[string]*Type{
	"bool": {Kind: Bool}, "byte": {Kind: I8}, "i8": {Kind: I8}, "i16": {Kind: I16}, "i32": {Kind: I32},
	"i64": {Kind: I64}, "double": {Kind: Double}, "string": {Kind: String}, "binary": {Kind: Binary},
}

// youngTypes holds the base types whose names are not keywords, because older files may use the
// names for types of their own.
var youngTypes = map[string]*Type{"uuid": {Kind: UUID}}

// WireType returns the type's wire type in Thrift Binary.
func (t *Type) WireType() uint8 { return kinds[t.Kind].wire }

// fixedSize reports whether all values of the type have the same size on the wire.
func (t *Type) fixedSize() bool { return kinds[t.Kind].fixed }

// LeastSize returns the size in bytes of the type's zero value. The type must not be a struct.
func (t *Type) LeastSize() int { return kinds[t.Kind].least }

// zero returns the zero value of a type of fixed size.
func zero(t *Type) *Value {
	v := &Value{Type: t}
	if t.Kind == UUID {
		v.Text = string(make([]byte, t.LeastSize()))
	}
	return v
}

// appendScalar appends the wire bytes of a value that is neither a struct nor a container.
func appendScalar(b []byte, v *Value) []byte {
	switch v.Type.Kind {
	case Bool, I8:
		return append(b, byte(v.Int))
	case I16:
		return binary.BigEndian.AppendUint16(b, uint16(v.Int))
	case I32, EnumKind:
		return binary.BigEndian.AppendUint32(b, uint32(v.Int))
	case I64:
		return binary.BigEndian.AppendUint64(b, uint64(v.Int))
	case Double:
		return binary.BigEndian.AppendUint64(b, math.Float64bits(v.Double))
	case String, Binary:
		b = binary.BigEndian.AppendUint32(b, uint32(len(v.Text)))
	}
	return append(b, v.Text...)
}

// evalScalar returns v as a value of type t, which is neither a struct nor a container. If v is no
// such value, it adds an error and returns nil.
func (c *checker) evalScalar(in evalContext, t *Type, v *idl.Value) *Value {
	out := &Value{Type: t}
	n, isInt := integer(v)
	switch t.Kind {
	case Bool:
		if isInt {
			out.Int = b2i(n > 0)
			return out
		}
	case I8, I16, I32, I64:
		if isInt {
			if !fits(n, t.Kind) {
				c.errs.Add(in.errorPos(v), "%d does not fit in %s", n, t)
				return nil
			}
			out.Int = n
			return out
		}
	case Double:
		if isInt {
			out.Double = float64(n)
			return out
		}
		if v.Double != nil {
			out.Double = float64(*v.Double)
			return out
		}
	case String, Binary:
		if v.Text != nil {
			out.Text = string(*v.Text)
			return out
		}
	case UUID:
		if v.Text != nil {
			return c.evalUUID(in, t, v)
		}
	case EnumKind:
		if isInt {
			if t.Enum.has(n) {
				out.Int = n
				return out
			}
			c.errs.Add(in.errorPos(v), "enum %s has no value %d", t.nameIn(in.errorPos(v)), n)
			return nil
		}
	}
	return c.mismatch(in, t, v)
}

// evalUUID returns v, a string, as a uuid. If v is not a uuid, it adds an error and returns nil.
func (c *checker) evalUUID(in evalContext, t *Type, v *idl.Value) *Value {
	text := string(*v.Text)
	if len(text) == 38 && text[0] == '{' && text[37] == '}' {
		text = text[1:37]
	}
	if len(text) == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-' {
		if raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", "")); err == nil && len(raw) == 16 {
			return &Value{Type: t, Text: string(raw)}
		}
	}
	c.errs.Add(in.errorPos(v), "%q is not a uuid", string(*v.Text))
	return nil
}
