package golang

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// scalar holds the names by which generated code uses a scalar type: method and
// plural are parts of method names, list, codec and desc belong to package nocopy.
type scalar struct {
	goType, method, plural string // int64, Int64 (SetInt64), Int64s (SetInt64s)
	list, codec, desc      string // nocopy.Int64List, impl.AsInt64, impl.TypeI64
	zero                   string
}

var scalars = map[schema.Kind]scalar{
	schema.Bool:   {"bool", "Bool", "Bools", "BoolList", "AsBool", "TypeBool", "false"},
	schema.I8:     {"int8", "Int8", "Int8s", "Int8List", "AsInt8", "TypeI8", "0"},
	schema.I16:    {"int16", "Int16", "Int16s", "Int16List", "AsInt16", "TypeI16", "0"},
	schema.I32:    {"int32", "Int32", "Int32s", "Int32List", "AsInt32", "TypeI32", "0"},
	schema.I64:    {"int64", "Int64", "Int64s", "Int64List", "AsInt64", "TypeI64", "0"},
	schema.Double: {"float64", "Float64", "Float64s", "Float64List", "AsFloat64", "TypeDouble", "0"},
	schema.UUID:   {"nocopy.UUID", "UUID", "UUIDs", "UUIDList", "AsUUID", "TypeUUID", "nocopy.UUID{}"},
	schema.String: {"string", "Text", "Texts", "StringList", "AsString", "TypeString", `""`},
	schema.Binary: {"[]byte", "Bytes", "ByteSlices", "BytesList", "AsBytes", "TypeBinary", "nil"},
}

// hasConstants reports whether Go has constants of the type: it is neither an array nor a slice.
func (s scalar) hasConstants() bool { return !strings.ContainsAny(s.goType, ".[") }

// importFor notes that the file needs the package that the Go type of s is from.
func (f *file) importFor(s scalar) {
	if strings.HasPrefix(s.goType, "nocopy.") {
		f.needs["nocopy"] = true
	}
}

// enumType returns the Go type of an enum.
func (f *file) enumType(e *schema.Enum) string {
	return f.qualify(e.Program, f.g.packageOf[e.Program].Enums[e].Type)
}

// structType returns the Go type of a struct.
func (f *file) structType(s *schema.Struct) string {
	return f.qualify(s.Program, f.g.packageOf[s.Program].Structs[s].Type)
}

// goType returns the Go type of a getter's result.
func (f *file) goType(t *schema.Type) string {
	switch t.Kind {
	case schema.EnumKind:
		return f.enumType(t.Enum)
	case schema.StructKind:
		return f.structType(t.Struct)
	case schema.List, schema.SetKind:
		f.needs["nocopy"] = true
		return f.listType(t.Elem)
	case schema.Map:
		f.needs["nocopy"] = true
		return f.mapType(t)
	}
	f.importFor(scalars[t.Kind])
	return scalars[t.Kind].goType
}

// listType returns the Go type of a list or set of elem.
func (f *file) listType(elem *schema.Type) string {
	switch elem.Kind {
	case schema.EnumKind:
		return "nocopy.EnumList[" + f.goType(elem) + "]"
	case schema.StructKind:
		return "nocopy.StructList[" + f.goType(elem) + "]"
	case schema.List, schema.SetKind, schema.Map:
		return "nocopy.NestedList[" + f.goType(elem) + "]"
	}
	return "nocopy." + scalars[elem.Kind].list
}

// mapType returns the Go type of the map t.
func (f *file) mapType(t *schema.Type) string {
	key, elem, codec := f.goType(t.Key), f.goType(t.Elem), f.codec(t.Key)
	switch t.Elem.Kind {
	case schema.StructKind:
		return fmt.Sprintf("nocopy.StructMap[%s, %s, %s]", key, elem, codec)
	case schema.List, schema.SetKind, schema.Map:
		return fmt.Sprintf("nocopy.NestedMap[%s, %s, %s]", key, elem, codec)
	}
	if t.Key.Kind == schema.String && t.Elem.Kind == schema.String {
		return "nocopy.StringMap"
	}
	return fmt.Sprintf("nocopy.Map[%s, %s, %s, %s]", key, elem, codec, f.codec(t.Elem))
}

