// Random .thrift files and random changes of them.

package audit_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// An idlText is a model of random .thrift files that can be changed.
type idlText struct {
	Files [3]idlFile // each may include later ones
}

type idlFile struct {
	Defs     []idlDef
	Services []idlService
}

type idlDef struct {
	Word, Name string // Word is enum, struct, union or exception
	Rank       int    // mandatory parts of a value have lower ranks, so that values are finite
	Fields     []idlField
	Values     []idlValue
}

type idlValue struct {
	Name   string
	Number int
}

type idlField struct {
	ID        int
	Req, Name string
	Type      idlType
}

type idlType struct {
	Base string // a base type; list, set or map; else the name of a definition
	File int    // the file of that definition
	Elem []idlType
}

type idlService struct {
	Name, Base string
	BaseFile   int
	Methods    []idlMethod
}

type idlMethod struct {
	Name         string
	Oneway       bool
	Returns      []idlType // the return type, if any
	Args, Throws []idlField
}

var fileNames = [3]string{"m", "x", "y"}

// A maker makes random files and changes.
type maker struct {
	*rand.Rand
	text *idlText
	file int // the file for which types are made
}

func (m *maker) one(words string) string {
	list := strings.Fields(words)
	return list[m.IntN(len(list))]
}

// newText returns random files that use the same few names again and again.
func newText(r *rand.Rand) *idlText {
	m := &maker{r, &idlText{}, 0}
	rank := 0
	for i := range slices.Backward(m.text.Files[:]) {
		f := &m.text.Files[i]
		for _, name := range []string{"E", "F", "X", "P", "Q", "U"} {
			if m.IntN(4) == 0 {
				continue
			}
			d := idlDef{Name: name, Rank: rank}
			rank++
			switch name {
			case "E", "F":
				d.Word = "enum"
			case "X":
				d.Word = "exception"
			case "U":
				d.Word = "union"
			default:
				d.Word = "struct"
			}
			f.Defs = append(f.Defs, d)
		}
		for _, name := range []string{"B", "V"} {
			if m.IntN(2) == 0 {
				f.Services = append(f.Services, idlService{Name: name})
			}
		}
	}
	for i := range m.text.Files {
		m.file = i
		f := &m.text.Files[i]
		for k := range f.Defs {
			d := &f.Defs[k]
			for range 1 + m.IntN(4) {
				d.Values = append(d.Values, idlValue{m.one("A B C D"), m.IntN(5)})
				d.Fields = append(d.Fields, m.field())
			}
		}
		for k := range f.Services {
			s := &f.Services[k]
			s.Base, s.BaseFile = m.one("B V none"), m.IntN(3)
			for range m.IntN(3) {
				s.Methods = append(s.Methods, m.method())
			}
		}
	}
	m.text.repair()
	return m.text
}

func (m *maker) field() idlField {
	return idlField{1 + m.IntN(6), m.one("required optional default default"), m.one("a b c d e f"), m.typ(2)}
}

func (m *maker) method() idlMethod {
	f := idlMethod{Name: m.one("f g h"), Oneway: m.IntN(6) == 0}
	if m.IntN(3) > 0 {
		f.Returns = []idlType{m.typ(1)}
	}
	for range m.IntN(3) {
		f.Args = append(f.Args, m.field())
	}
	for range m.IntN(2) {
		x := m.field()
		x.Type = idlType{Base: "X", File: m.IntN(3)}
		f.Throws = append(f.Throws, x)
	}
	return f
}

func (m *maker) typ(depth int) idlType {
	switch n := m.IntN(20); {
	case n < 8:
		return idlType{Base: m.one("bool i8 i16 i32 i64 double string binary uuid i32 i64 string")}
	case n < 16 || depth == 0:
		return idlType{Base: m.one("E F P Q U P"), File: m.file + m.IntN(3-m.file)}
	case n < 18:
		return idlType{Base: m.one("list set"), Elem: []idlType{m.typ(depth - 1)}}
	}
	return idlType{Base: "map", Elem: []idlType{m.typ(0), m.typ(depth - 1)}}
}

// repair makes the files valid, with finite values: references without a definition, and duplicate
// definitions, are removed or become an i32.
func (t *idlText) repair() {
	for i := range t.Files {
		f := &t.Files[i]
		f.Defs = unique(f.Defs, func(d idlDef) any { return d.Name })
		f.Services = unique(f.Services, func(s idlService) any { return s.Name })
	}
	for i := range t.Files {
		for k := range t.Files[i].Defs {
			d := &t.Files[i].Defs[k]
			d.Values = unique(d.Values, func(v idlValue) any { return v.Name })
			d.Fields = t.fields(d.Fields, i, d)
		}
		for k := range t.Files[i].Services {
			s := &t.Files[i].Services[k]
			base := t.service(s.BaseFile, s.Base)
			if s.BaseFile < i || base == nil || s.BaseFile == i && s.Base >= s.Name { // avoids circles
				s.Base = "none"
			}
			s.Methods = unique(s.Methods, func(f idlMethod) any { return f.Name })
			for j := range s.Methods {
				f := &s.Methods[j]
				for r := range f.Returns {
					t.typ(&f.Returns[r], i)
				}
				f.Args = t.fields(f.Args, i, nil)
				f.Throws = slices.DeleteFunc(t.fields(f.Throws, i, nil), func(x idlField) bool {
					d := t.def(x.Type)
					return f.Oneway || d == nil || d.Word != "exception"
				})
				if f.Oneway {
					f.Returns = nil
				}
			}
		}
	}
}

