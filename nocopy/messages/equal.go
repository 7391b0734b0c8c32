package messages

import (
	"bytes"
	"math"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Option changes what Equal takes for equal.
type Option uint8

const (
	// EquateNaNs makes all NaNs equal.
	EquateNaNs Option = 1 << iota
	// EquateDefaults makes a field that is not set equal one with the IDL's default, or with the zero
	// or an empty value: what getters return counts. Which arm of a union is set still does.
	EquateDefaults
	// IgnoreUnknown leaves out the fields that the IDL does not know.
	IgnoreUnknown
)

// Equal reports whether a and b, each a struct, list, set or map, are equal, as the package's
// comment says. Nothing is changed, but that what is being built in them is completed.
func Equal[A, B nocopy.AnyHandle](a A, b B, opts ...Option) bool {
	var c comparison
	for _, o := range opts {
		c.opt |= o
	}
	sa, ta := handleOf(a)
	sb, tb := handleOf(b)
	aHere, bHere := sa.Valid(), sb.Valid()
	if (!aHere || !bHere) && (ta == nil || tb == nil) { // of absent containers the type is not known
		switch {
		case aHere == bHere:
			return true
		case c.opt&EquateDefaults == 0:
			return false
		case ta == nil && tb == nil, ta != nil && ta.Struct() != nil, tb != nil && tb.Struct() != nil:
			return false
		}
		return sa.Count() == sb.Count()
	}
	switch {
	case !sameTypes(ta, tb):
		return false
	case !aHere && !bHere:
		return true
	case aHere != bHere && c.opt&EquateDefaults == 0:
		return false
	}
	return c.handles(ta, tb, sa, sb)
}

// handleOf returns a handle without its Go type, and its type; nil of a list, set or map that is
// absent.
func handleOf[H nocopy.AnyHandle](h H) (thriftimpl.Struct, *thriftimpl.Type) {
	if any(h) == nil {
		return thriftimpl.Struct{}, nil
	}
	if m, ok := any(h).(nocopy.AnyStruct); ok {
		thriftimpl.CheckNil(m)
		if m.ThriftDesc() == nil { // the zero reflection.Message
			return thriftimpl.Struct{}, nil
		}
		return m.ThriftStruct(), thriftimpl.StructOf(m.ThriftDesc())
	}
	s := h.ThriftStruct()
	return s, s.ContainerType()
}

// comparison compares values. Of each pair of types that its methods are given, the second one is
// the same as the first, or made of the same IDL.
type comparison struct {
	opt Option
	// A double that equals nothing, itself included, was found while encoding.
	unequal bool
	depth   int
	// The encodings of what fields read as when they are not set, once needed; nil while in the works
	zeros map[*thriftimpl.FieldDesc][]byte
}

// mostDepth is the most structs and containers in each other, more than Parse accepts. A program
// that builds more would run out of stack.
const mostDepth = 1 << 18

func (c *comparison) enter() {
	if c.depth++; c.depth > mostDepth {
		panic("nocopy: messages nested too deeply to be compared")
	}
}

// value compares two values, neither of which is a field that is not set.
func (c *comparison) value(t, u *thriftimpl.Type, a, b thriftimpl.Value) bool {
	switch t.Wire() {
	case nocopy.WireDouble:
		x, y := a.Float(), b.Float()
		return x == y || c.opt&EquateNaNs != 0 && math.IsNaN(x) && math.IsNaN(y)
	case nocopy.WireString, nocopy.WireUUID:
		return bytes.Equal(a.Bytes(), b.Bytes())
	case nocopy.WireStruct, nocopy.WireList, nocopy.WireSet, nocopy.WireMap:
		return c.handles(t, u, a.Struct(), b.Struct())
	}
	return a.Int() == b.Int()
}

// handles compares two structs, lists, sets or maps. An absent one is as an empty one, whose
// fields are not set.
func (c *comparison) handles(t, u *thriftimpl.Type, a, b thriftimpl.Struct) bool {
	c.enter()
	defer func() { c.depth-- }()
	x, flat := a.WireIn(t)
	y, flat2 := b.WireIn(u)
	identical := flat && flat2 && bytes.Equal(x, y)
	if identical && (c.opt&EquateNaNs != 0 || !hasDoubles(t)) {
		return true
	}
	switch t.Wire() {
	case nocopy.WireStruct:
		return c.structs(t.Struct(), u.Struct(), a, b) &&
			(identical || c.opt&IgnoreUnknown != 0 || sameUnknown(unknownOf(t.Struct(), a), unknownOf(u.Struct(), b)))
	case nocopy.WireList:
		return c.lists(t.Elem(), u.Elem(), a, b)
	case nocopy.WireSet:
		return c.lists(t.Elem(), u.Elem(), a, b) || c.encoded(t, u, a, b)
	}
	return c.maps(t, u, a, b)
}

// structs compares the fields of two structs, unions or exceptions that their types have.
func (c *comparison) structs(d, e *thriftimpl.Desc, a, b thriftimpl.Struct) bool {
	if !a.Valid() && !b.Valid() {
		return true
	}
	if d.IsUnion() && armOf(d, a) != armOf(e, b) {
		return false
	}
	for i := range d.NumFields() {
		f, g := d.Field(i), fieldOf(e, d, i)
		aSet, bSet := a.Has(f), b.Has(g)
		if d.IsUnion() { // both have the same arm; others do not count
			aSet = aSet && d.ArmID(a.Which()) == d.FieldDesc(i).ID
			bSet = aSet
		}
		switch {
		case !aSet && !bSet:
			continue
		case aSet != bSet && c.opt&EquateDefaults == 0:
			return false
		}
		v, w := a.Value(f, d), b.Value(g, e)
		if aSet != bSet && d.FieldDesc(i).Default != "" && isHandle(v.Type()) {
			if !aSet {
				v = w // compared by its encoding, since defaults may have the same field in them
			}
			zero, ok := c.zero(d, i)
			if got := c.encode(nil, d.FieldDesc(i).Type, v.Type(), v); !ok || c.unequal || !bytes.Equal(got, zero) {
				return false
			}
			continue
		}
		if !c.value(v.Type(), w.Type(), v, w) {
			return false
		}
	}
	return true
}

// armOf returns the id of the arm that is set of a union, and whether there is one.
func armOf(d *thriftimpl.Desc, s thriftimpl.Struct) [2]int16 {
	if word := s.Which(); word != 0 {
		return [2]int16{1, d.ArmID(word)}
	}
	return [2]int16{}
}

// fieldOf returns the field of e that is field i of d, which is the same type.
func fieldOf(e, d *thriftimpl.Desc, i int) thriftimpl.Field {
	if d == e {
		return d.Field(i)
	}
	return e.Field(e.NumberByID(d.FieldDesc(i).ID))
}

// lists compares two lists, or two sets by the order of their elements.
func (c *comparison) lists(t, u *thriftimpl.Type, a, b thriftimpl.Struct) bool {
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

// encoded compares two sets or structs by their encodings.
func (c *comparison) encoded(t, u *thriftimpl.Type, a, b thriftimpl.Struct) bool {
	if (a.Count() == 0) != (b.Count() == 0) {
		return false
	}
	x := c.handle(nil, t, t, a)
	if c.unequal {
		return false
	}
	return bytes.Equal(x, c.handle(make([]byte, 0, len(x)), t, u, b)) && !c.unequal
}

// maps compares two maps: first their keys, then the values of each key once.
func (c *comparison) maps(t, u *thriftimpl.Type, a, b thriftimpl.Struct) bool {
	if (a.Count() == 0) != (b.Count() == 0) {
		return false
	}
	x, y := c.pairsOf(t, t, a), c.pairsOf(t, u, b)
	if c.unequal || len(x.all) != len(y.all) {
		return false
	}
	for i := range x.all {
		if !bytes.Equal(x.key(i), y.key(i)) {
			return false
		}
	}
	for i := range x.all {
		if !c.value(t.Elem(), u.Elem(), x.all[i].value, y.all[i].value) {
			return false
		}
	}
	return true
}
