package golang

import (
	"fmt"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Generated code that converts structs of plain values to bytes and back, see
// nocopy/internal/plain. Each field has statements that append it, read it, and fill it from a
// message's getter.

// plainView is the template's input for a field.
type plainView struct {
	Append, Read, Fill string
	ReadBy             string // for a list of structs: Read with a function that takes the elements
	Begins             string // reads the fields of newBegins, before this field
}

// slack is plain.Slack: the number of bytes that may be written after a check without another one.
const slack = 128

// plainFields adds the statements for the fields of s to view.
func (f *file) plainFields(s *schema.Struct, view *valuesView) {
	room, views := 0, view.Fields
	begins := newBegins(s)
	for i, field := range s.Fields {
		v := &views[i]
		p := plainField{f: f, v: v, t: field.Type, s: s, field: field, value: "v." + v.Value, desc: view.Desc}
		p.def = v.Default
		if v.Type == "" {
			p.left()
		} else {
			p.all()
		}
		if p.size > room {
			p.Append = "at = w.Fit(at)\n" + p.Append
			room = slack
		}
		if room -= p.size; p.checks {
			room = p.leaves
		}
		v.plainView = p.plainView
	}
	view.Fit = room == 0
	if begins == nil {
		return
	}
	var reads []string
	run := 0
	for i := range begins {
		v := &views[begins[i]]
		must := fmt.Sprintf("at = r.Must(at, %s)\n", v.Const)
		reads = append(reads, must+strings.TrimPrefix(v.Read, must))
		if i > 0 && begins[i] == begins[i-1]+1 { // it joins the previous field
			joined := &views[run]
			joined.Read = strings.TrimSuffix(joined.Read, "}") + v.Read + "\n}"
			v.Read = ""
			continue
		}
		run = begins[i]
		v.Read = "if !built {\n" + v.Read + "\n}"
	}
	first := &views[begins[0]]
	views[firstOther(s)].Begins = fmt.Sprintf("built := false\nif r.Has(at, %s, 1) {\nstart := at\n%s\nif built = at != impl.Failed; !built {\nat = start\n}\n}",
		first.Const, strings.Join(reads, "\n"))
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

// plainField builds the statements for one field.
type plainField struct {
	plainView
	f      *file
	v      *valueView
	s      *schema.Struct
	field  *schema.Field
	t      *schema.Type
	value  string // the expression for its plain value
	desc   string // the expression for the descriptor of s
	def    string // the literal of its default; "" if that is missing or zero
	size   int    // the most bytes that Append writes without a check
	checks bool   // Append makes room after these bytes
	leaves int    // the least room in bytes after that
}

// left makes the statements for a field that is not among the plain values. Reading such a field
// fails; the caller then uses a message, which can read it.
func (p *plainField) left() {
	if p.field.Req == schema.Required || p.field.Req == schema.DefaultReq && p.field.Default != nil {
		p.appendDefault()
	}
	if p.field.Req == schema.Required {
		p.Read = "at = r.Must(at, " + p.v.Const + ")"
	}
	if p.Append != "" {
		p.checks, p.leaves = true, slack
	}
}

func (p *plainField) appendDefault() {
	p.Append = fmt.Sprintf("at = w.Default(at, %s, %s)", p.desc, p.v.Const)
}

func (p *plainField) all() {
	switch p.t.Kind {
	case schema.StructKind:
		p.record()
	case schema.Binary:
		p.container(fmt.Sprintf("at = w.Binary(at, %s, %s)", p.v.Const, p.value))
		p.Read = fmt.Sprintf("%s, at = r.Binary(at, %s)", p.value, p.v.Const)
		p.Fill = fmt.Sprintf("if s.IsSet%[1]s() {\n%[2]s = s.Get%[1]s()\n} else {\n%[2]s = nil\n}", p.v.Go, p.value)
		if d := p.field.Default; d != nil && !isZero(d) && p.field.Req != schema.Optional {
			p.Read += fmt.Sprintf("\nif %[1]s == nil {\n%[1]s = []byte(%[2]q)\n}", p.value, d.Text)
			p.Fill = fmt.Sprintf("%s = s.Get%s()", p.value, p.v.Go)
		}
	case schema.List, schema.SetKind:
		p.list()
	case schema.Map:
		p.dict()
	default:
		p.scalar()
	}
	if p.field.Req == schema.Required {
		must := fmt.Sprintf("at = r.Must(at, %s)\n", p.v.Const)
		p.Read = must + p.Read
		if p.ReadBy != "" {
			p.ReadBy = must + p.ReadBy
		}
	}
}

// container completes the statement that appends a slice: it adds the code for a nil slice.
func (p *plainField) container(put string) {
	p.checks = true
	if mayBeOwed(p.field, p.v.Type) {
		p.appendDefault()
		p.Append = "if " + p.value + " != nil {\n" + put + "\n} else {\n" + p.Append + "\n}"
	} else {
		p.Append = "if " + p.value + " != nil {\n" + put + "\n}"
	}
}

// scalar makes the statements for values of fixed size, enums and strings.
func (p *plainField) scalar() {
	v, t := p.v, p.t
	method, absent := scalars[t.Kind].method, p.def
	enum := t.Kind == schema.EnumKind
	if enum {
		method = "Int32"
	}
	if absent == "" {
		if absent = scalars[t.Kind].zero; enum {
			absent = "0"
		}
	}
	p.f.importFor(scalars[t.Kind])
	size := t.LeastSize()
	if t.Kind != schema.String {
		p.size = 3 + size
	} else if p.checks = true; p.field.Req != schema.Optional {
		p.leaves = slack
	}
	value := p.value
	if p.field.Req == schema.Optional {
		value += ".Value"
	}
	from, get := value, "s.Get"+v.Go+"()"
	read := fmt.Sprintf("%s, at = r.%s(at, %s, %s)", value, method, v.Const, absent)
	if enum {
		from = "int32(" + value + ")"
		read = fmt.Sprintf("%s, at = impl.ReadEnum[%s](r, at, %s, %s)", value, p.f.goType(t), v.Const, absent)
	}
	p.Append = fmt.Sprintf("at = w.%s(at, %s, %s)", method, v.Const, from)
	p.Read = read
	p.Fill = value + " = " + get
	if p.field.Req != schema.Optional {
		return
	}
	zero := fmt.Sprintf("%s = %s{}", p.value, v.Type)
	p.Append = "if " + p.value + ".Set {\n" + p.Append + "\n}"
	p.Read = fmt.Sprintf("if %s.Set = r.Has(at, %s, %d); %s.Set {\n%s\n} else {\n%s\n}", p.value, v.Const, size, p.value, read, zero)
	p.Fill = fmt.Sprintf("if %s.Set = s.IsSet%s(); %s.Set {\n%s\n} else {\n%s\n}", p.value, v.Go, p.value, p.Fill, zero)
}

// record makes the statements for structs.
func (p *plainField) record() {
	v := p.v
	absent := strings.TrimPrefix(v.Type, "*") + "{}"
	if p.def != "" {
		absent = p.def
	}
	value := p.value
	optional := strings.HasPrefix(v.Type, "nocopy.Opt[")
	if optional {
		value += ".Value"
	}
	put := fmt.Sprintf("w.Enter()\nat = %s.ThriftAppend(w, w.Struct(at, %s))\nw.Leave()", value, v.Const)
	read := fmt.Sprintf("at = %s.ThriftRead(r, r.Enter(at+3))\nr.Leave()", value)
	fill := fmt.Sprintf("%s.ThriftFill(s.Get%s(), r)", value, v.Go)
	has := fmt.Sprintf("r.Has(at, %s, 1)", v.Const)
	p.size = 3
	switch {
	case v.Type[0] == '*':
		p.container(put)
		p.Read = fmt.Sprintf("if %s {\nif %[2]s, at = impl.NewPlain(r, at, %[2]s); %[2]s != nil {\n%s\n}\n} else {\n%[2]s = nil\n}", has, value, read)
		p.Fill = fmt.Sprintf("if s.IsSet%s() {\nif %[2]s, _ = impl.NewPlain(r, 0, %[2]s); %[2]s != nil {\n%s\n}\n} else {\n%[2]s = nil\n}", v.Go, value, fill)
	case optional:
		p.Append = fmt.Sprintf("if %s.Set {\n%s\n}", p.value, put)
		p.Read = fmt.Sprintf("if %s.Set = %s; %s.Set {\n%s\n} else {\n%s = %s{}\n}", p.value, has, p.value, read, p.value, v.Type)
		p.Fill = fmt.Sprintf("if %s.Set = s.IsSet%s(); %s.Set {\n%s\n} else {\n%s = %s{}\n}", p.value, v.Go, p.value, fill, p.value, v.Type)
	default:
		p.Append = put
		p.Read = fmt.Sprintf("if %s {\n%s\n} else {\n%s = %s\n}", has, read, value, absent)
		p.Fill = fill
	}
	p.checks, p.leaves = true, 0
}

// list makes the statements for lists and sets.
func (p *plainField) list() {
	v, elem := p.v, p.t.Elem
	set, value := p.t.Kind == schema.SetKind, p.value
	if v.Element != "" {
		p.container(fmt.Sprintf("at = w.List(at, %s, %d, len(%s))\nw.Enter()\nfor i := range %[3]s {\nat = %[3]s[i].ThriftAppend(w, at)\n}\nw.Leave()",
			v.Const, elem.WireType(), value))
		p.Read = fmt.Sprintf("if n, to := r.List(at, %s, %d, 1); n >= 0 {\n%[3]s, at = impl.PlainSlice(r, r.Enter(to), %[3]s, n)\n"+
			"for i := 0; i < len(%[3]s) && at != impl.Failed; i++ {\nat = %[3]s[i].ThriftRead(r, at)\n}\nr.Leave()\n} else {\n%[3]s = nil\n}", v.Const, elem.WireType(), value)
		p.ReadBy = fmt.Sprintf("if by.%s == nil {\n%s\n} else if %s = nil; r.Has(at, %s, 5) {\nif at = impl.ReadBy(r, at, %[4]s, by.%[1]s); at == impl.Failed {\nreturn at\n}\n}",
			v.Value, p.Read, value, v.Const)
		p.Fill = fmt.Sprintf("if l := s.Get%s(); s.IsSet%[1]s() {\n%[2]s, _ = impl.PlainSlice(r, 0, %[2]s, l.Len())\n"+
			"for i := range %[2]s {\n%[2]s[i].ThriftFill(l.At(i), r)\n}\n} else {\n%[2]s = nil\n}", v.Go, value)
		return
	}
	what := value
	if set {
		distinct := map[schema.Kind]string{schema.Binary: "DistinctSlices", schema.Double: "DistinctFloat64s"}[elem.Kind]
		if distinct == "" {
			distinct = "Distinct"
		}
		what = "impl." + distinct + "(" + value + ")"
	}
	if elem.Kind == schema.EnumKind {
		p.container(fmt.Sprintf("at = impl.WriteEnums(w, at, %s, %s)", v.Const, what))
		p.Read = fmt.Sprintf("%s, at = impl.ReadEnums(r, at, %s, %[1]s)", value, v.Const)
	} else {
		p.container(fmt.Sprintf("at = w.%s(at, %s, %s)", scalars[elem.Kind].plural, v.Const, what))
		p.Read = fmt.Sprintf("%s, at = r.%s(at, %s, %[1]s)", value, scalars[elem.Kind].plural, v.Const)
	}
	p.Fill = fmt.Sprintf("if s.IsSet%s() {\n%[2]s = s.Get%[1]s().AppendTo(impl.Empty(r, %[2]s))\n} else {\n%[2]s = nil\n}", v.Go, value)
}

// dict makes the statements for maps.
func (p *plainField) dict() {
	v, key, elem, value := p.v, p.t.Key, p.t.Elem, p.value
	pair := value + "[i]"
	fit := ""
	if !isText(key) {
		fit = "at = w.Fit(at)\n"
	}
	p.container(fmt.Sprintf("at = w.Map(at, %s, %d, %d, len(%s))\nfor i := range %[4]s {\n%s%s\n%s\n}", v.Const, key.WireType(), elem.WireType(), value,
		fit, appendValue(key, pair+".Key"), appendValue(elem, pair+".Value")))
	unique := "Unique"
	if key.Kind == schema.Binary {
		unique = "UniqueBinary"
	}
	p.Read = fmt.Sprintf("if n, to := r.Map(at, %s, %d, %d, %d); n >= 0 {\n%[5]s, at = impl.PlainSlice(r, to, %[5]s, n)\nfor i := range %[5]s {\n%s\n%s\n}\n"+
		"at = impl.%[8]s(at, %[5]s)\n} else {\n%[5]s = nil\n}", v.Const, key.WireType(), elem.WireType(), key.LeastSize()+elem.LeastSize(), value,
		p.readValue(key, pair+".Key"), p.readValue(elem, pair+".Value"), unique)
	p.Fill = fmt.Sprintf("if s.IsSet%s() {\n%[2]s = impl.Empty(r, %[2]s)\nfor k, x := range s.Get%[1]s().All() {\n%[2]s = append(%[2]s, %[3]s{Key: k, Value: x})\n}\n"+
		"} else {\n%[2]s = nil\n}", v.Go, value, strings.TrimPrefix(v.Type, "[]"))
}

func isText(t *schema.Type) bool { return t.Kind == schema.String || t.Kind == schema.Binary }

// appendValue returns the statement that appends a key or value of a map.
func appendValue(t *schema.Type, value string) string {
	switch t.Kind {
	case schema.EnumKind:
		return "at = w.Int32Value(at, int32(" + value + "))"
	case schema.Binary:
		return "at = w.BinaryValue(at, " + value + ")"
	}
	return "at = w." + scalars[t.Kind].method + "Value(at, " + value + ")"
}

// readValue returns the statement that reads a key or value of a map.
func (p *plainField) readValue(t *schema.Type, value string) string {
	switch t.Kind {
	case schema.EnumKind:
		return value + ", at = impl.ReadEnumValue[" + p.f.goType(t) + "](r, at)"
	case schema.Binary:
		return value + ", at = r.BinaryValue(at)"
	}
	return value + ", at = r." + scalars[t.Kind].method + "Value(at)"
}
