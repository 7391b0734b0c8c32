package lint

import (
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// definition returns what p calls by a name, and the file that defines it; nil if there is nothing
// of that name. Names of included files have the file's name and a dot before them.
func (l *linter) definition(p *schema.Program, name string) (idl.Definition, *schema.Program) {
	if d := l.defined(p)[name]; d != nil {
		return d, p
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		for _, q := range p.Includes {
			if q.Name != name[:dot] {
				continue
			}
			if d := l.defined(q.Program)[name[dot+1:]]; d != nil {
				return d, q.Program
			}
		}
	}
	return nil, nil
}

// defined returns the definitions of a file by their names.
func (l *linter) defined(p *schema.Program) map[string]idl.Definition {
	if l.definitions[p] == nil {
		all := map[string]idl.Definition{}
		for _, d := range p.AST.Definitions {
			if all[d.DefName().Text] == nil {
				all[d.DefName().Text] = d
			}
		}
		l.definitions[p] = all
	}
	return l.definitions[p]
}

// hasValue reports whether an enum has a value of that name.
func (l *linter) hasValue(e *idl.Enum, name string) bool {
	if l.enumValues[e] == nil {
		all := map[string]bool{}
		for _, v := range e.Values {
			all[v.Name.Text] = true
		}
		l.enumValues[e] = all
	}
	return l.enumValues[e][name]
}

// isDefined reports whether a name in a value refers to a constant or to a value of an enum.
func (l *linter) isDefined(p *schema.Program, name string) bool {
	if d, _ := l.definition(p, name); d != nil {
		return true
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return false
	}
	d, in := l.definition(p, name[:dot])
	for range maxTypedefs {
		t, ok := d.(*idl.Typedef)
		if !ok {
			break
		}
		d, in = l.definition(in, t.Type.Name)
	}
	e, ok := d.(*idl.Enum)
	return ok && l.hasValue(e, name[dot+1:])
}

// mayBeDefined reports whether text that did not parse may define a name, or what it begins with.
func mayBeDefined(p *schema.Program, name string) bool {
	if p.AST.Broken[name] {
		return true
	}
	for i := range name {
		if name[i] != '.' {
			continue
		}
		left, right := name[:i], name[i+1:]
		if p.AST.Broken[left] || p.AST.Broken[left+"."] {
			return true
		}
		word, _, _ := strings.Cut(right, ".")
		for _, q := range p.Includes {
			if q.Name == left && q.AST.Broken[word] {
				return true
			}
		}
	}
	return false
}

// maxTypedefs is how many typedefs are followed; more than these would be a circle.
const maxTypedefs = 64

// kinds returns the words of a configuration that a type is matched by, such as "base" and "i32";
// nil if it is not known.
func (l *linter) kinds(p *schema.Program, t *idl.Type) []string {
	for range maxTypedefs {
		switch {
		case t.Map != nil:
			return []string{"map"}
		case t.Set != nil:
			return []string{"set"}
		case t.List != nil:
			return []string{"list"}
		case t.Base == "byte":
			return []string{"base", "i8"}
		case t.Base != "":
			return []string{"base", t.Base}
		}
		d, in := l.definition(p, t.Name)
		switch d := d.(type) {
		case *idl.Enum:
			return []string{"enum"}
		case *idl.Struct:
			return []string{d.Kind}
		case *idl.Typedef:
			p, t = in, d.Type
			continue
		}
		if t.Name == "uuid" {
			return []string{"base", "uuid"}
		}
		return nil
	}
	return nil
}

// text returns a type as the IDL writes it.
func text(t *idl.Type) string {
	switch {
	case t.Map != nil:
		return "map<" + text(t.Map.Key) + ", " + text(t.Map.Value) + ">"
	case t.Set != nil:
		return "set<" + text(t.Set.Elem) + ">"
	case t.List != nil:
		return "list<" + text(t.List.Elem) + ">"
	case t.Base != "":
		return t.Base
	}
	return t.Name
}