func unique[T any](list []T, key func(T) any) []T {
	seen := map[any]bool{}
	return slices.DeleteFunc(list, func(x T) bool {
		k := key(x)
		twice := seen[k]
		seen[k] = true
		return twice
	})
}

// fields repairs the fields of a definition, or of a method if it is nil.
func (t *idlText) fields(list []idlField, file int, of *idlDef) []idlField {
	list = unique(unique(list, func(f idlField) any { return f.ID }), func(f idlField) any { return f.Name })
	for i := range list {
		f := &list[i]
		t.typ(&f.Type, file)
		d := t.def(f.Type)
		union := of != nil && of.Word == "union"
		if union {
			f.Req = "default"
		}
		if of != nil && d != nil && d.Word != "enum" && d.Rank >= of.Rank {
			switch {
			case union:
				f.Type = idlType{Base: "i32"}
			case f.Req == "required":
				f.Req = "optional"
			}
		}
	}
	return list
}

// typ repairs a type in a file.
func (t *idlText) typ(x *idlType, file int) {
	for i := range x.Elem {
		t.typ(&x.Elem[i], file)
	}
	if strings.Contains("E F P Q U X", x.Base) && (x.File < file || t.def(*x) == nil) {
		for x.File = file; x.File < 3; x.File++ { // the definition may have moved
			if t.def(*x) != nil {
				return
			}
		}
		*x = idlType{Base: "i32"}
	}
}

// def returns the definition of a type, or nil.
func (t *idlText) def(x idlType) *idlDef {
	if x.File >= 3 {
		return nil
	}
	for i := range t.Files[x.File].Defs {
		if d := &t.Files[x.File].Defs[i]; d.Name == x.Base {
			return d
		}
	}
	return nil
}

func (t *idlText) service(file int, name string) *idlService {
	for i := range t.Files[file].Services {
		if s := &t.Files[file].Services[i]; s.Name == name {
			return s
		}
	}
	return nil
}

// changed returns a copy with n random changes.
func (t *idlText) changed(r *rand.Rand, n int) *idlText {
	var c idlText
	b, err := json.Marshal(t)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil {
		panic(err)
	}
	m := &maker{r, &c, 0}
	for range n {
		m.file = m.IntN(3)
		if f := &c.Files[m.file]; len(f.Services) > 0 && m.IntN(4) == 0 {
			m.changeService(&f.Services[m.IntN(len(f.Services))])
		} else if len(f.Defs) > 0 {
			m.changeDef(f, m.IntN(len(f.Defs)))
		}
	}
	c.repair()
	return &c
}

func (m *maker) changeDef(f *idlFile, i int) {
	d := &f.Defs[i]
	switch m.IntN(16) {
	case 0: // moves
		to := &m.text.Files[m.IntN(3)]
		moved := *d
		f.Defs = slices.Delete(f.Defs, i, i+1)
		to.Defs = append(to.Defs, moved)
	case 1:
		d.Name = map[string]string{"E": "F", "F": "E", "P": "Q", "Q": "P", "U": "P", "X": "X"}[d.Name]
	case 2:
		f.Defs = slices.Delete(f.Defs, i, i+1)
	case 3:
		if d.Word != "enum" && d.Name != "X" {
			d.Word = m.one("struct union exception")
		}
	default:
		if d.Word == "enum" {
			m.changeValues(d)
		} else {
			d.Fields = m.changeFields(d.Fields)
		}
	}
}

func (m *maker) changeValues(d *idlDef) {
	a, b := &d.Values[m.IntN(len(d.Values))], &d.Values[m.IntN(len(d.Values))]
	switch m.IntN(5) {
	case 0:
		a.Name = m.one("A B C D")
	case 1:
		a.Number = m.IntN(5)
	case 2:
		a.Number, b.Number = b.Number, a.Number
	case 3:
		d.Values = append(d.Values, idlValue{m.one("A B C D"), m.IntN(5)})
	case 4:
		if len(d.Values) > 1 {
			d.Values = d.Values[1:]
		}
	}
}

