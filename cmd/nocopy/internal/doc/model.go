// Package doc writes the documentation of .thrift files from their comments: as HTML pages that
// work from a folder, without any other resource, or as Markdown.
//
// model.go collects what pages show, html.go and markdown.go write it. The page's style and its
// search are in page/.
package doc

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// page is a file's documentation.
type page struct {
	Title      string // the file's name, with folders where another one has the same
	Slug       string // the page's name without extension
	Namespaces []string
	Includes   []span
	Services   []*entry
	Structs    []*entry // also unions and exceptions
	Enums      []*entry
	Typedefs   []*entry
	Consts     []*entry
}

// entry is a definition.
type entry struct {
	Kind        string // "struct", "service" and so on
	Name        string
	Anchor      string
	Doc         string
	Type        []span // of a typedef and a constant
	Value       string // of a constant
	Extends     []span // of a service
	Annotations []string
	Members     []*member // fields, values and methods
}

// member is a field, a value of an enum or a method.
type member struct {
	Name        string
	Anchor      string
	ID          string // of a field, or the number of a value
	Requirement string
	Type        []span
	Default     string
	Doc         string
	Annotations []string
	Args        []*member // of a method
	Throws      []*member
	Oneway      bool
}

// span is a piece of text, perhaps with a link: to a definition on the page Slug.
type span struct{ Text, Slug, Anchor string }

// modeller makes pages.
type modeller struct {
	slugs   map[*schema.Program]string
	defined map[*schema.Program]map[string]bool
	prog    *schema.Program
}

// pagesOf returns the pages of all files that were loaded, those first that were given.
func pagesOf(set *schema.Set) []*page {
	order := append([]*schema.Program(nil), set.Roots...)
	seen := map[*schema.Program]bool{}
	for _, p := range order {
		seen[p] = true
	}
	for _, p := range set.Programs {
		if !seen[p] {
			order = append(order, p)
		}
	}
	m := &modeller{slugs: map[*schema.Program]string{}, defined: map[*schema.Program]map[string]bool{}}
	taken := map[string]bool{"index": true}
	for _, p := range order {
		base := strings.Map(safe, p.Name)
		if base == "" || base[0] == '.' {
			base = "_" + base
		}
		slug := base
		for i := 2; taken[strings.ToLower(slug)]; i++ {
			slug = fmt.Sprintf("%s-%d", base, i)
		}
		taken[strings.ToLower(slug)] = true
		m.slugs[p] = slug
	}
	names := map[string]int{}
	for _, p := range order {
		names[filepath.Base(p.Path)]++
	}
	var pages []*page
	for _, p := range order {
		m.prog = p
		pg := m.page()
		if pg.Title = filepath.Base(p.Path); names[pg.Title] > 1 {
			pg.Title = filepath.ToSlash(p.Path)
		}
		pages = append(pages, pg)
	}
	return pages
}

// safe replaces characters that names of files on some system can't have, or that mean something
// in links.
func safe(r rune) rune {
	if r < 0x80 && (r == '.' || r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z') {
		return r
	}
	return '_'
}

func (m *modeller) page() *page {
	p := &page{Slug: m.slugs[m.prog]}
	for _, n := range m.prog.AST.Namespaces {
		p.Namespaces = append(p.Namespaces, n.Scope+" "+n.Name.Text)
	}
	for _, inc := range m.prog.Includes {
		p.Includes = append(p.Includes, span{filepath.Base(inc.Path), m.slugs[inc.Program], ""})
	}
	for _, d := range m.prog.AST.Definitions {
		name := d.DefName().Text
		e := &entry{Name: name, Anchor: name}
		switch d := d.(type) {
		case *idl.Service:
			e.Kind, e.Doc, e.Annotations = "service", d.Doc, annotations(d.Annotations)
			if d.Extends != nil {
				e.Extends = []span{m.link(d.Extends.Text)}
			}
			for _, fn := range d.Functions {
				e.Members = append(e.Members, m.method(name, fn))
			}
			p.Services = append(p.Services, e)
		case *idl.Struct:
			e.Kind, e.Doc, e.Annotations = d.Kind, d.Doc, annotations(d.Annotations)
			e.Members = m.fields(name, d.Fields)
			p.Structs = append(p.Structs, e)
		case *idl.Enum:
			e.Kind, e.Doc, e.Annotations = "enum", d.Doc, annotations(d.Annotations)
			next := int64(0)
			for _, v := range d.Values {
				if v.Value != nil {
					next = int64(*v.Value)
				}
				e.Members = append(e.Members, &member{Name: v.Name.Text, Anchor: name + "." + v.Name.Text, ID: strconv.FormatInt(next, 10), Doc: v.Doc, Annotations: annotations(v.Annotations)})
				next++
			}
			p.Enums = append(p.Enums, e)
		case *idl.Typedef:
			e.Kind, e.Doc, e.Annotations, e.Type = "typedef", d.Doc, annotations(d.Annotations), m.typ(d.Type)
			p.Typedefs = append(p.Typedefs, e)
		case *idl.Const:
			e.Kind, e.Doc, e.Anchor, e.Type, e.Value = "const", d.Doc, "const."+name, m.typ(d.Type), short(d.Value)
			p.Consts = append(p.Consts, e)
		}
	}
	return p
}

