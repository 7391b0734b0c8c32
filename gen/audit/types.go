package audit

import (
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// same reports whether a type is the same in both Versions, typedefs resolved.
func (c *comparer) same(old, new *schema.Type) bool {
	if old == nil || new == nil {
		return old == new
	}
	if old.Kind != new.Kind {
		return false
	}
	switch old.Kind {
	case schema.EnumKind:
		if to := c.pairs.enums[old.Enum]; to != nil {
			return to == new.Enum
		}
		return old.Enum.Name == new.Enum.Name
	case schema.StructKind:
		if to := c.pairs.structs[old.Struct]; to != nil {
			return to == new.Struct
		}
		return old.Struct.Name == new.Struct.Name
	}
	return c.same(old.Key, new.Key) && c.same(old.Elem, new.Elem)
}

// typeBreaks returns what it breaks that a value's type has changed.
func (c *comparer) typeBreaks(old, new *schema.Type) Breaks {
	breaks := Source
	w := reader{c: c, under: map[[2]*schema.Struct]bool{}}
	if !w.reads(old, new) {
		breaks |= Wire
	}
	j := reader{c: c, json: true, under: map[[2]*schema.Struct]bool{}}
	if !j.reads(old, new) {
		breaks |= JSON
	}
	return breaks
}

// A reader finds out whether values of two types are read as each other, on the wire or as JSON.
type reader struct {
	c     *comparer
	json  bool
	under map[[2]*schema.Struct]bool // pairs of structs that were asked for before
}

// reads reports whether a value of each type is read as the other: the same, or an equal part.
func (r *reader) reads(old, new *schema.Type) bool {
	if old == nil || new == nil {
		return old == new
	}
	if r.json {
		if old.Kind == schema.List && new.Kind == schema.SetKind || old.Kind == schema.SetKind && new.Kind == schema.List {
			return r.reads(old.Elem, new.Elem)
		}
		if old.Kind != new.Kind {
			return false
		}
	} else if old.WireType() != new.WireType() {
		return false
	}
	switch {
	case old.Kind == schema.EnumKind && new.Kind == schema.EnumKind:
		return r.enums(old.Enum, new.Enum)
	case old.Kind == schema.EnumKind || new.Kind == schema.EnumKind:
		return true // an i32
	case old.Kind == schema.StructKind:
		return r.structs(old.Struct, new.Struct)
	}
	if old.Key != nil && !r.reads(old.Key, new.Key) {
		return false
	}
	return old.Elem == nil || r.reads(old.Elem, new.Elem)
}

// enums reports whether all values of the old enum are in the new one.
func (r *reader) enums(old, new *schema.Enum) bool {
	if r.c.pairs.enums[old] == new {
		return true // what is different in them is found there
	}
	numbers, names := map[int32]bool{}, map[string]bool{}
	for _, v := range new.Values {
		numbers[v.Value], names[v.Name] = true, true
	}
	for _, v := range old.Values {
		if !numbers[v.Value] || r.json && !names[v.Name] {
			return false
		}
	}
	return true
}

// structs reports whether values of two structs read as each other: the fields that both have
// must, and neither may lack a required one.
func (r *reader) structs(old, new *schema.Struct) bool {
	key := [2]*schema.Struct{old, new}
	if r.under[key] || r.c.pairs.structs[old] == new {
		return true // it is found there, or being compared already
	}
	r.under[key] = true
	if (old.Shape == schema.IsUnion) != (new.Shape == schema.IsUnion) {
		return false
	}
	other := map[any]*schema.Field{}
	for _, f := range new.Fields {
		other[r.key(f)] = f
	}
	for _, f := range old.Fields {
		g := other[r.key(f)]
		delete(other, r.key(f))
		switch {
		case g == nil && (f.Req == schema.Required || r.json):
			return false
		case g == nil:
		case (f.Req == schema.Required) != (g.Req == schema.Required) || !r.reads(f.Type, g.Type):
			return false
		}
	}
	for _, g := range other {
		if g.Req == schema.Required || r.json {
			return false
		}
	}
	return true
}

// key returns what identifies a field: its id on the wire, its name in JSON.
func (r *reader) key(f *schema.Field) any {
	if r.json {
		return f.Name
	}
	return f.ID
}

// written returns a type as the file writes it, without the names of included files.
func written(t *idl.Type) string {
	switch {
	case t == nil:
		return "void"
	case t.List != nil:
		return "list<" + written(t.List.Elem) + ">"
	case t.Set != nil:
		return "set<" + written(t.Set.Elem) + ">"
	case t.Map != nil:
		return "map<" + written(t.Map.Key) + "," + written(t.Map.Value) + ">"
	case t.Base == "byte":
		return "i8"
	case t.Base != "":
		return t.Base
	}
	return t.Name[strings.LastIndexByte(t.Name, '.')+1:]
}

// typeText returns a type as messages show it.
func typeText(t *schema.Type) string {
	if t == nil {
		return "void"
	}
	return short(t.String())
}
