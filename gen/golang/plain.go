package golang

import (
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Generated code that converts structs of plain values to bytes and back, see
// nocopy/internal/plain. For each field it has statements that append it, read it, and fill it
// from a message's getter: plain.tmpl.

// plainView is the templates' input for a field: how it is converted.
type plainView struct {
	// "scalar" (also enums and strings), "binary", "struct", "structs" (a list), "values" (other
	// lists, and sets) or "map"; "default" if it is not among the plain values, and its default is
	// sent; "" if nothing is
	Kind     string
	In       string // the expression for the field
	Expr     string // the expression for its value: In, or what is in that if it is optional
	DescOf   string // the expression for the struct's descriptor
	Method   string // of the Writer and the Reader
	Enum     string // the Go type of an enum, or of a list's elements
	Distinct string // the function that leaves duplicates out of a set, or looks for them in a map
	Absent   string // the literal that reading sets if the field is absent
	Text     string // the literal of a binary's default
	PairType string // of a map
	Least    int    // the least size in bytes
	Key      itemView
	Elem     itemView

	Fit      bool // appending first makes room
	Must     bool // reading fails without the field
	Optional bool // it is a nocopy.Opt
	Nilable  bool // nil if it is unset
	MustSend bool // its default is sent if it is nil

	Begins   []*valueView // the fields of newBegins, if they are read before this field
	BeginsAt string       // the constant of the first of them
	Run      []*valueView // this field and those that follow, if they may have been read before
	Reads    bool         // it has statements of its own for reading, outside of a Run
}

// itemView is the templates' input for a key or value of a map, or an element of a list.
type itemView struct {
	In     string // the expression for its plain value
	Wire   uint8  // the type on the wire
	Method string // of the Writer and the Reader, without "Value"
	Enum   string // the Go type of an enum
	Fit    bool   // appending first makes room
}

// slack is plain.Slack: the number of bytes that may be written after a check without another one.
const slack = 128

// room says what appending a field writes.
type room struct {
	size   int  // at most so many bytes are written without a check
	checks bool // it makes room after these bytes
	leaves int  // the least room in bytes after that
}

// plainFields adds to view how the fields of s are converted.
func (f *file) plainFields(s *schema.Struct, view *valuesView) {
	left, views := 0, view.Fields
	for i, field := range s.Fields {
		v := &views[i]
		v.In, v.Expr, v.DescOf = "v."+v.Value, "v."+v.Value, view.Desc
		v.Must = field.Req == schema.Required
		v.Reads = v.Must || v.Type != ""
		var r room
		if v.Type == "" {
			r = v.leftOut(field)
		} else {
			r = f.plain(v, field)
		}
		if v.Fit = r.size > left; v.Fit {
			left = slack
		}
		if left -= r.size; r.checks {
			left = r.leaves
		}
	}
	view.Fit = left == 0
	begins := newBegins(s)
	run := 0
	for k, i := range begins {
		first := &views[firstOther(s)]
		first.Begins, first.BeginsAt = append(first.Begins, &views[i]), views[begins[0]].Const
		if k > 0 && i == begins[k-1]+1 {
			views[i].Reads = false
		} else {
			run = i
		}
		views[run].Run = append(views[run].Run, &views[i])
	}
}

// newBegins returns the fields with which a new message of type s begins, except those that also
// come first in the IDL. It returns nil if there are no others. Messages that are built by setters
// have these fields before fields that precede them in the IDL.
func newBegins(s *schema.Struct) (begins []int) {
	for i := firstOther(s); i < len(s.Fields); i++ {
		if isFixed(s.Fields[i]) {
			begins = append(begins, i)
		}
	}
	return begins
}

// firstOther returns the first field of s with which a new message does not begin.
func firstOther(s *schema.Struct) int {
	for i, field := range s.Fields {
		if !isFixed(field) {
			return i
		}
	}
	return len(s.Fields)
}

// isFixed reports whether a new message contains the field.
func isFixed(field *schema.Field) bool {
	switch field.Type.Kind {
	case schema.String, schema.Binary, schema.List, schema.SetKind, schema.Map, schema.StructKind:
		return false
	}
	return field.Req != schema.Optional
}

// leftOut is for a field that is not among the plain values. Reading such a field fails; the
// caller then uses a message, which can read it.
func (v *valueView) leftOut(field *schema.Field) room {
	if field.Req == schema.Required || field.Req == schema.DefaultReq && field.Default != nil {
		v.Kind = "default"
		return room{checks: true, leaves: slack}
	}
	return room{}
}

// plain is for a field with a plain value.
func (f *file) plain(v *valueView, field *schema.Field) room {
	t := field.Type
	switch t.Kind {
	case schema.StructKind:
		return v.plainStruct(field)
	case schema.Binary, schema.List, schema.SetKind, schema.Map:
		v.Nilable, v.MustSend = true, mustSend(field, v.Type)
	default:
		return f.plainScalar(v, field)
	}
	switch t.Kind {
	case schema.Binary:
		v.Kind = "binary"
		if d := field.Default; d != nil && !isZero(d) && field.Req != schema.Optional {
			v.Text = strconv.Quote(d.Text)
		}
	case schema.Map:
		v.Kind, v.PairType = "map", strings.TrimPrefix(v.Type, "[]")
		v.Key, v.Elem = f.item(t.Key, v.In+"[i].Key"), f.item(t.Elem, v.In+"[i].Value")
		v.Key.Fit = t.Key.Kind != schema.String && t.Key.Kind != schema.Binary
		v.Least = t.Key.LeastSize() + t.Elem.LeastSize()
		v.Distinct = "Unique"
		if t.Key.Kind == schema.Binary {
			v.Distinct = "UniqueBinary"
		}
	default:
		v.Kind = "values"
		switch {
		case v.Element != "":
			v.Kind, v.Elem.Wire = "structs", uint8(t.Elem.WireType())
		case t.Elem.Kind == schema.EnumKind:
			v.Enum = "enum" // the functions infer it
		default:
			v.Method = scalars[t.Elem.Kind].plural
		}
		if t.Kind == schema.SetKind {
			v.Distinct = map[schema.Kind]string{schema.Binary: "DistinctSlices", schema.Double: "DistinctFloat64s"}[t.Elem.Kind]
			if v.Distinct == "" {
				v.Distinct = "Distinct"
			}
		}
	}
	return room{checks: true}
}

// plainScalar is for values of fixed size, enums and strings.
func (f *file) plainScalar(v *valueView, field *schema.Field) room {
	t := field.Type
	v.Kind, v.Method, v.Least = "scalar", scalars[t.Kind].method, t.LeastSize()
	v.Absent = scalars[t.Kind].zero
	if t.Kind == schema.EnumKind {
		v.Method, v.Enum, v.Absent = "Int32", f.goType(t), "0"
	}
	if v.Default != "" {
		v.Absent = v.Default
	}
	f.importFor(scalars[t.Kind])
	if v.Optional = field.Req == schema.Optional; v.Optional {
		v.Expr += ".Value"
	}
	switch {
	case t.Kind != schema.String:
		return room{size: 3 + v.Least}
	case v.Optional:
		return room{checks: true}
	}
	return room{checks: true, leaves: slack}
}

// plainStruct is for structs.
func (v *valueView) plainStruct(field *schema.Field) room {
	v.Kind, v.Least = "struct", 1
	v.Absent = strings.TrimPrefix(v.Type, "*") + "{}"
	if v.Default != "" {
		v.Absent = v.Default
	}
	if v.Optional = strings.HasPrefix(v.Type, "nocopy.Opt["); v.Optional {
		v.Expr += ".Value"
	}
	if v.Nilable = v.Type[0] == '*'; v.Nilable {
		v.MustSend = mustSend(field, v.Type)
	}
	return room{size: 3, checks: true}
}

// item returns how a key or value of a map is converted.
func (f *file) item(t *schema.Type, in string) itemView {
	item := itemView{In: in, Wire: uint8(t.WireType()), Method: scalars[t.Kind].method}
	switch t.Kind {
	case schema.EnumKind:
		item.Method, item.Enum = "Int32", f.goType(t)
	case schema.Binary:
		item.Method = "Binary"
	}
	return item
}