func (m *modeller) method(service string, fn *idl.Function) *member {
	at := service + "." + fn.Name.Text
	made := &member{Name: fn.Name.Text, Anchor: at, Oneway: fn.Oneway, Doc: fn.Doc, Annotations: annotations(fn.Annotations), Type: []span{{Text: "void"}}}
	if fn.Result != nil {
		made.Type = m.typ(fn.Result)
	}
	made.Args, made.Throws = m.fields(at, fn.Args), m.fields(at, fn.Throws)
	return made
}

func (m *modeller) fields(in string, list []*idl.Field) []*member {
	var all []*member
	for _, f := range list {
		made := &member{
			Name: f.Name.Text, Anchor: in + "." + f.Name.Text, Requirement: f.Requirement, Type: m.typ(f.Type),
			Doc: f.Doc, Annotations: annotations(f.Annotations),
		}
		if f.ID != nil {
			made.ID = strconv.FormatInt(int64(*f.ID), 10)
		}
		if f.Default != nil {
			made.Default = short(f.Default)
		}
		all = append(all, made)
	}
	return all
}

// typ returns a type as it is written, with links.
func (m *modeller) typ(t *idl.Type) []span {
	around := func(before string, inner []span, after string) []span {
		return append(append([]span{{Text: before}}, inner...), span{Text: after})
	}
	switch {
	case t.Map != nil:
		return append(around("map<", m.typ(t.Map.Key), ", "), append(m.typ(t.Map.Value), span{Text: ">"})...)
	case t.Set != nil:
		return around("set<", m.typ(t.Set.Elem), ">")
	case t.List != nil:
		return around("list<", m.typ(t.List.Elem), ">")
	case t.Base != "":
		return []span{{Text: t.Base}}
	}
	return []span{m.link(t.Name)}
}

// link returns a name with a link to what it refers to.
func (m *modeller) link(name string) span {
	if m.defines(m.prog, name) {
		return span{name, m.slugs[m.prog], name}
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		for _, q := range m.prog.Includes {
			if q.Name == name[:dot] && m.defines(q.Program, name[dot+1:]) {
				return span{name, m.slugs[q.Program], name[dot+1:]}
			}
		}
	}
	return span{Text: name}
}

// defines reports whether a file defines a type or service.
func (m *modeller) defines(p *schema.Program, name string) bool {
	if m.defined[p] == nil {
		m.defined[p] = map[string]bool{}
		for _, d := range p.AST.Definitions {
			if _, isConst := d.(*idl.Const); !isConst {
				m.defined[p][d.DefName().Text] = true
			}
		}
	}
	return m.defined[p][name]
}

func annotations(list []*idl.Annotation) []string {
	var all []string
	for _, a := range list {
		text := a.Key
		if a.Value != nil {
			text += " = " + strconv.Quote(string(*a.Value))
		}
		all = append(all, text)
	}
	return all
}

// longest is how many bytes of a value are shown.
const longest = 400

// short returns a value as the IDL writes it, cut off where it is long.
func short(v *idl.Value) string {
	var b strings.Builder
	write(&b, v)
	if text := b.String(); len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + " …"
	}
	return b.String()
}

func write(b *strings.Builder, v *idl.Value) {
	if b.Len() > longest {
		return
	}
	switch {
	case v.Int != nil:
		fmt.Fprint(b, int64(*v.Int))
	case v.Double != nil:
		fmt.Fprint(b, float64(*v.Double))
	case v.Text != nil:
		b.WriteString(strconv.Quote(string(*v.Text)))
	case v.Ref != nil:
		b.WriteString(*v.Ref)
	case v.List != nil:
		b.WriteByte('[')
		for i, e := range v.List.Elems {
			if b.Len() > longest {
				break
			}
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, e)
		}
		b.WriteByte(']')
	case v.Map != nil:
		b.WriteByte('{')
		for i, e := range v.Map.Entries {
			if b.Len() > longest {
				break
			}
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, e.Key)
			b.WriteString(": ")
			write(b, e.Value)
		}
		b.WriteByte('}')
	}
}
