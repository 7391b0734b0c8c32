package render

import (
	"bytes"
	"math"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Equating holds the options of messages.Equal, one bit
// each: they make values equal that differ on the wire.
type Equating uint8

// The options of package messages.
const (
	EquateNaNs Equating = 1 << iota
	EquateDefaults
	IgnoreUnknown
)

// EqualStructs reports whether a and b are equal in the sense of messages.Equal without options. d
// describes both.
func EqualStructs(a, b engine.Struct, d *schema.Struct) bool {
	a.CheckDesc(d)
	b.CheckDesc(d)
	t := schema.StructOf(d)
	return Equal(a, t, b, t, 0)
}

// EqualContainers reports whether two lists, sets or maps of the same Go type are equal, as
// package messages' Equal does without options.
func EqualContainers(a, b engine.Struct) bool {
	return Equal(a, a.ContainerType(), b, b.ContainerType(), 0)
}

// Equal reports whether the handles a and b, of types t and u, are equal. An absent list, set or
// map has a nil type.
func Equal(a engine.Struct, t *schema.Type, b engine.Struct, u *schema.Type, opt Equating) bool {
	switch aHere, bHere := a.Valid(), b.Valid(); {
	case !aHere && !bHere:
		return t == nil || u == nil || schema.SameTypes(t, u)
	case aHere != bHere && opt&EquateDefaults == 0:
		return false
	case t == nil || u == nil: // one is absent: the other must be an empty container
		return (t == nil || t.Struct() == nil) && (u == nil || u.Struct() == nil) && a.Count() == b.Count()
	}
	c := comparison{opt: opt}
	return schema.SameTypes(t, u) && c.handles(t, u, a, b)
}

// AppendKey appends bytes that identify a map's key: two keys of one type have the same bytes if
// and only if they are equal. All NaNs have the same bytes; unequal reports whether the key is or
// contains one, and therefore equals nothing.
func AppendKey(dst []byte, key engine.Value) (_ []byte, unequal bool) {
	c := comparison{}
	return c.key(dst, key.Type(), key.Type(), key), c.unequal
}

// AppendElement is AppendKey for an element of a set. As elements, 0 and −0 are equal.
func AppendElement(dst []byte, v engine.Value) (_ []byte, unequal bool) {
	c := comparison{}
	return c.encode(dst, v.Type(), v.Type(), v), c.unequal
}

// comparison compares values. Its methods take pairs of types. The second type is the same as the
// first, or was made from the same IDL.
type comparison struct {
	opt Equating
	// A double that equals nothing, itself included, was found while encoding.
	unequal bool
	depth   int
	// The encodings of unset fields' values, once needed; nil while one is being made
	zeros map[*schema.FieldDesc][]byte
}

// mostCompared bounds the depth of structs and containers, above what Parse accepts. A program
// that builds deeper values would run out of stack.
const mostCompared = 1 << 18

func (c *comparison) enter() {
	if c.depth++; c.depth > mostCompared {
		panic("nocopy: messages nested too deeply to be compared")
	}
}

// value compares two values. Neither is an unset field.
func (c *comparison) value(t, u *schema.Type, a, b engine.Value) bool {
	switch t.Wire() {
	case wire.Double:
		x, y := a.Float(), b.Float()
		return x == y || c.opt&EquateNaNs != 0 && math.IsNaN(x) && math.IsNaN(y)
	case wire.Struct, wire.List, wire.Set, wire.Map:
		return c.handles(t, u, a.Struct(), b.Struct())
	}
	return a.Int() == b.Int() && bytes.Equal(a.Bytes(), b.Bytes())
}

// handles compares two structs, lists, sets or maps. An absent one is as an empty one, whose
// fields are not set. Sets and maps whose bytes differ are compared by their encodings.
func (c *comparison) handles(t, u *schema.Type, a, b engine.Struct) bool {
	c.enter()
	defer func() { c.depth-- }()
	x, flat := a.WireIn(t)
	y, flat2 := b.WireIn(u)
	identical := flat && flat2 && bytes.Equal(x, y)
	if identical && (c.opt&EquateNaNs != 0 || !t.HasDoubles()) {
		return true
	}
	switch t.Wire() {
	case wire.Struct:
		return c.structs(t.Struct(), u.Struct(), a, b) &&
			(identical || bytes.Equal(c.unknown(nil, t.Struct(), a), c.unknown(nil, u.Struct(), b)))
	case wire.List:
		return c.lists(t.Elem(), u.Elem(), a, b)
	}
	encoded := c.handle(nil, t, t, a)
	return !c.unequal && bytes.Equal(encoded, c.handle(make([]byte, 0, len(encoded)), t, u, b)) && !c.unequal
}

// structs compares the fields of two structs, unions or exceptions that their types have.
func (c *comparison) structs(d, e *schema.Struct, a, b engine.Struct) bool {
	if !a.Valid() && !b.Valid() {
		return true
	}
	next := func(i int) int {
		if d != e {
			return i
		}
		return min(a.NextField(d, i), b.NextField(d, i))
	}
	for i := next(0); i < d.NumFields(); i = next(i + 1) {
		v, aSet := fieldOf(d, d, i, a)
		w, bSet := fieldOf(d, e, i, b)
		switch {
		case aSet && bSet:
			if !c.value(v.Type(), w.Type(), v, w) {
				return false
			}
		case aSet || bSet:
			if aSet {
				w = v
			}
			if c.opt&EquateDefaults == 0 || d.IsUnion() || !c.isDefault(d, i, c.encode(nil, d.FieldDesc(i).Type, w.Type(), w)) || c.unequal {
				return false
			}
		}
	}
	return true
}

// fieldOf returns field i of d in s, which e describes: the same type as d. It reports whether the
// field is set. Of a union, only the last arm is.
func fieldOf(d, e *schema.Struct, i int, s engine.Struct) (engine.Value, bool) {
	f := d.Field(i)
	if d != e {
		f = e.Field(e.NumberByID(d.FieldDesc(i).ID))
	}
	if !s.Sent(f, e) {
		return engine.Value{}, false
	}
	return s.Value(f, e), true
}

// lists compares two lists.
func (c *comparison) lists(t, u *schema.Type, a, b engine.Struct) bool {
	n := a.Count()
	if n != b.Count() {
		return false
	}
	for i := range n {
		if !c.value(t, u, a.Element(i), b.Element(i)) {
			return false
		}
	}
	return true
}
