package schema

import (
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// definition is a type or a service in the scope of the file in. One field after pos is set.
type definition struct {
	in      *Program
	name    string
	pos     idl.Position
	enum    *Enum
	strct   *Struct
	typedef *typedef
	service *Service
}

type typedef struct {
	*Typedef
	ast     *idl.Typedef
	in      *Program
	state   evalState
	redacts bool // see checker.redacts
}

// evalState says how far a typedef, a constant or a struct was evaluated. It serves to find those
// that refer to themselves.
type evalState uint8

const (
	untouched evalState = iota
	underway
	done
)

// lookup returns the type or service that a name in p refers to, or nil. In a dotted name, the
// last part is the definition's name, and the rest is the base name of an included file. broken
// reports that the name may be defined in text that did not parse.
func (c *checker) lookup(p *Program, name string, pos idl.Position) (n *definition, broken bool) {
	if n = p.types[name]; n != nil {
		return n, false
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return nil, p.AST.Broken[name]
	}
	prefix, last := name[:dot], name[dot+1:]
	var from *Program
	broken = p.AST.Broken[prefix+"."]
	for _, q := range p.Includes {
		if q.Name != prefix {
			continue
		}
		broken = broken || q.AST.Broken[last]
		if m := q.types[last]; m != nil {
			if n != nil && !c.ambiguous[pos] {
				c.ambiguous[pos] = true
				c.errs.Add(pos, "%s is ambiguous: %s and %s both define it, rename one of the files", name, from.Path, q.Path)
			}
			n, from = m, q.Program
		}
	}
	return n, broken
}

// typ returns the model of a type that p uses. On error it adds the error and returns nil.
func (c *checker) typ(p *Program, t *idl.Type) *Type {
	switch {
	case t.Base != "":
		return baseTypes[t.Base]
	case t.List != nil:
		if t.List.CppType != nil {
			c.warn(t.Pos, "Apache's compiler 0.17 refuses cpp_type before a list's <: there it comes after >")
		}
		if elem := c.typ(p, t.List.Elem); elem != nil {
			return c.container(t, &Type{Kind: List, Elem: elem})
		}
		return nil
	case t.Set != nil:
		if elem := c.typ(p, t.Set.Elem); elem != nil {
			return c.container(t, &Type{Kind: SetKind, Elem: elem})
		}
		return nil
	case t.Map != nil:
		key, elem := c.typ(p, t.Map.Key), c.typ(p, t.Map.Value)
		if key == nil || elem == nil {
			return nil
		}
		return c.container(t, &Type{Kind: Map, Key: key, Elem: elem})
	}
	return c.namedType(p, t)
}

// maxTypeSize bounds the number of types in the text of a type after its typedefs are resolved.
// Typedefs can refer to each other many times.
const maxTypeSize = 1000

// container returns made, the model of the container t. If it is too large, container adds an
// error and returns nil.
func (c *checker) container(t *idl.Type, made *Type) *Type {
	made.size = 1 + made.Elem.sizeOf()
	if made.Key != nil {
		made.size += made.Key.sizeOf()
	}
	if made.size > maxTypeSize {
		c.errs.Add(t.Pos, "the type is made of more than %d types", maxTypeSize)
		return nil
	}
	return made
}

func (t *Type) sizeOf() int { return max(t.size, 1) }

// namedType returns the type with a name. If there is none, it adds an error and returns nil.
func (c *checker) namedType(p *Program, t *idl.Type) *Type {
	n, broken := c.lookup(p, t.Name, t.Pos)
	if len(t.Annotations) > 0 && youngTypes[t.Name] == nil {
		c.warn(t.Annotations[0].Pos, "Apache's compiler refuses annotations of %s here: only base types and containers have some", t.Name)
	}
	switch {
	case n == nil && youngTypes[t.Name] != nil:
		if !c.young[p] {
			c.young[p] = true
			c.warn(t.Pos, "Apache's compiler knows the type %s since 0.18, and some of its languages since 0.23", t.Name)
		}
		return youngTypes[t.Name]
	case n == nil && broken:
		return nil
	case n == nil:
		c.unknownType(p, t)
		return nil
	case n.service != nil:
		c.errs.Add(t.Pos, "%s is a service, not a type", t.Name)
		return nil
	case n.enum != nil:
		return &Type{Kind: EnumKind, Enum: n.enum}
	case n.strct != nil:
		return &Type{Kind: StructKind, Struct: n.strct}
	}
	return c.typedef(n.typedef)
}

// includes reports whether p includes a file with that base name.
func includes(p *Program, prefix string) bool {
	for _, q := range p.Includes {
		if q.Name == prefix {
			return true
		}
	}
	return false
}

// typedef returns the type that a typedef stands for, or nil after an error.
func (c *checker) typedef(td *typedef) *Type {
	switch td.state {
	case underway:
		c.errs.Add(td.Pos, "typedef %s refers to itself", td.Name)
	case untouched:
		td.state = underway
		td.Type = c.typ(td.in, td.ast.Type)
		td.redacts = td.Annotations.Redacts() || c.redacts(td.in, td.ast.Type)
		td.state = done
	}
	return td.Type
}

func sameType(a, b *Type) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Enum == b.Enum && a.Struct == b.Struct &&
		sameType(a.Key, b.Key) && sameType(a.Elem, b.Elem)
}

// String returns the type in the syntax of the IDL.
func (t *Type) String() string {
	switch t.Kind {
	case EnumKind:
		return t.Enum.Name
	case StructKind:
		return t.Struct.Name
	case List:
		return "list<" + t.Elem.String() + ">"
	case SetKind:
		return "set<" + t.Elem.String() + ">"
	case Map:
		return "map<" + t.Key.String() + "," + t.Elem.String() + ">"
	}
	return kinds[t.Kind].name
}

// redact is the annotation of values that must not appear in logs.
const redact = "nocopy.redact"

// Redacts reports whether values must not appear in texts and logs: the annotation nocopy.redact
// is present, and its value is not "0" or "false".
func (a Annotations) Redacts() bool {
	v, ok := a.Get(redact)
	return ok && v != "0" && v != "false"
}

// redacts reports whether a type that p uses, or one of its element types, has the annotation
// redact, directly or through a typedef.
func (c *checker) redacts(p *Program, t *idl.Type) bool {
	if annotations(t.Annotations).Redacts() {
		return true
	}
	switch {
	case t.Base != "":
		return false
	case t.List != nil:
		return c.redacts(p, t.List.Elem)
	case t.Set != nil:
		return c.redacts(p, t.Set.Elem)
	case t.Map != nil:
		return c.redacts(p, t.Map.Key) || c.redacts(p, t.Map.Value)
	}
	n, _ := c.lookup(p, t.Name, t.Pos)
	if n == nil || n.typedef == nil {
		return false
	}
	if n.typedef.state == untouched {
		c.typedef(n.typedef)
	}
	return n.typedef.redacts
}

// withRedact returns the annotations a of a field of type t. It adds the annotation redact if t
// has it and a does not have it.
func (c *checker) withRedact(p *Program, t *idl.Type, a Annotations) Annotations {
	if _, ok := a.Get(redact); ok || !c.redacts(p, t) {
		return a
	}
	return append(a, Annotation{redact, "1"})
}
