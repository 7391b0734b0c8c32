package golang

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/entry"
)

// The views of declarations are the templates' input.

type enumView struct {
	Doc, Name, Parse, Desc, All string
	IDLName, Info               string
	Values                      []enumValueView
}

type enumValueView struct {
	Doc, Name, IDLName string
	Value              int32
	Info               string
}

type constView struct {
	Doc, Name, Var, Type, Desc string
	Kind                       string // "const", "func" or "view"
	Value                      string
	IDLName, Wire, Info        string
}

type structView struct {
	Doc, IDLName, Info string
	names.Struct
	NewDesc   string
	GoType    string // if it differs from IDLName
	Union     bool
	Wide      bool
	Exception bool
	Fields    []fieldView
}

type fieldView struct {
	Doc, IDLName, S, Desc string // S is the struct's Go name
	names.Field
	// Selects the template: scalar (also string), bytes, enum, struct (also map), list
	Kind       string
	Type       string
	Method     string // the type's part of method names: Int64 in SetInt64
	Default    string // the Go literal of the default; "" if it is the zero value
	Slice      string // the element type of the slice that SetX takes; "" if it takes a list
	Noun       string // of a struct or map: its kind as a word
	GoMap      string // the Go map that can set a map; "" if there is none
	Codecs     string // of the Go map's keys and values
	Unset      string // the call that removes the field
	Define     string // the field's line in the descriptor
	FieldConst string // the value of the field constant
	Number     int    // in the IDL's order
	Handle     string // the type whose getters read the field: Struct, or Wide in a wide struct
}

// enumView returns the template's input for an enum.
func (f *file) enumView(e *schema.Enum) enumView {
	n := f.pkg.Enums[e]
	view := enumView{
		Doc: withDeprecation(e.Doc, e.Annotations), Name: n.Type, Parse: n.Parse, Desc: n.Desc, All: n.All,
		IDLName: e.Name, Info: info(e.Doc, e.Annotations),
	}
	for i, v := range e.Values {
		view.Values = append(view.Values, enumValueView{
			withDeprecation(v.Doc, v.Annotations), n.Values[i], v.Name, v.Value, info(v.Doc, v.Annotations),
		})
	}
	return view
}

// constView returns the template's input for a constant.
func (f *file) constView(c *schema.Const) constView {
	n := f.pkg.Consts[c]
	view := constView{
		Doc: c.Doc, Name: n.Name, Var: n.Var, Type: f.goType(c.Type), Desc: f.desc(c.Type),
		IDLName: c.Name, Wire: c.Value.Wire, Info: info(c.Doc, nil),
	}
	switch c.Type.Kind {
	case schema.StructKind, schema.List, schema.SetKind, schema.Map:
		// The value is made at first use: descriptors are complete only after the init functions
		// of all files of the package have run.
		f.needs["sync"] = true
		view.Kind, view.Value = "view", strconv.Quote(c.Value.Wire)
	case schema.Double:
		// A Go constant cannot be −0.
		view.Kind, view.Value = "const", strconv.FormatFloat(c.Value.Double, 'g', -1, 64)
	default:
		view.Kind, view.Value = "const", f.scalarLiteral(c.Value)
		if !scalars[c.Type.Kind].hasConstants() {
			view.Kind = "func"
		}
	}
	return view
}

