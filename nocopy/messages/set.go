package messages

import (
	"fmt"
	"math"
	"reflect"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Set sets everything that the mask selects in s to value: a bool, any of Go's integers, a float,
// a string or []byte, an enum value of a generated type, a nocopy.UUID, or the handle of a struct,
// list, set or map, which is copied. Structs on the way are made if needed, and so are values of
// named keys. [*] selects existing elements and keys.
//
// Set returns an *ApplyError and changes nothing in these cases: the value does not fit one of the
// selected places, s has no such place, an index is beyond a list's end, or the mask selects two
// fields of one union. s must have the mask's type. Handles of values in s behave as after
// CopyInto.
func (m *Mask) Set(s nocopy.AnyStruct, value any) error {
	d, to := impl.Parts(s)
	m = m.of("Set", d)
	if !to.Valid() {
		panic("nocopy: Mask.Set in an absent struct")
	}
	to.CompleteToCopy()
	w := maskSetter{}
	if err := w.encode(m.root, thriftimpl.StructOf(d), value); err != nil {
		return err
	}
	wire, _, err := w.structure(nil, d, to, m.start())
	if err != nil {
		return err
	}
	m.replace(d, to, wire)
	return nil
}

// maskSetter writes the wire bytes of messages with one value in all selected places. It has the
// wire bytes of the value for each type of such places.
type maskSetter map[*thriftimpl.Type][]byte

// encode computes the wire bytes of a value for all selected places below n, which is of type t.
func (w maskSetter) encode(n *node, t *thriftimpl.Type, value any) (err error) {
	if n.all {
		if w[t] == nil {
			w[t], err = encodeAs(t, value)
		}
		return err
	}
	for i, c := range n.fields {
		f := t.Struct().FieldDesc(i)
		if err := w.encode(c, f.Type, value); err != nil {
			return under(f.Name, err)
		}
	}
	if n.each != nil {
		if err := w.encode(n.each, t.Elem(), value); err != nil {
			return under("[*]", err)
		}
	}
	for i, c := range n.at {
		if err := w.encode(c, t.Elem(), value); err != nil {
			return under(fmt.Sprintf("[%d]", i), err)
		}
	}
	for _, k := range n.keys {
		if err := w.encode(&k.node, t.Elem(), value); err != nil {
			return under("["+keyText(k.key)+"]", err)
		}
	}
	return nil
}

// encodeAs returns the wire bytes of a Go value as a value of type t. The error does not contain
// the value, which may be redacted.
func encodeAs(t *thriftimpl.Type, value any) ([]byte, error) {
	no := func() ([]byte, error) {
		return nil, &ApplyError{"", fmt.Sprintf("a %T can't be set where the type is %s", value, t)}
	}
	if h, ok := value.(nocopy.AnyHandle); ok {
		s, u := handleOf(h)
		switch {
		case !isHandle(t) || u != nil && !impl.SameTypes(t, u) || u == nil && t.Struct() != nil:
			return nil, &ApplyError{"", fmt.Sprintf("a %T can't be set where the type is %s", value, t)}
		case u == nil:
			u = t
		}
		return impl.ValueOfStruct(u, s).AppendWire(nil), nil
	}
	if x, ok := impl.FromGo(t, value); ok {
		return x.AppendWire(nil), nil
	}
	v := reflect.ValueOf(value)
	switch {
	case !impl.IsInteger(t):
		return no()
	case v.CanUint() && v.Uint() <= math.MaxInt64:
		v = reflect.ValueOf(int64(v.Uint()))
	case !v.CanInt():
		return no()
	}
	number := impl.ValueOfInt(t, v.Int())
	if number.Int() != v.Int() {
		return nil, &ApplyError{"", fmt.Sprintf("the number is out of the range of %s", t)}
	}
	return number.AppendWire(nil), nil
}

// part appends lead and v, with the value set in its selected places. If has is false, there is no
// v yet, and part makes one. It reports whether anything was set.
func (w maskSetter) part(dst, lead []byte, v impl.Value, t *thriftimpl.Type, has bool, sel selection) (_ []byte, set bool, err error) {
	before := len(dst)
	dst = append(dst, lead...)
	switch {
	case sel.all():
		return append(dst, w[t]...), true, nil
	case t.Struct() != nil:
		dst, set, err = w.structure(dst, t.Struct(), v.Struct(), sel)
	case t.Key() != nil:
		dst, set, err = w.dict(dst, t, v.Struct(), sel)
	default:
		dst, set, err = w.list(dst, t, v.Struct(), sel)
	}
	if err != nil {
		return nil, false, err
	}
	if !set && !has {
		dst = dst[:before]
	}
	return dst, set, nil
}

func (w maskSetter) structure(dst []byte, d *thriftimpl.Desc, s thriftimpl.Struct, sel selection) (_ []byte, any bool, err error) {
	var arm []byte // in a union: the existing arm, unless another arm is set
	next := func(i int) int { return sel.next(i, nextField(d, i, s, thriftimpl.Struct{})) }
	for i := next(0); i < d.NumFields(); i = next(i + 1) {
		in, has := sel.field(i), s.Sent(d.Field(i), d)
		before := len(dst)
		var set bool
		switch v := s.Value(d.Field(i), d); {
		case len(in) > 0:
			if dst, set, err = w.part(dst, header(d, i), v, v.Type(), has, in); err != nil {
				return nil, false, underField(d, i, err)
			}
		case has:
			dst = v.AppendWire(append(dst, header(d, i)...))
		}
		if !has && !set {
			dst = appendRequired(dst, d, i)
		}
		if d.IsUnion() {
			switch {
			case set && any:
				return nil, false, &ApplyError{d.FieldDesc(i).Name, "another field of the same " + d.Name() + " is set, too"}
			case set:
				arm = append(arm[:0], dst[before:]...)
			case has && !any:
				arm = append(arm[:0], dst[before:]...)
			}
			dst = dst[:before]
		}
		any = any || set
	}
	dst = appendUnknown(append(dst, arm...), d, s)
	return append(dst, byte(nocopy.WireStop)), any, nil
}

func (w maskSetter) list(dst []byte, t *thriftimpl.Type, s thriftimpl.Struct, sel selection) (_ []byte, any bool, err error) {
	n := s.Count()
	for _, i := range sel.indexes() {
		if i >= n {
			return nil, false, &ApplyError{fmt.Sprintf("[%d]", i), fmt.Sprintf("there are %d elements", n)}
		}
	}
	dst, count := beginContainer(dst, t)
	for i := range n {
		v, in := s.Element(i), sel.element(i)
		if len(in) == 0 {
			dst = v.AppendWire(dst)
			continue
		}
		var set bool
		if dst, set, err = w.part(dst, nil, v, t.Elem(), true, in); err != nil {
			return nil, false, under(fmt.Sprintf("[%d]", i), err)
		}
		any = any || set
	}
	return endContainer(dst, count, n), any, nil
}

func (w maskSetter) dict(dst []byte, t *thriftimpl.Type, s thriftimpl.Struct, sel selection) (_ []byte, any bool, err error) {
	dst, count := beginContainer(dst, t)
	n := 0
	put := func(k, v impl.Value, has bool, in selection) bool {
		var set bool
		before := len(dst)
		if dst, set, err = w.part(dst, k.AppendWire(nil), v, t.Elem(), has, in); err != nil {
			err = under("["+keyName(k)+"]", err)
			return false
		}
		any = any || set
		if len(dst) > before {
			n++
		}
		return true
	}
	for k, v := range s.Pairs() {
		in := sel.key(k)
		if len(in) == 0 {
			dst = v.AppendWire(k.AppendWire(dst))
			n++
		} else if !put(k, v, true, in) {
			return nil, false, err
		}
	}
	for _, k := range sel.named() {
		if _, ok := s.Pair(k.key); !ok && !put(k.key, impl.Value{}, false, sel.key(k.key)) {
			return nil, false, err
		}
	}
	return endContainer(dst, count, n), any, nil
}
