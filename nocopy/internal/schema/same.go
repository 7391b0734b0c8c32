package schema

import (
	"strconv"
	"sync/atomic"
)

// Two packages of generated code may have the same struct: one IDL, compiled twice, perhaps by
// different versions or from different states of it. This file compares such descriptors.

// SameTypes reports whether the IDL declares t and u alike. The order of fields does not count.
func SameTypes(t, u *Type) bool {
	if t == u {
		return true
	}
	if d, e := t.Struct(), u.Struct(); d != nil && e != nil {
		return SameDescs(d, e)
	}
	c := newComparison(false)
	return c.types(t, u)
}

// SameDescs reports whether the IDL declares two structs alike. The order of fields does not
// count.
func SameDescs(d, e *Struct) bool { return d.isLike(e, false, &d.same) }

// SameLayout reports whether the IDL declares two structs alike, with all fields in one order, and
// so the structs in them at any depth. Then a handle of one is good for the accessors of the
// other: both have the same constants for the fields, and bytes of one are valid for the other.
func SameLayout(d, e *Struct) bool { return d.isLike(e, true, &d.sameLayout) }

// isLike reports whether two structs are the same and, if layout is set, have their fields in one
// order. last has the struct for which the answer was last yes.
func (d *Struct) isLike(e *Struct, layout bool, last *atomic.Pointer[Struct]) bool {
	if d == e || last.Load() == e {
		return true
	}
	c := newComparison(layout)
	if !c.structs(d, e) {
		return false
	}
	last.Store(e)
	return true
}

// Apart completes the text of a panic that refuses a t where a u is needed. It returns "" if their
// names tell them apart, else where their declarations differ, and what to do.
func Apart(t, u *Type) string {
	c := newComparison(false)
	if t.String() == u.String() && c.types(t, u) {
		c = newComparison(true)
		c.types(t, u)
	}
	if c.difference == "" {
		return ""
	}
	return ": two packages declare it differently (" + c.difference + "). Parse the bytes of one as the other"
}

type descPair struct{ d, e *Struct }

// comparison compares types. It assumes that the pairs of structs in seen are alike, since structs
// may contain themselves.
type comparison struct {
	seen       map[descPair]bool
	layout     bool   // the order of fields counts
	difference string // between the first structs of one name that differ
}

func newComparison(layout bool) comparison {
	return comparison{seen: map[descPair]bool{}, layout: layout}
}

// types reports whether t and u are alike.
func (c *comparison) types(t, u *Type) bool {
	switch {
	case t == u:
		return true
	case t == nil || u == nil || t.Wire() != u.Wire() || t.Binary() != u.Binary() || (t.Enum() == nil) != (u.Enum() == nil):
		return false
	case t.Enum() != nil:
		return t.Enum().TypeName() == u.Enum().TypeName()
	case t.Struct() != nil:
		return c.structs(t.Struct(), u.Struct())
	}
	return c.types(t.Key(), u.Key()) && c.types(t.Elem(), u.Elem())
}

// structs reports whether d and e are alike.
func (c *comparison) structs(d, e *Struct) bool {
	if d == e || c.seen[descPair{d, e}] {
		return true
	}
	c.seen[descPair{d, e}] = true
	switch {
	case d.Name() != e.Name():
		return false
	case d.IsUnion() != e.IsUnion() || d.IsException() != e.IsException():
		return c.differ("only one " + d.Name() + " is a union or exception")
	case !c.contains(d, e) || !c.contains(e, d):
		return false
	}
	for i := range d.fields {
		f, g := &d.fields[i], &e.fields[e.NumberByID(d.fields[i].ID)]
		switch {
		case f.Name != g.Name || f.Req != g.Req || !c.types(f.Type, g.Type):
			return c.differ(d.Name() + " has " + f.declaration() + ", the other " + g.declaration())
		case f.Default != g.Default:
			return c.differ("defaults of " + d.Name() + "." + f.Name)
		case c.layout && f.c != g.c:
			return c.differ("the order of the fields of " + d.Name())
		}
	}
	return true
}

// contains reports whether d has the ids of all fields of e.
func (c *comparison) contains(d, e *Struct) bool {
	for i := range e.fields {
		if d.NumberByID(e.fields[i].ID) < 0 {
			return c.differ("only one " + d.Name() + " has " + e.fields[i].declaration())
		}
	}
	return true
}

// differ notes a difference, if it is the first one, and returns false.
func (c *comparison) differ(text string) bool {
	if c.difference == "" {
		c.difference = text
	}
	return false
}

// declaration returns the field as the IDL declares it, without its default.
func (f *Field) declaration() string {
	text := strconv.Itoa(int(f.ID)) + ": "
	if f.Req != DefaultReq && !f.of.union {
		text += f.Req.String() + " "
	}
	return text + f.Type.String() + " " + f.Name
}

// Equal reports whether t and u have the same values on the wire: base types of the same name,
// structs that SameLayout finds alike, and containers of such types. All enums are equal, as are
// string and binary.
func (t *Type) Equal(u *Type) bool {
	switch {
	case t == u:
		return true
	case t == nil || u == nil || t.wire != u.wire:
		return false
	case t.kind == Record:
		return SameLayout(t.desc, u.desc)
	case t.kind == Dict:
		return t.key.Equal(u.key) && t.elem.Equal(u.elem)
	}
	return t.kind != List || t.elem.Equal(u.elem)
}
