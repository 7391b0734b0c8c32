package audit

import (
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// same reports whether a type is the same in both Versions, with typedefs resolved. Structs and
// enums must be pairs; their names do not matter.
func (c *comparer) same(old, new *schema.Type) bool {
	if old == nil || new == nil {
		return old == new
	}
	if old.Kind != new.Kind {
		return false
	}
	switch old.Kind {
	case schema.EnumKind:
		return c.pairs.enums[old.Enum] == new.Enum
	case schema.StructKind:
		return c.pairs.structs[old.Struct] == new.Struct
	}
	return c.same(old.Key, new.Key) && c.same(old.Elem, new.Elem)
}

// typeBreaks returns what changing a value's type from old to new breaks.
func (c *comparer) typeBreaks(old, new *schema.Type) Breaks { return Source | c.valueBreaks(old, new) }

// valueBreaks returns which of Wire and JSON breaks if values of one type are read as the other.
// It does not look into a struct or enum that is the same in both Versions: comparing that finds
// its changes.
func (c *comparer) valueBreaks(old, new *schema.Type) Breaks {
	if c.same(old, new) {
		return 0
	}
	if old == nil || new == nil {
		return Wire | JSON
	}
	var breaks Breaks
	if old.WireType() != new.WireType() {
		breaks |= Wire
	}
	isList := func(t *schema.Type) bool { return t.Kind == schema.List || t.Kind == schema.SetKind }
	switch {
	case old.Kind != new.Kind && !(isList(old) && isList(new)):
		return breaks | JSON
	case old.Kind == schema.EnumKind:
		return c.replaced([2]any{old.Enum, new.Enum}, func() { c.enum(old.Enum, new.Enum) })
	case old.Kind == schema.StructKind:
		return c.replaced([2]any{old.Struct, new.Struct}, func() { c.structs(change{}, old.Struct, new.Struct) })
	case old.Key != nil:
		breaks |= c.valueBreaks(old.Key, new.Key)
	}
	if old.Elem != nil {
		breaks |= c.valueBreaks(old.Elem, new.Elem)
	}
	return breaks
}

// A verdict says which of Wire and JSON breaks if one definition is replaced by another. It is
// found by comparing the two as if the first had been changed to the second.
type verdict struct {
	breaks Breaks
	users  []*verdict // verdicts of definitions that contain the two
}

// gain adds breaks to the verdict and to its users.
func (v *verdict) gain(breaks Breaks) {
	todo := []*verdict{v}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if v.breaks|breaks != v.breaks {
			v.breaks |= breaks
			todo = append(todo, v.users...)
		}
	}
}

// maxVerdicts bounds the pairs of definitions that are compared because one replaced the other.
// Two circles of definitions that contain each other can make very many pairs. Further pairs count
// as broken.
const maxVerdicts = 1 << 16

// replaced returns the verdict about two definitions, which compare compares. While another
// verdict is being found, the result may be incomplete; gain adds the rest later.
func (c *comparer) replaced(defs [2]any, compare func()) Breaks {
	v := c.verdicts[defs]
	if v == nil && len(c.verdicts) == maxVerdicts {
		return Wire | JSON
	}
	if v == nil {
		v = &verdict{}
		c.verdicts[defs] = v
		c.pending = append(c.pending, func() {
			c.judging = v
			compare()
		})
	}
	if c.judging != nil {
		v.users = append(v.users, c.judging)
		return v.breaks
	}
	for len(c.pending) > 0 {
		next := c.pending[len(c.pending)-1]
		c.pending = c.pending[:len(c.pending)-1]
		next()
	}
	c.judging = nil
	return v.breaks
}

// written returns a type as text. named returns the text of a name.
func written(t *idl.Type, named func(string) string) string {
	switch {
	case t == nil:
		return "void"
	case t.List != nil:
		return "list<" + written(t.List.Elem, named) + ">"
	case t.Set != nil:
		return "set<" + written(t.Set.Elem, named) + ">"
	case t.Map != nil:
		return "map<" + written(t.Map.Key, named) + "," + written(t.Map.Value, named) + ">"
	case t.Base == "byte":
		return "i8"
	case t.Base != "":
		return t.Base
	}
	return named(t.Name)
}

// bare returns a name without the name of an included file.
func bare(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// typeTexts returns an old and a new type in the form for messages. The two texts differ.
func (c *comparer) typeTexts(old, new *schema.Type) (string, string) {
	return texts(
		func(l label) string { return typeText(old, c.old, l) },
		func(l label) string { return typeText(new, c.new, l) })
}

// typeText returns a type as text, with names in the form of label l.
func typeText(t *schema.Type, v *Version, l label) string {
	if t == nil {
		return "void"
	}
	switch t.Kind {
	case schema.EnumKind:
		return l(v, t.Enum.Program, t.Enum.Name)
	case schema.StructKind:
		return l(v, t.Struct.Program, t.Struct.Name)
	case schema.List:
		return "list<" + typeText(t.Elem, v, l) + ">"
	case schema.SetKind:
		return "set<" + typeText(t.Elem, v, l) + ">"
	case schema.Map:
		return "map<" + typeText(t.Key, v, l) + "," + typeText(t.Elem, v, l) + ">"
	}
	return t.String()
}

// A label returns the name of a file's definition in a message.
type label func(v *Version, p *schema.Program, name string) string

// labels are the forms of a definition's name, from the shortest to one that identifies it.
var labels = []label{
	func(_ *Version, _ *schema.Program, name string) string { return name },
	func(_ *Version, p *schema.Program, name string) string { return p.Name + "." + name },
	func(v *Version, p *schema.Program, name string) string { return name + " of " + v.show(p.Path) },
}

// texts returns a text about the old and a text about the new Version, with the first label that
// makes them differ.
func texts(old, new func(label) string) (was, is string) {
	for _, l := range labels {
		if was, is = short(old(l)), short(new(l)); was != is {
			break
		}
	}
	return was, is
}