// structView returns the template's input for a struct, union or exception.
func (f *file) structView(s *schema.Struct) structView {
	n := f.pkg.Structs[s]
	view := structView{
		Doc: withDeprecation(s.Doc, s.Annotations), IDLName: s.Name, Info: info(s.Doc, s.Annotations), Struct: *n,
		Union: s.Shape == schema.IsUnion, Exception: s.Shape == schema.IsException,
		NewDesc: map[schema.Shape]string{
			schema.IsStruct: "NewDesc", schema.IsUnion: "NewUnionDesc", schema.IsException: "NewExceptionDesc",
		}[s.Shape],
	}
	if n.Type != s.Name {
		view.GoType = n.Type
	}
	first := entry.First(view.Union)
	if most := math.MaxUint16 - first; len(s.Fields) > most {
		f.g.errs.Add(s.Pos, "%s has %d fields, at most %d are possible", s.Name, len(s.Fields), most)
	}
	handle, flags := "Struct", uint64(0)
	if view.Union {
		flags |= entry.Union
	}
	if view.Wide = len(s.Fields) > entry.MaxDirect; view.Wide {
		handle, flags = "Wide", flags|entry.Wide
	}
	flag := ""
	if flags != 0 {
		flag = fmt.Sprintf("%#x | ", flags)
	}
	for i, field := range s.Fields {
		v := f.fieldView(field)
		v.Handle, v.S, v.Desc, v.Field, v.Number = handle, n.Type, n.Desc, n.Fields[i], first+i
		v.FieldConst = fmt.Sprintf("%d<<%d | %d<<%d | %s%d<<%d", v.Number, entry.NumberShift,
			first+len(s.Fields), entry.EndShift, flag, field.Type.WireType(), entry.WireShift)
		if field.ID != 0 { // linters complain about "| 0"
			v.FieldConst += fmt.Sprintf(" | %d", uint16(field.ID))
		}
		v.Unset = "Unset(" + v.Const + ")"
		switch {
		case view.Union:
			v.Unset = "UnsetArm(" + v.Const + ")"
		case field.Req == schema.Required: // it can't be removed, only reset to its default
			v.Unset = "Reset(" + v.Const + ", " + v.Desc + ")"
		}
		view.Fields = append(view.Fields, v)
	}
	return view
}

// fieldView returns the template's input for a field, without the parts that depend on the struct.
func (f *file) fieldView(field *schema.Field) fieldView {
	t := field.Type
	v := fieldView{Doc: withDeprecation(field.Doc, field.Annotations), IDLName: field.Name, Type: f.goType(t)}
	v.Define = f.define(field)
	v.Method = scalars[t.Kind].method
	hasDefault := field.Default != nil && !isZero(field.Default)
	switch t.Kind {
	case schema.Binary:
		v.Kind = "bytes"
		if hasDefault {
			v.Default = "[]byte(" + strconv.Quote(field.Default.Text) + ")"
		}
		return v
	case schema.EnumKind:
		v.Kind, v.Method = "enum", "Int32"
		if hasDefault {
			v.Default = f.scalarLiteral(field.Default)
		}
		return v
	case schema.StructKind:
		v.Kind, v.Noun = "struct", "struct"
		return v
	case schema.Map:
		v.Kind, v.Noun = "struct", "map"
		v.GoMap, v.Codecs = f.goMap(t)
		return v
	case schema.List, schema.SetKind:
		v.Kind = "list"
		v.Slice, v.Method = f.slice(t.Elem)
		return v
	}
	v.Kind = "scalar"
	if hasDefault {
		v.Default = f.scalarLiteral(field.Default)
	}
	return v
}

// slice returns the element type of the Go slice that can set a list of elem, and the plural in
// the name of the setter. It returns "" if only a list can set it.
func (f *file) slice(elem *schema.Type) (goType, plural string) {
	switch elem.Kind {
	case schema.StructKind, schema.List, schema.SetKind, schema.Map:
		return "", ""
	case schema.EnumKind:
		return f.goType(elem), "Enums"
	}
	return scalars[elem.Kind].goType, scalars[elem.Kind].plural
}

// define returns the line that describes a field in a call of Desc.Define.
func (f *file) define(field *schema.Field) string {
	parts := []string{
		fmt.Sprintf("ID: %d", field.ID),
		fmt.Sprintf("Name: %q", field.Name),
		"Type: " + f.desc(field.Type),
	}
	switch field.Req {
	case schema.Required:
		parts = append(parts, "Req: impl.Required")
	case schema.Optional:
		parts = append(parts, "Req: impl.Optional")
	}
	if field.Default != nil {
		parts = append(parts, "Default: "+strconv.Quote(field.Default.Wire))
	}
	if i := info(field.Doc, field.Annotations); i != "" {
		parts = append(parts, "Info: "+i)
	}
	return "{" + strings.Join(parts, ", ") + "},"
}
