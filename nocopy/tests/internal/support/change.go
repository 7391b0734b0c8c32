package support

import (
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Changer changes everything in a message that the accessors of a type can change. It is meant to
// take every path, and does not resemble a program.
type Changer struct {
	t     *testing.T
	m     *engine.Message
	depth int // of structs and lists: further down nothing is doubled
}

// LongText is long enough to be referred to, not copied.
var LongText = strings.Repeat("long ", engine.ReferSize/5+1)

func (c Changer) structure(s engine.Struct, d *schema.Struct) {
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
			s.SetText(constant, s.Text(constant)+LongText[:i])
		default:
			c.value(s.Child(constant, d), f.Type)
		}
	}
}

// absent sets a few fields that are not set: one appended, one appended and taken back, one unset
// without effect.
func (c Changer) absent(s engine.Struct, f *schema.Field, constant schema.Ref, d *schema.Struct) {
	switch f.Name {
	case "medium", "y":
		s.SetInt32(constant, -7)
	case "text":
		s.SetText(constant, LongText)
	case "large":
		s.SetInt64(constant, 1)
		s.Unset(constant)
	case "words":
		nocopy.StringList(s.NewChild(constant, d, 2)).Set(1, "second")
	case "real":
		s.Unset(constant)
	}
}

func (c Changer) fixed(s engine.Struct, f *schema.Field, constant schema.Ref) {
	switch f.Type.Wire() {
	case nocopy.WireBool:
		s.SetBool(constant, !s.Bool(constant))
	case nocopy.WireI8:
		s.SetInt8(constant, s.Int8(constant)+1)
	case nocopy.WireI16:
		s.SetInt16(constant, s.Int16(constant)+1)
	case nocopy.WireI32:
		s.SetInt32(constant, s.Int32(constant)+1)
	case nocopy.WireI64:
		s.Unset(constant)
	case nocopy.WireDouble:
		s.SetFloat64(constant, s.Float64(constant)/2)
	case nocopy.WireUUID:
		s.SetUUID(constant, nocopy.UUID{15: 1})
	}
}

// value changes the contents of a struct or container.
func (c Changer) value(v engine.Struct, t *schema.Type) {
	c.depth++
	switch {
	case t.Kind() == schema.Record:
		c.structure(v, t.Struct())
	case t.Kind() == schema.Dict:
		c.dict(v, t)
	case t.Elem().Kind() == schema.Fixed:
		c.fixedList(v, t)
	case t.Elem().Kind() == schema.Text:
		l := nocopy.BytesList(v)
		for i := range l.Len() {
			if i%2 == 0 {
				l.Set(i, append([]byte{0}, l.At(i)...))
			}
		}
		l.Append([]byte("last"))
	case t.Elem().Kind() == schema.Record:
		l := nocopy.StructList[engine.Struct](v)
		for _, e := range l.All() {
			c.structure(e, t.Elem().Struct())
		}
		if n := l.Len(); n > 0 && c.depth < 8 {
			l.Set(0, l.At(n-1))
			l.Append(l.At(0))
		}
	default:
		l := nocopy.NestedList[engine.Struct](v)
		for _, e := range l.All() {
			c.value(e, t.Elem())
		}
		if n := l.Len(); n > 1 && c.depth < 8 {
			l.Append(l.At(0))
			l.Set(1, l.At(n))
		}
	}
}

func (c Changer) fixedList(v engine.Struct, t *schema.Type) {
	switch t.Elem().Wire() {
	case nocopy.WireI32:
		l := nocopy.Int32List(v)
		for i, x := range l.All() {
			l.Set(i, -x)
		}
		l.Append(99)
		l.Append(100)
	case nocopy.WireI64:
		nocopy.Int64List(v).Append(1 << 40)
	case nocopy.WireBool:
		if l := nocopy.BoolList(v); l.Len() > 0 {
			l.Set(0, false)
		}
		nocopy.BoolList(v).Append(true)
	}
}

func (c Changer) dict(v engine.Struct, t *schema.Type) {
	switch {
	case t.Key() == schema.TypeString && t.Elem() == schema.TypeI64:
		p := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](v)
		p.Put("a", 77)
		p.Put("new", 78)
		p.Delete("b")
	case t.Key() == schema.TypeBool:
		p := nocopy.Map[bool, bool, engine.AsBool, engine.AsBool](v)
		p.Delete(true)
		p.Put(true, true)
	case t.Key() == schema.TypeString && t.Elem().Kind() == schema.Record:
		p := nocopy.StructMap[string, engine.Struct, engine.AsString](v)
		for _, e := range p.All() {
			c.structure(e, t.Elem().Struct())
		}
		p.PutNew("new")
	case t.Key() == schema.TypeString && t.Elem().Kind() >= schema.List:
		p := nocopy.NestedMap[string, engine.Struct, engine.AsString](v)
		for _, e := range p.All() {
			c.value(e, t.Elem())
		}
		p.PutNew("new", 0)
	case t.Key() == schema.TypeI64 && t.Elem().Kind() == schema.Dict:
		for _, e := range (nocopy.NestedMap[int64, engine.Struct, engine.AsInt64](v)).All() {
			c.value(e, t.Elem())
		}
	}
}

// ChangeAll changes everything in a message that the accessors of its type can change.
func ChangeAll(t *testing.T, s engine.Struct, d *schema.Struct) {
	Changer{t: t, m: s.Message()}.structure(s, d)
}
