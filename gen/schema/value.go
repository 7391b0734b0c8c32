package schema

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// maxValues bounds the values that all constants may expand to: constants can refer to each other
// many times. For files of n bytes, the bound is at most fewValues + 4n.
const (
	maxValues = 1 << 20
	fewValues = 1 << 16
)

// Value is a constant value of its Type.
type Value struct {
	Type   *Type
	Int    int64    // bool (0 or 1), integers, enums
	Double float64  // double
	Text   string   // string, binary; the 16 bytes of a uuid
	Elems  []*Value // list, set; the values of a map
	Keys   []*Value // the keys of a map
	Fields []FieldValue
	Wire   string // the value in Thrift Binary

	numbers map[*Field]int // of those in Fields; see set
}

// FieldValue is a field that is set in a struct's value.
type FieldValue struct {
	Field *Field
	Value *Value
}

// constants evaluates constants, then the defaults of fields.
func (c *checker) constants(p *Program) {
	for _, k := range p.Consts {
		c.constant(k)
	}
	for _, s := range p.Structs {
		c.defaults(p, s, s.ast.Fields)
	}
}

// defaults evaluates the defaults of a struct's fields.
func (c *checker) defaults(p *Program, s *Struct, list []*idl.Field) {
	for i, f := range s.Fields {
		if v := list[i].Default; v != nil && f.Type != nil {
			f.Default = c.eval(evalContext{p, nil}, f.Type, v)
		}
	}
}

// constant returns the value of a constant, or nil after an error.
func (c *checker) constant(k *Const) *Value {
	if k.state == untouched && k.Type != nil {
		k.state = underway
		k.Value = c.eval(evalContext{k.Program, nil}, k.Type, k.ast.Value)
		k.state = done
	}
	return k.Value
}

// evalContext says how to evaluate a value. program is the file whose names the value uses. If a
// reference to a constant needs another type than the constant's, the value is evaluated again,
// and reference is the position for errors. Otherwise reference is nil.
type evalContext struct {
	program   *Program
	reference *idl.Position
}

// errorPos returns the position for errors in v.
func (in evalContext) errorPos(v *idl.Value) idl.Position {
	if in.reference != nil {
		return *in.reference
	}
	return v.Pos
}

// eval returns v as a value of type t. On error it adds the error and returns nil.
func (c *checker) eval(in evalContext, t *Type, v *idl.Value) *Value {
	if c.budget--; c.budget < 0 {
		if c.budget == -1 {
			c.errs.Add(in.errorPos(v), "constants expand to more than %d values", c.maxValues())
		}
		return nil
	}
	if v.Ref != nil && *v.Ref != "true" && *v.Ref != "false" {
		return c.reference(in, t, v)
	}
	switch t.Kind {
	case List, SetKind:
		return c.evalList(in, t, v)
	case Map:
		return c.evalMap(in, t, v)
	case StructKind:
		return c.evalStruct(in, t, v)
	}
	return c.evalScalar(in, t, v)
}

func (c *checker) maxValues() int { return min(maxValues, fewValues+4*c.bytes) }

// evalList returns v as a list or set of type t. If v is none, it adds an error and returns nil.
func (c *checker) evalList(in evalContext, t *Type, v *idl.Value) *Value {
	out := &Value{Type: t}
	if v.Map != nil && len(v.Map.Entries) == 0 {
		return out // Apache's compiler accepts {} for []
	}
	if v.List == nil {
		return c.mismatch(in, t, v)
	}
	ok := true
	for _, e := range v.List.Elems {
		elem := c.eval(in, t.Elem, e)
		ok = ok && elem != nil
		out.Elems = append(out.Elems, elem)
	}
	if !ok {
		return nil
	}
	return out
}