// goMap returns the Go map from which a map can be set, and the codecs of its keys and values. It
// returns "" if keys or values are structs or containers. Binary keys are strings, since a []byte
// can't be a key.
func (f *file) goMap(t *schema.Type) (goType, codecs string) {
	for _, part := range []*schema.Type{t.Key, t.Elem} {
		switch part.Kind {
		case schema.StructKind, schema.List, schema.SetKind, schema.Map:
			return "", ""
		}
	}
	key := t.Key
	if key.Kind == schema.Binary {
		key = &schema.Type{Kind: schema.String}
	}
	return "map[" + f.goType(key) + "]" + f.goType(t.Elem), f.codec(key) + ", " + f.codec(t.Elem)
}

// codec returns the type argument that makes a map read and write keys or values of type t.
func (f *file) codec(t *schema.Type) string {
	switch t.Kind {
	case schema.EnumKind:
		return "impl.AsEnum[" + f.goType(t) + "]"
	case schema.StructKind, schema.List, schema.SetKind, schema.Map:
		return "impl.AsView[" + f.goType(t) + "]"
	}
	return "impl." + scalars[t.Kind].codec
}

// desc returns the expression for the descriptor of a type.
func (f *file) desc(t *schema.Type) string {
	switch t.Kind {
	case schema.EnumKind:
		pkg := f.g.packageOf[t.Enum.Program]
		return "impl.EnumOf(" + f.withPackage(pkg, pkg.Enums[t.Enum].Desc) + ")"
	case schema.StructKind:
		pkg := f.g.packageOf[t.Struct.Program]
		return "impl.StructOf(" + f.withPackage(pkg, pkg.Structs[t.Struct].Desc) + ")"
	case schema.List:
		return "impl.ListOf(" + f.desc(t.Elem) + ")"
	case schema.SetKind:
		return "impl.SetOf(" + f.desc(t.Elem) + ")"
	case schema.Map:
		return "impl.MapOf(" + f.desc(t.Key) + ", " + f.desc(t.Elem) + ")"
	}
	return "impl." + scalars[t.Kind].desc
}

// descOf returns the expression for the descriptor of a struct in this file.
func (f *file) descOf(s *schema.Struct) string {
	return f.qualify(s.Program, f.g.packageOf[s.Program].Structs[s].Desc)
}

// scalarLiteral returns the Go expression for a scalar value.
func (f *file) scalarLiteral(v *schema.Value) string {
	switch v.Type.Kind {
	case schema.Bool:
		return strconv.FormatBool(v.Int != 0)
	case schema.Double:
		if v.Double == 0 && math.Signbit(v.Double) {
			f.needs["math"] = true
			return "math.Copysign(0, -1)"
		}
		return strconv.FormatFloat(v.Double, 'g', -1, 64)
	case schema.String:
		return strconv.Quote(v.Text)
	case schema.Binary:
		return "[]byte(" + strconv.Quote(v.Text) + ")"
	case schema.UUID:
		f.needs["nocopy"] = true
		return "nocopy.UUID{" + bytesOf(v.Text) + "}"
	case schema.EnumKind:
		return f.enumLiteral(v)
	}
	return strconv.FormatInt(v.Int, 10)
}

// enumLiteral returns the constant of an enum's value, or a conversion if none has its number.
func (f *file) enumLiteral(v *schema.Value) string {
	e := v.Type.Enum
	for i, val := range e.Values {
		if int64(val.Value) == v.Int {
			return f.qualify(e.Program, f.g.packageOf[e.Program].Enums[e].Values[i])
		}
	}
	return fmt.Sprintf("%s(%d)", f.enumType(e), v.Int)
}

// bytesOf returns the bytes of text as the elements of a composite literal.
func bytesOf(text string) string {
	parts := make([]string, len(text))
	for i := range len(text) {
		parts[i] = fmt.Sprintf("0x%02x", text[i])
	}
	return strings.Join(parts, ", ")
}

// isZero reports whether a scalar default is the zero value, which an absent field has anyway.
func isZero(v *schema.Value) bool {
	return strings.Trim(v.Wire, "\x00") == ""
}
