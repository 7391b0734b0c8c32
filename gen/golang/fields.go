package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Options.Fields adds, for each struct, a Go struct of plain values, and functions and methods
// that make messages, structs and lists of structs from it.

// fieldsView is the template's input.
type fieldsView struct {
	Version, Source, Package string
	Nocopy, Math             bool // the packages are used
	Types                    bool // there are types of plain values
	Imports                  []importLine
	Structs                  []valuesView
}

// valuesView is the template's input for the Go struct of plain values of a struct. For a union it
// has only the fields that are lists of structs.
type valuesView struct {
	names.Struct
	Fields []valueView
	Left   []string // the constants of the fields that are not among the plain values
	// The comments of the Go struct and of the function for defaults
	Comment, DefaultsComment string
	WithDefaults             bool
	Elements                 bool // it has lists of structs among the plain values
	Fit                      bool // the STOP needs a check for room after the fields
}

// valueView is the template's input for a field of a valuesView.
type valueView struct {
	names.Field
	plainView
	Type    string // "" if the field is not among the plain values
	Default string // the value that the function for defaults sets; "" if it is the zero value
	Element string // of a list of structs: the elements' type of plain values
}

// fieldsFile returns the file that Options.Fields adds for f, or none if nothing is added to any
// struct of f. others are the files generated so far.
func (f *file) fieldsFile(others []File) []File {
	own := *f
	own.needs, own.uses = map[string]bool{}, map[*names.Package]bool{}
	view := fieldsView{Version: Version, Source: names.PlainName(path.Base(strings.ReplaceAll(f.p.Path, `\`, "/"))), Package: f.pkg.Name}
	for _, s := range names.StructsOf(f.p) {
		v := own.valuesView(s)
		view.Types = view.Types || v.Values != ""
		if v.Values != "" || slices.ContainsFunc(v.Fields, func(x valueView) bool { return x.Element != "" }) {
			view.Structs = append(view.Structs, v)
		}
	}
	if len(view.Structs) == 0 {
		return nil
	}
	for _, line := range f.imports {
		if own.uses[line.pkg] {
			view.Imports = append(view.Imports, line)
		}
	}
	view.Nocopy = view.Types || own.needs["nocopy"]
	view.Math = own.needs["math"]
	dir, base := path.Split(f.g.path(f.p))
	name := dir + "fields-" + base
	f.g.checkTwice(f.p, name, others)
	return []File{{name, f.g.execute(f.p, "fields.tmpl", view)}}
}

// valuesView returns the template's input for a struct.
func (f *file) valuesView(s *schema.Struct) valuesView {
	n := f.pkg.Structs[s]
	view := valuesView{Struct: *n}
	var left []string // the names of fields without plain values
	for i, field := range s.Fields {
		v := valueView{Field: n.Fields[i]}
		if field.Type.Kind == schema.List && hasFields(field.Type.Elem) {
			v.Element, view.Elements = f.fieldsType(field.Type.Elem.Struct), true
		}
		if s.Shape != schema.IsUnion {
			f.value(&v, s, field)
			if v.Type == "" {
				view.Left = append(view.Left, v.Const)
				left = append(left, field.Name)
			}
			view.WithDefaults = view.WithDefaults || v.Default != ""
		}
		view.Fields = append(view.Fields, v)
	}
	if s.Shape != schema.IsUnion {
		view.Comment = wrapped(n.Values+" holds the fields of "+n.Type+" as plain values."+leftText(" It", left, ": use the setters of "+n.Type+"."), 96)
		view.DefaultsComment = wrapped(n.Defaults+" returns "+n.Values+" with the IDL's defaults of bools, numbers, enums, uuids and strings, "+
			"also in structs in it that are not optional. Other fields are unset.", 96)
		f.plainFields(s, &view)
	}
	return view
}

// hasFields reports whether t is a struct for which a Go struct of plain values is generated.
func hasFields(t *schema.Type) bool {
	return t.Kind == schema.StructKind && t.Struct.Shape != schema.IsUnion
}

// mustSend reports whether a field whose plain value has type goType must be sent even if it is
// not set.
func mustSend(field *schema.Field, goType string) bool {
	if field.Req == schema.Optional || field.Req == schema.DefaultReq && field.Default == nil {
		return false
	}
	switch field.Type.Kind {
	case schema.Binary, schema.List, schema.SetKind, schema.Map:
		return true
	case schema.StructKind:
		return goType == "" || goType[0] == '*'
	}
	return false
}

// fieldsType returns the Go type of plain values of a struct.
func (f *file) fieldsType(s *schema.Struct) string {
	return f.qualify(s.Program, f.g.packageOf[s.Program].Structs[s].Values)
}

// value fills in the parts of v that depend on the type of field, a field of s.
func (f *file) value(v *valueView, s *schema.Struct, field *schema.Field) {
	t := field.Type
	switch t.Kind {
	case schema.StructKind:
		f.structValue(v, s, field)
	case schema.Binary:
		v.Type = "[]byte"
	case schema.List, schema.SetKind:
		if v.Element != "" {
			v.Type = "[]" + v.Element
		} else if elem := t.Elem; elem.Kind == schema.EnumKind || scalars[elem.Kind].goType != "" {
			v.Type = "[]" + f.goType(elem)
		}
	case schema.Map:
		if goMap, _ := f.goMap(t); goMap != "" {
			f.needs["nocopy"] = true
			v.Type = "[]nocopy.Pair[" + f.goType(t.Key) + ", " + f.goType(t.Elem) + "]"
		}
	default:
		v.Type = f.goType(t)
		if field.Req == schema.Optional {
			f.needs["nocopy"] = true
			v.Type = "nocopy.Opt[" + v.Type + "]"
		} else if field.Default != nil && !isZero(field.Default) {
			v.Default = f.scalarLiteral(field.Default)
		}
	}
}

// structValue is value for a field that is a struct.
func (f *file) structValue(v *valueView, s *schema.Struct, field *schema.Field) {
	inner := field.Type.Struct
	if !hasFields(field.Type) {
		return
	}
	pkg := f.g.packageOf[inner.Program]
	v.Type = f.fieldsType(inner)
	switch {
	case f.g.byPointer(s, field):
		v.Type = "*" + v.Type
	case field.Req == schema.Optional:
		f.needs["nocopy"] = true
		v.Type = "nocopy.Opt[" + v.Type + "]"
	case f.g.hasDefaults(inner):
		v.Default = f.withPackage(pkg, pkg.Structs[inner].Defaults) + "()"
	}
}

// hasDefaults reports whether a function that returns the plain values of s with the IDL's
// defaults is generated.
func (g *generator) hasDefaults(s *schema.Struct) bool {
	for _, field := range s.Fields {
		switch {
		case field.Req == schema.Optional:
		case hasFields(field.Type):
			if !g.byPointer(s, field) && g.hasDefaults(field.Type.Struct) {
				return true
			}
		case field.Default != nil && !isZero(field.Default):
			switch field.Type.Kind {
			case schema.StructKind, schema.Binary, schema.List, schema.SetKind, schema.Map:
			default:
				return true
			}
		}
	}
	return false
}

// mostByValue is the largest size, in words of 8 bytes, of a nested Go struct that is embedded by
// value. Larger ones are pointers.
const mostByValue = 128

// byPointer reports whether the plain value of a field of s, whose type is a struct, is a pointer.
// It is if the structs contain each other, if the field has a default, or if the struct is large.
func (g *generator) byPointer(s *schema.Struct, field *schema.Field) bool {
	inner := field.Type.Struct
	return field.Default != nil || g.contains(inner, s) || g.sizeOfFields(inner) > mostByValue
}

// contains reports whether outer is s, or contains a field of type s at any depth.
func (g *generator) contains(outer, s *schema.Struct) bool {
	seen := map[*schema.Struct]bool{}
	var visit func(*schema.Struct) bool
	visit = func(x *schema.Struct) bool {
		if x == s {
			return true
		}
		if seen[x] {
			return false
		}
		seen[x] = true
		for _, field := range x.Fields {
			if hasFields(field.Type) && visit(field.Type.Struct) {
				return true
			}
		}
		return false
	}
	return visit(outer)
}

// sizeOfFields returns the size of the plain values of s, in words of 8 bytes.
func (g *generator) sizeOfFields(s *schema.Struct) int {
	if n, ok := g.valueSize[s]; ok {
		return n
	}
	n := 0
	for _, field := range s.Fields {
		size := 1
		switch t := field.Type; {
		case hasFields(t):
			if !g.byPointer(s, field) {
				size = g.sizeOfFields(t.Struct)
			}
		case t.Kind == schema.String:
			size = 2
		case t.Kind == schema.Binary, t.Kind == schema.List, t.Kind == schema.SetKind, t.Kind == schema.Map:
			size = 3
		default:
			size = (t.LeastSize() + 7) / 8
		}
		if field.Req == schema.Optional {
			size++
		}
		n += size
	}
	if g.valueSize == nil {
		g.valueSize = map[*schema.Struct]int{}
	}
	g.valueSize[s] = n
	return n
}

// leftText returns the text that a type of plain values does not have the fields called left, with
// the subject before and the rest of the sentence after it, or "".
func leftText(subject string, left []string, rest string) string {
	switch len(left) {
	case 0:
		return ""
	case 1:
		return subject + " does not have " + left[0] + ", whose type has no plain value" + rest
	}
	return subject + " does not have " + strings.Join(left, ", ") + ", whose types have no plain value" + rest
}

// wrapped returns text in lines of at most width bytes, unless a word is longer.
func wrapped(text string, width int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case at+1+len(word) > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}
