// A walker that changes everything in a message, for tests that compare before and after.

package nocopy

import (
	"strings"
	"testing"
)

// changer changes everything in a message that the accessors of a type know how to change: in the
// way of a test that wants to see every path, not of a program.
type changer struct {
	t     *testing.T
	m     *Message
	depth int // of structs and lists: further down nothing is doubled
}

// longText is long enough to be referred to, not copied.
var longText = strings.Repeat("long ", referSize/5+1)

func (c changer) structure(s XStruct, d *XDesc) {
	c.depth++
	for i := range d.fields {
		f, constant := &d.fields[i], d.constant(i)
		switch {
		case !s.HasField(constant):
			c.absent(s, f, constant, d)
		case f.kind == fixed:
			c.fixed(s, f, constant)
		case f.typ.binary:
			s.SetBytes(constant, append([]byte("new "), s.Bytes(constant)...))
		case f.kind == text:
			s.SetText(constant, s.Text(constant)+longText[:i])
		default:
			c.value(s.Child(constant, d), f.typ)
		}
	}
}

// absent sets a few fields that are not set: one appended, one appended and taken back, one unset
// without effect.
func (c changer) absent(s XStruct, f *field, constant XField, d *XDesc) {
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

func (c changer) fixed(s XStruct, f *field, constant XField) {
	switch f.typ.wire {
	case WireBool:
		s.SetBool(constant, !s.Bool(constant))
	case WireI8:
		s.SetInt8(constant, s.Int8(constant)+1)
	case WireI16:
		s.SetInt16(constant, s.Int16(constant)+1)
	case WireI32:
		s.SetInt32(constant, s.Int32(constant)+1)
	case WireI64:
		s.Unset(constant)
	case WireDouble:
		s.SetFloat64(constant, s.Float64(constant)/2)
	case WireUUID:
		s.SetUUID(constant, UUID{15: 1})
	}
}

// value changes what is in a struct or container.
func (c changer) value(v XStruct, t *XType) {
	c.depth++
	switch {
	case t.kind == record:
		c.structure(v, t.desc)
	case t.kind == dict:
		c.dict(v, t)
	case t.elem.kind == fixed:
		c.fixedList(v, t)
	case t.elem.kind == text:
		l := BytesList(v)
		for i := range l.Len() {
			if i%2 == 0 {
				l.Set(i, append([]byte{0}, l.At(i)...))
			}
		}
		l.Append([]byte("last"))
	case t.elem.kind == record:
		l := StructList[XStruct](v)
		for _, e := range l.All() {
			c.structure(e, t.elem.desc)
		}
		if n := l.Len(); n > 0 && c.depth < 8 {
			l.Set(0, l.At(n-1))
			l.Append(l.At(0))
		}
	default:
		l := NestedList[XStruct](v)
		for _, e := range l.All() {
			c.value(e, t.elem)
		}
		if n := l.Len(); n > 1 && c.depth < 8 {
			l.Append(l.At(0))
			l.Set(1, l.At(n))
		}
	}
}

func (c changer) fixedList(v XStruct, t *XType) {
	switch t.elem.wire {
	case WireI32:
		l := Int32List(v)
		for i, x := range l.All() {
			l.Set(i, -x)
		}
		l.Append(99)
		l.Append(100)
	case WireI64:
		Int64List(v).Append(1 << 40)
	case WireBool:
		if l := BoolList(v); l.Len() > 0 {
			l.Set(0, false)
		}
		BoolList(v).Append(true)
	}
}

func (c changer) dict(v XStruct, t *XType) {
	switch {
	case t.key == typeString && t.elem == typeI64:
		p := Map[string, int64, XAsString, XAsInt64](v)
		p.Put("a", 77)
		p.Put("new", 78)
		p.Delete("b")
	case t.key == typeBool:
		p := Map[bool, bool, XAsBool, XAsBool](v)
		p.Delete(true)
		p.Put(true, true)
	case t.key == typeString && t.elem.kind == record:
		p := StructMap[string, XStruct, XAsString](v)
		for _, e := range p.All() {
			c.structure(e, t.elem.desc)
		}
		p.PutNew("new")
	case t.key == typeString && t.elem.kind >= list:
		p := NestedMap[string, XStruct, XAsString](v)
		for _, e := range p.All() {
			c.value(e, t.elem)
		}
		p.PutNew("new", 0)
	case t.key == typeI64 && t.elem.kind == dict:
		for _, e := range (NestedMap[int64, XStruct, XAsInt64](v)).All() {
			c.value(e, t.elem)
		}
	}
}
