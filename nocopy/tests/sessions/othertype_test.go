// Values whose Go type is right, but whose type in the IDL is another one.

package sessions

import (
	"fmt"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// sameGoType reports whether values of types t and u have the same Go type: lists and sets do.
func sameGoType(t, u *referee.Type) bool {
	switch {
	case t.IsList() && u.IsList():
		return sameGoType(t.Elem, u.Elem)
	case t.IsMap() && u.IsMap():
		return sameGoType(t.Key, u.Key) && sameGoType(t.Elem, u.Elem)
	}
	return t.Same(u)
}

// as returns v, which has the Go type of t, as a value of type t.
func as(v referee.Value, t *referee.Type) referee.Value {
	switch v := v.(type) {
	case *referee.List:
		n := &referee.List{Type: t}
		for _, x := range v.Elems {
			n.Elems = append(n.Elems, as(x, t.Elem))
		}
		return n
	case *referee.Map:
		n := &referee.Map{Type: t}
		for _, p := range v.Pairs {
			n.Pairs = append(n.Pairs, referee.Pair{Key: as(p.Key, t.Key), Value: as(p.Value, t.Elem)})
		}
		return n
	}
	return v
}

// otherType sets a field, by the setter that generated code calls, to a value that has the field's
// Go type but another type in the IDL. The setter converts it, or panics before anything has
// changed.
func (s *session) otherType(t target, rec *referee.Record) {
	d := t.typ.Struct()
	for i := range rec.Fields {
		f := &rec.Type.Fields[i]
		if !f.Type.IsList() && !f.Type.IsMap() || s.Intn(2) == 0 {
			continue
		}
		src, v, ok := s.source(func(u *referee.Type) bool {
			return !u.IsStruct() && !f.Type.Same(u) && sameGoType(f.Type, u)
		})
		if !ok {
			continue
		}
		s.logf("%s: Set%s(%s), a %v", t.path, f.Name, src.path, src.typ)
		if refusal := refused(func() { t.h.SetChild(d.Field(i), d, src.h) }); refusal != "" {
			s.logf("// panics with %q", refusal)
			return
		}
		t.m.sent = nil
		rec.SetArm(i)
		rec.Fields[i] = as(v, f.Type)
		return
	}
}

// otherElement is otherType for the elements of a list or set of containers.
func (s *session) otherElement(t target, l *referee.List) {
	src, v, ok := s.source(func(u *referee.Type) bool {
		return !u.IsStruct() && !l.Type.Elem.Same(u) && sameGoType(l.Type.Elem, u)
	})
	if !ok {
		return
	}
	of, i := nocopy.NestedList[thriftimpl.Struct](t.h), -1
	if n := len(l.Elems); n > 0 && s.Intn(2) == 0 {
		i = s.Intn(n)
	}
	s.logf("%s: Set(%d, %s) or, if that is −1, Append, of a %v", t.path, i, src.path, src.typ)
	refusal := refused(func() {
		if i < 0 {
			of.Append(src.h)
		} else {
			of.Set(i, src.h)
		}
	})
	switch v := as(v, l.Type.Elem); {
	case refusal != "":
		s.logf("// panics with %q", refusal)
	case i < 0:
		l.Elems = append(l.Elems, v)
	default:
		l.Elems[i] = v
	}
}

// refused calls f and returns the text of its panic, which must be a fixed text, or "" if it does
// not panic.
func refused(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
			if _, ok := r.(string); !ok || !strings.HasPrefix(text, "nocopy: ") || strings.Contains(text, "internal error") {
				panic(r)
			}
		}
	}()
	f()
	return ""
}
