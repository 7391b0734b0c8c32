package valuerules

import (
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

// check is the check of one message.
type check struct {
	rules  *Rules
	report func(Violation)
	left   int                // steps; negative if some rules were left out
	in     reflection.Message // the struct whose fields rules may name

	path   []byte
	hidden int // how many redacted fields are around the value
}

// step takes steps, and reports whether there were as many left.
func (c *check) step(n int) bool {
	if c.left < 0 {
		return false
	}
	c.left -= n
	return c.left >= 0
}

// structure checks a struct. skip is set if its own rules are not checked.
func (c *check) structure(m reflection.Message, skip bool) {
	s := c.rules.structs[m.Descriptor().Desc()]
	if s == nil || skip || !m.Valid() {
		return
	}
	outside := c.in
	c.in = m
	for i, r := range s.fields {
		if r != nil {
			c.field(m, m.Descriptor().Field(i), r)
		}
	}
	for _, r := range s.asserts {
		c.rule(r, reflection.Value{})
	}
	c.in = outside
}

// field checks a field: if it is optional, only if it is set.
func (c *check) field(m reflection.Message, f descriptor.Field, r *valueRules) {
	isSet := m.HasByID(f.ID())
	if f.Requiredness() == descriptor.Optional && !isSet && r.notNil == nil {
		return
	}
	before := len(c.path)
	if c.hidden == 0 { // else the path stops
		if before > 0 {
			c.path = append(c.path, '.')
		}
		c.path = append(c.path, f.Name()...)
	}
	if r.hidden {
		c.hidden++
	}
	if r.notNil != nil && !isSet {
		c.fail(r.notNil, reflection.Value{})
	} else if v, err := m.GetByID(f.ID()); err == nil {
		c.value(f.Type(), r, v)
	}
	if r.hidden {
		c.hidden--
	}
	c.path = c.path[:before]
}

// value checks a value and what is in it.
func (c *check) value(t descriptor.Type, r *valueRules, v reflection.Value) {
	if r == nil {
		r = &valueRules{}
	}
	for _, rule := range r.rules {
		c.rule(rule, v)
	}
	if t.Struct().Valid() {
		if c.step(1) {
			c.structure(v.Message(), r.skip)
		}
		return
	}
	switch t.WireType() {
	case nocopy.WireList, nocopy.WireSet:
		if elem := r.part(false); elem != nil || len(structsIn(nil, t.Elem())) > 0 {
			c.inside(func() {
				for _, e := range v.List().All() {
					c.value(t.Elem(), elem, e)
				}
			})
		}
	case nocopy.WireMap:
		key, elem := r.part(true), r.part(false)
		if key != nil || elem != nil || len(structsIn(nil, t)) > 0 {
			c.inside(func() {
				for k, e := range v.Map().All() {
					c.value(t.Key(), key, k)
					c.value(t.Elem(), elem, e)
				}
			})
		}
	}
}

// rule checks a rule, unless that would take too many steps.
func (c *check) rule(r *rule, v reflection.Value) {
	steps := 1
	if r.cost != nil {
		steps += r.cost(v)
	}
	if c.step(steps) && !r.holds(c, v) && c.left >= 0 {
		c.fail(r, v)
	}
}

// inside calls f, which checks what is in a container.
func (c *check) inside(f func()) {
	before := len(c.path)
	if c.hidden == 0 {
		c.path = append(c.path, "[*]"...)
	}
	f()
	c.path = c.path[:before]
}

// part returns the rules for the keys of a map, or for the elements of a container. If structs in
// the container are skipped, so are those in its elements.
func (r *valueRules) part(key bool) *valueRules {
	inner := r.elem
	if key {
		inner = r.key
	}
	if !r.skip {
		return inner
	}
	with := valueRules{skip: true}
	if inner != nil {
		with = *inner
		with.skip = true
	}
	return &with
}

// fail reports that a value breaks a rule.
func (c *check) fail(r *rule, v reflection.Value) {
	got := ""
	if r.got != nil && c.hidden == 0 {
		got = r.got(v)
	}
	c.report(Violation{string(c.path), r.text, got})
}

// mayAllocate reports whether a rule may make a text of about this size, which takes steps.
func (c *check) mayAllocate(size int) bool {
	const most = 1 << 20
	if size > most {
		c.left = -1
		return false
	}
	return c.step(size / charactersPerStep)
}
