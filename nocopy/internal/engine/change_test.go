// A walker that changes everything in a message, for tests that compare before and after.

package engine

import (
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// changer changes everything in a message that the accessors of a type know how to change: in the
// way of a test that wants to see every path, not of a program.
type changer struct {
	t     *testing.T
	m     *Message
	depth int // of structs and lists: further down nothing is doubled
}

// longText is long enough to be referred to, not copied.
var longText = strings.Repeat("long ", ReferSize/5+1)

func (c changer) structure(s Struct, d *schema.Struct) {
	c.depth++
	for i := range d.Fields() {
		f, constant := &d.Fields()[i], d.Field(i)
		switch {
		case !s.HasField(constant):
			c.absent(s, f, constant, d)
		case f.Kind() == schema.Fixed:
			c.fixed(s, f, constant)
		case f.Type.Binary():
			s.SetBytes(constant, append([]byte("new "), s.Bytes(constant)...))
		case f.Kind() == schema.Text:
			s.SetText(constant, s.Text(constant)+longText[:i])
		default:
			c.value(s.Child(constant, d), f.Type)
		}
	}
}

// absent sets a few fields that are not set: one appended, one appended and taken back, one unset
// without effect.
func (c changer) absent(s Struct, f *schema.Field, constant schema.Ref, d *schema.Struct) {
	switch f.Name {
	case "medium", "y":
		s.SetInt32(constant, -7)
	case "text":
		s.SetText(constant, longText)
	case "large":
		s.SetInt64(constant, 1)
		s.Unset(constant)
	case "words":
		StringList(s.NewChild(constant, d, 2)).Set(1, "second")
	case "real":
		s.Unset(constant)
	}
}

func (c changer) fixed(s Struct, f *schema.Field, constant schema.Ref) {
	switch f.Type.Wire() {
	case wire.Bool:
		s.SetBool(constant, !s.Bool(constant))
	case wire.I8:
		s.SetInt8(constant, s.Int8(constant)+1)
	case wire.I16:
		s.SetInt16(constant, s.Int16(constant)+1)
	case wire.I32:
		s.SetInt32(constant, s.Int32(constant)+1)
	case wire.I64:
		s.Unset(constant)
	case wire.Double:
		s.SetFloat64(constant, s.Float64(constant)/2)
	case wire.UUID:
		s.SetUUID(constant, UUID{15: 1})
	}
}

// value changes the contents of a struct or container.
func (c changer) value(v Struct, t *schema.Type) {
	c.depth++
	switch {
	case t.Kind() == schema.Record:
		c.structure(v, t.Struct())
	case t.Kind() == schema.Dict:
		c.dict(v, t)
	case t.Elem().Kind() == schema.Fixed:
		c.fixedList(v, t)
	case t.Elem().Kind() == schema.Text:
		l := BytesList(v)
		for i := range l.Len() {
			if i%2 == 0 {
				l.Set(i, append([]byte{0}, l.At(i)...))
			}
		}
		l.Append([]byte("last"))
	case t.Elem().Kind() == schema.Record:
		l := StructList[Struct](v)
		for _, e := range l.All() {
			c.structure(e, t.Elem().Struct())
		}
		if n := l.Len(); n > 0 && c.depth < 8 {
			l.Set(0, l.At(n-1))
			l.Append(l.At(0))
		}
	default:
		l := NestedList[Struct](v)
		for _, e := range l.All() {
			c.value(e, t.Elem())
		}
		if n := l.Len(); n > 1 && c.depth < 8 {
			l.Append(l.At(0))
			l.Set(1, l.At(n))
		}
	}
}

func (c changer) fixedList(v Struct, t *schema.Type) {
	switch t.Elem().Wire() {
	case wire.I32:
		l := Int32List(v)
		for i, x := range l.All() {
			l.Set(i, -x)
		}
		l.Append(99)
		l.Append(100)
	case wire.I64:
		Int64List(v).Append(1 << 40)
	case wire.Bool:
		if l := BoolList(v); l.Len() > 0 {
			l.Set(0, false)
		}
		BoolList(v).Append(true)
	}
}

func (c changer) dict(v Struct, t *schema.Type) {
	switch {
	case t.Key() == schema.TypeString && t.Elem() == schema.TypeI64:
		p := Map[string, int64, AsString, AsInt64](v)
		p.Put("a", 77)
		p.Put("new", 78)
		p.Delete("b")
	case t.Key() == schema.TypeBool:
		p := Map[bool, bool, AsBool, AsBool](v)
		p.Delete(true)
		p.Put(true, true)
	case t.Key() == schema.TypeString && t.Elem().Kind() == schema.Record:
		p := StructMap[string, Struct, AsString](v)
		for _, e := range p.All() {
			c.structure(e, t.Elem().Struct())
		}
		p.PutNew("new")
	case t.Key() == schema.TypeString && t.Elem().Kind() >= schema.List:
		p := NestedMap[string, Struct, AsString](v)
		for _, e := range p.All() {
			c.value(e, t.Elem())
		}
		p.PutNew("new", 0)
	case t.Key() == schema.TypeI64 && t.Elem().Kind() == schema.Dict:
		for _, e := range (NestedMap[int64, Struct, AsInt64](v)).All() {
			c.value(e, t.Elem())
		}
	}
}