// evalMap returns v as a map of type t. If v is none, it adds an error and returns nil.
func (c *checker) evalMap(in evalContext, t *Type, v *idl.Value) *Value {
	out := &Value{Type: t}
	if v.List != nil && len(v.List.Elems) == 0 {
		return out // Apache's compiler accepts [] for {}
	}
	if v.Map == nil {
		return c.mismatch(in, t, v)
	}
	ok := true
	for _, e := range v.Map.Entries {
		key, elem := c.eval(in, t.Key, e.Key), c.eval(in, t.Elem, e.Value)
		ok = ok && key != nil && elem != nil
		out.Keys, out.Elems = append(out.Keys, key), append(out.Elems, elem)
	}
	if !ok {
		return nil
	}
	return out
}

// evalStruct returns v, a map, as a struct of type t. If v does not fit, it adds an error and
// returns nil.
func (c *checker) evalStruct(in evalContext, t *Type, v *idl.Value) *Value {
	if v.List != nil && len(v.List.Elems) == 0 {
		return &Value{Type: t}
	}
	if v.Map == nil {
		return c.mismatch(in, t, v)
	}
	out, ok := &Value{Type: t}, true
	for _, e := range v.Map.Entries {
		if e.Key.Text == nil {
			c.errs.Add(in.errorPos(e.Key), "the name of a field of %s must be a string, not %s", t, describe(e.Key))
			ok = false
			continue
		}
		f := t.Struct.field(string(*e.Key.Text))
		if f == nil {
			c.errs.Add(in.errorPos(e.Key), "%s has no field %s", t, *e.Key.Text)
			ok = false
			continue
		}
		if f.Type == nil {
			ok = false
			continue
		}
		val := c.eval(in, f.Type, e.Value)
		ok = ok && val != nil
		out.set(f, val)
	}
	if t.Struct.Shape == IsUnion && len(out.Fields) > 1 {
		c.errs.Add(in.errorPos(v), "a value of union %s sets one field, not %d", t, len(out.Fields))
		ok = false
	}
	if !ok {
		return nil
	}
	return out
}

// set sets a field of a struct's value.
func (v *Value) set(f *Field, val *Value) {
	if i, ok := v.numbers[f]; ok {
		v.Fields[i].Value = val
		return
	}
	if v.numbers == nil {
		v.numbers = map[*Field]int{}
	}
	v.numbers[f] = len(v.Fields)
	v.Fields = append(v.Fields, FieldValue{f, val})
}

func (s *Struct) field(name string) *Field {
	if i := s.index(name); i >= 0 {
		return s.Fields[i]
	}
	return nil
}

// index returns the number of the field with a name, or -1. It may be used when all fields are
// known.
func (s *Struct) index(name string) int {
	if s.numbers == nil {
		s.numbers = map[string]int{}
		for i, f := range s.Fields {
			s.numbers[f.Name] = i
		}
	}
	if i, ok := s.numbers[name]; ok {
		return i
	}
	return -1
}

// integer returns the value of v, an integer, true or false, and whether v is one of these.
func integer(v *idl.Value) (int64, bool) {
	switch {
	case v.Int != nil:
		return int64(*v.Int), true
	case v.Ref != nil && *v.Ref == "true":
		return 1, true
	case v.Ref != nil && *v.Ref == "false":
		return 0, true
	}
	return 0, false
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// fits reports whether an integer type can hold n.
func fits(n int64, k Kind) bool {
	bits := map[Kind]uint{I8: 8, I16: 16, I32: 32, I64: 64}[k]
	return n>>(bits-1) == 0 || n>>(bits-1) == -1
}

// mismatch adds the error that v can't be a value of type t, and returns nil.
func (c *checker) mismatch(in evalContext, t *Type, v *idl.Value) *Value {
	c.errs.Add(in.errorPos(v), "cannot use %s as %s", describe(v), t)
	return nil
}

// describe returns a value in the form for error messages.
func describe(v *idl.Value) string {
	switch {
	case v.Int != nil:
		return fmt.Sprintf("the integer %d", *v.Int)
	case v.Double != nil:
		return fmt.Sprintf("the number %g", *v.Double)
	case v.Text != nil:
		return fmt.Sprintf("the string %q", *v.Text)
	case v.Ref != nil:
		return *v.Ref
	case v.List != nil:
		return "a list"
	}
	return "a map"
}