func (m *maker) changeFields(list []idlField) []idlField {
	if len(list) == 0 || m.IntN(5) == 0 {
		return append(list, m.field())
	}
	k := m.IntN(len(list))
	a, b := &list[k], &list[m.IntN(len(list))]
	switch m.IntN(10) {
	case 0:
		a.Name = m.one("a b c d e f")
	case 1:
		a.ID = 1 + m.IntN(6)
	case 2:
		a.Name, b.Name = b.Name, a.Name
	case 3:
		a.ID, b.ID = b.ID, a.ID
	case 4:
		a.Req = m.one("required optional default")
	case 5:
		if len(list) > 1 {
			return slices.Delete(list, k, k+1)
		}
	case 6:
		a.Type = m.typ(2)
	default:
		m.replace(&a.Type)
	}
	return list
}

// replace changes a name or a base type somewhere in a type, usually to a similar one.
func (m *maker) replace(t *idlType) {
	for len(t.Elem) > 0 && m.IntN(4) > 0 {
		t = &t.Elem[m.IntN(len(t.Elem))]
	}
	alike := map[string]string{"E": "E F E F i32", "F": "E F E i32", "P": "P Q P Q U", "Q": "P Q P U", "U": "U P U", "i32": "E F i64", "string": "binary",
		"binary": "string", "list": "set", "set": "list"}[t.Base]
	switch {
	case alike != "":
		t.Base, t.File = m.one(alike), m.file+m.IntN(3-m.file)
	case len(t.Elem) == 0:
		t.Base = m.one("bool i8 i16 i32 i64")
	}
}

func (m *maker) changeService(s *idlService) {
	switch m.IntN(6) {
	case 0:
		s.Base, s.BaseFile = m.one("B V none"), m.IntN(3)
		return
	case 1:
		s.Methods = append(s.Methods, m.method())
		return
	}
	if len(s.Methods) == 0 {
		return
	}
	k := m.IntN(len(s.Methods))
	f := &s.Methods[k]
	switch m.IntN(8) {
	case 0: // to the extended service, or another one
		if base := m.text.service(s.BaseFile, s.Base); base != nil {
			base.Methods = append(base.Methods, *f)
		}
		s.Methods = slices.Delete(s.Methods, k, k+1)
	case 1:
		f.Oneway = !f.Oneway
	case 2:
		f.Name = m.one("f g h")
	case 3:
		f.Throws = append(f.Throws, idlField{1 + m.IntN(3), "default", m.one("a b c"), idlType{Base: "X", File: m.IntN(3)}})
	case 4:
		f.Throws = nil
	case 5:
		if len(f.Returns) > 0 {
			m.replace(&f.Returns[0])
		} else {
			f.Returns = []idlType{m.typ(1)}
		}
	default:
		f.Args = m.changeFields(f.Args)
	}
}

// write returns the text of a file, with each definition on its own line.
func (t *idlText) write(file int) string {
	var b strings.Builder
	for _, name := range fileNames[file+1:] {
		fmt.Fprintf(&b, "include '%s.thrift'\n", name)
	}
	name := func(file2 int, name string) string {
		if file2 != file {
			return fileNames[file2] + "." + name
		}
		return name
	}
	var typ func(x idlType) string
	typ = func(x idlType) string {
		switch {
		case x.Base == "map":
			return "map<" + typ(x.Elem[0]) + ", " + typ(x.Elem[1]) + ">"
		case len(x.Elem) > 0:
			return x.Base + "<" + typ(x.Elem[0]) + ">"
		case t.def(x) != nil:
			return name(x.File, x.Base)
		}
		return x.Base
	}
	fields := func(list []idlField) string {
		var parts []string
		for _, f := range list {
			req := strings.TrimPrefix(f.Req+" ", "default ")
			parts = append(parts, fmt.Sprintf("%d: %s%s %s", f.ID, req, typ(f.Type), f.Name))
		}
		return strings.Join(parts, ", ")
	}
	for _, d := range t.Files[file].Defs {
		fmt.Fprintf(&b, "%s %s { ", d.Word, d.Name)
		if d.Word == "enum" {
			for _, v := range d.Values {
				fmt.Fprintf(&b, "%s = %d, ", v.Name, v.Number)
			}
		} else {
			b.WriteString(fields(d.Fields))
		}
		b.WriteString(" }\n")
	}
	for _, s := range t.Files[file].Services {
		b.WriteString("service " + s.Name)
		if s.Base != "none" {
			b.WriteString(" extends " + name(s.BaseFile, s.Base))
		}
		b.WriteString(" { ")
		for _, f := range s.Methods {
			returns := "void"
			if len(f.Returns) > 0 {
				returns = typ(f.Returns[0])
			}
			if f.Oneway {
				returns = "oneway void"
			}
			fmt.Fprintf(&b, "%s %s(%s) throws (%s) ", returns, f.Name, fields(f.Args), fields(f.Throws))
		}
		b.WriteString("}\n")
	}
	return b.String()
}
