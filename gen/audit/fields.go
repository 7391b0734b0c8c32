package audit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// fieldsOf says where the compared fields belong. Its name is that of a struct, METHOD_args or
// METHOD_exception.
type fieldsOf struct {
	name    string
	union   bool
	throws  bool
	program *schema.Program // the old file
	key     string          // the name in that file; those of methods begin with SERVICE.
}

// fields compares the fields of a struct, the arguments of a method or its exceptions.
func (c *comparer) fields(old, new *schema.Struct, of fieldsOf) {
	before, after := byID(old.Fields), byID(new.Fields)
	wasID, wasName := lookups(before)
	isID, isName := lookups(after)
	for _, f := range before {
		g, to := isID[f.ID], isName[f.Name]
		at := change{of.name + "." + f.Name, f.Pos, new.Pos, of.key + "." + f.Name}
		switch {
		case g == nil && to == nil:
			c.removed(f, of, at)
		case g == nil:
			at.new = to.Pos
			now := ""
			if was := wasID[to.ID]; was != nil {
				now = fmt.Sprintf(", which was %s", short(was.Name))
			}
			c.add(Error, "field-id-changed", Wire, at, "id of field %s of %s changed from %d to %d%s", f.Name, of.name, f.ID, to.ID, now)
			c.types(f, to, of, at)
		default:
			at.new = g.Pos
			c.field(f, g, of, at)
			if to != nil && to != g {
				c.add(Error, "field-id-changed", Wire, at, "id of field %s of %s changed from %d to %d, %d is %s now",
					f.Name, of.name, f.ID, to.ID, f.ID, g.Name)
			} else {
				c.names(f, g, of, at)
			}
		}
	}
	for _, g := range after {
		if wasID[g.ID] == nil {
			moved := wasName[g.Name] != nil
			c.added(g, moved, before, of, change{of.name + "." + g.Name, old.Pos, g.Pos, of.key + "." + g.Name})
		}
	}
}

// lookups returns fields by their ids and by their names.
func lookups(fields []*schema.Field) (map[int16]*schema.Field, map[string]*schema.Field) {
	ids, names := map[int16]*schema.Field{}, map[string]*schema.Field{}
	for _, f := range fields {
		ids[f.ID], names[f.Name] = f, f
	}
	return ids, names
}

