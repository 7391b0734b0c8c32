package schema

import (
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// Apache's compiler reads a file from top to bottom. Most types may be defined after their use,
// but not those that it has to know at once: exceptions in throws, extended services, constants,
// and the types of constants and of defaults. It also has stricter rules for values.

// A user is a definition that uses others.
type user struct {
	*checker
	p  *Program
	at idl.Position // of its name

	// In a value of an exception's type, in which Apache's compiler knows no names, and takes
	// numbers for values of enums as little
	inException bool
}

// warn adds a warning about Apache's compiler.
func (c *checker) warn(pos idl.Position, format string, args ...any) {
	c.set.Warnings.AddAbout(idl.Apache, pos, format, args...)
}

// warnOfUses adds warnings of what Apache's compiler refuses in the definitions of a file, because
// of their order or because of rules for values.
func (c *checker) warnOfUses(p *Program) {
	for _, inc := range p.Includes {
		if !sameNamespaces(p, inc.Program) {
			continue
		}
		for _, n := range p.types {
			if inc.types[n.name] != nil {
				c.warn(n.pos, "Apache's compiler refuses the name %s, which %s has, too, with the same namespaces", n.name, inc.Path)
			}
		}
	}
	for _, k := range p.Consts {
		user{checker: c, p: p, at: k.Pos}.value(p, k.ast.Type, k.ast.Value)
	}
	for _, s := range p.Structs {
		user{checker: c, p: p, at: s.Pos}.defaults(s.ast.Fields)
	}
	for _, s := range p.Services {
		u := user{checker: c, p: p, at: s.Pos}
		if base := s.Extends; base != nil && base.Program == p {
			u.refuse(s.ast.Extends.Pos, "service", base.Name, base.Pos)
		}
		for _, f := range s.ast.Functions {
			u.defaults(f.Args)
			for _, thrown := range f.Throws {
				if thrown.Type.Name != "" {
					u.resolve(p, thrown.Type, thrown.Type.Pos)
				}
			}
		}
	}
}

// defaults warns of what Apache's compiler refuses in the defaults of fields.
func (u user) defaults(fields []*idl.Field) {
	for _, f := range fields {
		if f.Default != nil {
			u.value(u.p, f.Type, f.Default)
		}
	}
}

// refuse adds a warning if what is used at pos is defined further down in the file, at defined. It
// reports whether that is so.
func (u user) refuse(pos idl.Position, what, name string, defined idl.Position) bool {
	switch {
	case defined.Offset > u.at.Offset:
		u.warn(pos, "Apache's compiler refuses %s %s here: it is defined further down, at %d:%d", what, name, defined.Line, defined.Column)
	case defined.Offset == u.at.Offset:
		u.warn(pos, "Apache's compiler refuses %s %s here: its definition has not ended", what, name)
	default:
		return false
	}
	return true
}

// maxTypedefs bounds the typedefs of typedefs at which resolve looks.
const maxTypedefs = 1000

// resolve returns the definition of the named type t, and that of the last typedef if there are
// several. The name is one of the file in. If one of them is defined further down than pos,
// resolve adds a warning and returns nil.
func (u user) resolve(in *Program, t *idl.Type, pos idl.Position) *definition {
	for range maxTypedefs {
		n, _ := u.lookup(in, t.Name, t.Pos)
		if n == nil || n.in == u.p && u.refuse(pos, n.kind(), n.name, n.pos) {
			return nil
		}
		if n.typedef == nil || n.typedef.ast.Type.Name == "" {
			return n
		}
		in, t = n.in, n.typedef.ast.Type
	}
	return nil
}

// value warns of everything that Apache's compiler refuses in a value of type t. Names in the
// value are those of the file in.
func (u user) value(in *Program, t *idl.Type, v *idl.Value) {
	isRef := v.Ref != nil && *v.Ref != "true" && *v.Ref != "false"
	switch {
	case isRef && u.inException:
		u.warn(v.Pos, "Apache's compiler finds no names, such as %s, in a value of an exception's type", *v.Ref)
		return
	case t.Base != "":
		if isRef {
			u.constant(v)
		}
		return
	case t.Name == "":
		if isRef {
			u.warn(v.Pos, "Apache's compiler does not take a constant for the value of a list, set or map")
			return
		}
		u.elements(in, t, v)
		return
	}
	u.named(u.resolve(in, t, v.Pos), v, isRef)
}

// named is value for a type that n defines, if n is not nil. isRef says that the value is a name.
func (u user) named(n *definition, v *idl.Value, isRef bool) {
	switch {
	case n == nil:
	case n.typedef != nil:
		u.value(n.in, n.typedef.ast.Type, v)
	case n.enum != nil && u.inException:
		u.warn(v.Pos, "Apache's compiler refuses values of enums in a value of an exception's type")
	case n.enum != nil && isRef:
		if _, _, k, _ := u.findValue(u.p, *v.Ref, v.Pos); k != nil {
			u.warn(v.Pos, "Apache's compiler does not take a constant for the value of an enum")
		}
	case n.strct != nil && isRef:
		u.warn(v.Pos, "Apache's compiler does not take a constant for the value of a struct")
	case n.strct != nil && v.List != nil:
		u.warn(v.Pos, "Apache's compiler refuses [] for the value of a struct, write {}")
	case n.strct != nil && v.Map != nil:
		u.inException = u.inException || n.strct.Shape == IsException
		for _, e := range v.Map.Entries {
			if e.Key.Text == nil {
				continue
			}
			if i := n.strct.index(string(*e.Key.Text)); i >= 0 {
				u.value(n.in, n.strct.ast.Fields[i].Type, e.Value)
			}
		}
	}
}

// elements is value for a list, a set or a map.
func (u user) elements(in *Program, t *idl.Type, v *idl.Value) {
	switch {
	case v.Map != nil && t.Map != nil:
		for _, e := range v.Map.Entries {
			u.value(in, t.Map.Key, e.Key)
			u.value(in, t.Map.Value, e.Value)
		}
	case v.List != nil && t.List != nil:
		for _, e := range v.List.Elems {
			u.value(in, t.List.Elem, e)
		}
	case v.List != nil && t.Set != nil:
		for _, e := range v.List.Elems {
			u.value(in, t.Set.Elem, e)
		}
	}
}

// constant warns if Apache's compiler does not know the constant or the value of an enum that v
// names.
func (u user) constant(v *idl.Value) {
	e, enum, k, _ := u.findValue(u.p, *v.Ref, v.Pos)
	switch {
	case k != nil && k.Program == u.p && u.refuse(v.Pos, "constant", k.Name, k.Pos):
	case k != nil && k.Type != nil && k.Type.Kind == EnumKind:
		u.warn(v.Pos, "Apache's compiler does not take constant %s, whose type is an enum, for a number", k.Name)
	case e != nil:
		of := (*v.Ref)[:strings.LastIndexByte(*v.Ref, '.')]
		if n, _ := u.lookup(u.p, of, v.Pos); n != nil && n.typedef != nil {
			u.warn(v.Pos, "Apache's compiler does not find %s, since %s is a typedef of enum %s", *v.Ref, of, enum.Name)
		} else if enum.Program == u.p {
			u.refuse(v.Pos, "enum", enum.Name, enum.Pos)
		}
	}
}

// kind returns the word for a definition.
func (n *definition) kind() string {
	switch {
	case n.enum != nil:
		return "enum"
	case n.typedef != nil:
		return "typedef"
	case n.service != nil:
		return "service"
	}
	return n.strct.ast.Kind
}

// sameNamespaces reports whether files have the same namespaces in all languages, or none.
func sameNamespaces(a, b *Program) bool {
	for _, ns := range slices.Concat(a.AST.Namespaces, b.AST.Namespaces) {
		if a.Namespace(ns.Scope) != b.Namespace(ns.Scope) {
			return false
		}
	}
	return true
}

// definedTwice returns a constant or a value of an enum that both files define, or "". Apache's
// compiler refuses to include both if they have the same name.
func definedTwice(a, b *idl.File) string {
	of := map[string]bool{}
	each := func(f *idl.File, yield func(name string) bool) {
		for _, d := range f.Definitions {
			switch d := d.(type) {
			case *idl.Const:
				if !yield(d.Name.Text) {
					return
				}
			case *idl.Enum:
				for _, v := range d.Values {
					if !yield(d.Name.Text + "." + v.Name.Text) {
						return
					}
				}
			}
		}
	}
	each(a, func(name string) bool { of[name] = true; return true })
	twice := ""
	each(b, func(name string) bool {
		if of[name] {
			twice = name
		}
		return twice == ""
	})
	return twice
}