// byID returns fields in the order of their ids.
func byID(fields []*schema.Field) []*schema.Field {
	list := slices.Clone(fields)
	slices.SortStableFunc(list, func(a, b *schema.Field) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// removed adds the finding that a field was removed.
func (c *comparer) removed(f *schema.Field, of fieldsOf, at change) {
	breaks, severity := Source|JSON, Error
	switch {
	case of.throws || of.union || f.Req == schema.Required:
		breaks |= Wire
	}
	if c.opt.OptionalRemoval && f.Req == schema.Optional && !of.union && !of.throws {
		severity = Warning
	}
	c.add(severity, "field-removed", breaks, at, "field %d %s of %s removed", f.ID, f.Name, of.name)
}

// added adds findings for a field with a new id. moved says that the field's name had another id
// before. before has the old fields in the order of their ids.
func (c *comparer) added(g *schema.Field, moved bool, before []*schema.Field, of fieldsOf, at change) {
	if !moved && c.judging == nil {
		c.newID(g, before, of, at)
	}
	switch {
	case g.Req == schema.Required:
		c.add(Error, "required-field-added", Wire|JSON, at, "required field %d %s added to %s", g.ID, g.Name, of.name)
	case of.union:
		c.add(Warning, "union-field-added", Wire|JSON, at, "field %d %s added to union %s: old programs find none set", g.ID, g.Name, of.name)
	case of.throws:
		c.add(Warning, "exception-added", Wire|JSON, at, "exception %d %s added to %s: old clients do not see it", g.ID, g.Name, of.name)
	}
}

// newID adds the finding that another field had, or may have had, an id in earlier revisions. The
// same field may come back.
func (c *comparer) newID(g *schema.Field, before []*schema.Field, of fieldsOf, at change) {
	last, known, err := c.old.past.lastUse(of, g.ID)
	if known {
		typ := c.new.aliases[g.Pos.Filename].written(c.new.fields[g.Pos].Type)
		if last.name != g.Name || last.typ != typ {
			c.add(Error, "field-id-reused", Wire, at, "field %d %s added to %s with an id that was another field's: %s %s in revision %s",
				g.ID, g.Name, of.name, last.typ, last.name, last.revision)
		}
		return
	}
	if between(g.ID, before) {
		why := ""
		if err != nil {
			why = fmt.Sprintf("; its history cannot be read: %v", err)
		}
		c.add(Warning, "field-added-between", 0, at, "field %d %s added to %s between others: its id may have been another field's%s",
			g.ID, g.Name, of.name, why)
	}
}

// between reports whether a field with a later id exists. fields are in the order of their ids.
// Implicit ids count down.
func between(id int16, fields []*schema.Field) bool {
	switch {
	case len(fields) == 0:
		return false
	case id < 0:
		return fields[0].ID < id
	}
	return fields[len(fields)-1].ID > id
}

// field compares a field, which has the same id in both Versions.
func (c *comparer) field(f, g *schema.Field, of fieldsOf, at change) {
	c.types(f, g, of, at)
	if f.Req != g.Req {
		c.requirement(f, g, of, at)
	}
	if c.judging != nil {
		return // changed defaults break nothing
	}
	// The values can be compared only if they have the same type.
	differ := canonical(f.Default) != canonical(g.Default)
	if !c.same(f.Type, g.Type) {
		differ = (f.Default == nil) != (g.Default == nil)
	}
	if differ {
		c.add(Warning, "default-changed", 0, at, "default of field %d %s of %s changed%s", f.ID, f.Name, of.name, fromTo(f.Default, g.Default))
	}
}

// names compares the names of a field, in the IDL and in JSON.
func (c *comparer) names(f, g *schema.Field, of fieldsOf, at change) {
	was, is := f.JSONName(), g.JSONName()
	switch {
	case f.Name != g.Name && was == is:
		c.add(Warning, "field-renamed", Source, at, "field %d of %s renamed from %s to %s, not in JSON", f.ID, of.name, f.Name, g.Name)
	case f.Name != g.Name:
		c.add(Warning, "field-renamed", Source|JSON, at, "field %d of %s renamed from %s to %s", f.ID, of.name, f.Name, g.Name)
	case was != is:
		c.add(Warning, "json-name-changed", JSON, at, "field %d %s of %s changed in JSON from %s to %s", f.ID, f.Name, of.name, was.String(), is.String())
	}
	if c.judging == nil {
		c.httpPlace(f, g, of, at)
	}
}

// types compares the two types of a field.
func (c *comparer) types(f, g *schema.Field, of fieldsOf, at change) {
	if !c.same(f.Type, g.Type) {
		was, is := c.typeTexts(f.Type, g.Type)
		c.add(Error, "field-type-changed", c.typeBreaks(f.Type, g.Type), at, "type of field %d %s of %s changed from %s to %s",
			f.ID, f.Name, of.name, was, is)
		return
	}
	old, new := c.old.fields[f.Pos], c.new.fields[g.Pos]
	if old == nil || new == nil {
		return
	}
	c.typedefName(old.Type, new.Type, at, "field %d %s of %s", f.ID, f.Name, of.name)
}

// typedefName adds a finding if a type is the same under another name.
func (c *comparer) typedefName(old, new *idl.Type, at change, what string, args ...any) {
	if c.sameTypedefs(old, new) {
		return
	}
	a, b := written(old, bare), written(new, bare)
	if a == b {
		whole := func(name string) string { return name }
		a, b = written(old, whole), written(new, whole)
	}
	c.add(Warning, "typedef-name-changed", Source, at, what+" changed from %s to %s, which is the same type", append(args, a, b)...)
}

// sameTypedefs reports whether a type, which is the same in both Versions, is written with the
// same typedefs.
func (c *comparer) sameTypedefs(old, new *idl.Type) bool {
	if old == nil || new == nil {
		return true
	}
	a, b := c.old.typedef(old), c.new.typedef(new)
	switch {
	case a != nil || b != nil:
		return a != nil && c.pairs.typedefs[a] == b
	case old.List != nil:
		return c.sameTypedefs(old.List.Elem, new.List.Elem)
	case old.Set != nil:
		return c.sameTypedefs(old.Set.Elem, new.Set.Elem)
	case old.Map != nil:
		return c.sameTypedefs(old.Map.Key, new.Map.Key) && c.sameTypedefs(old.Map.Value, new.Map.Value)
	}
	return true
}

var requirementWords = [...]string{schema.DefaultReq: "default", schema.Required: "required", schema.Optional: "optional"}

// requirement adds the finding that a field's requiredness has changed.
func (c *comparer) requirement(f, g *schema.Field, of fieldsOf, at change) {
	breaks, severity := Wire|JSON, Error
	switch {
	case f.Req != schema.Required && g.Req != schema.Required:
		breaks, severity = Source, Warning
	case c.opt.RequiredToDefault && f.Req == schema.Required && g.Req == schema.DefaultReq:
		severity = Warning
	case f.Req == schema.Optional || g.Req == schema.Optional:
		breaks |= Source
	}
	c.add(severity, "requiredness-changed", breaks, at, "field %d %s of %s changed from %s to %s",
		f.ID, f.Name, of.name, requirementWords[f.Req], requirementWords[g.Req])
}
