// A filler builds messages from values of the referee, in every possible way.

package model_test

import (
	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
)

func wireType(t nocopy.WireType) thrift.TType { return thrift.TType(t) }

// filler builds values through accessors, in every possible way. Gen chooses the way.
type filler struct {
	*schema
	*referee.Gen
}

// order returns the numbers below n: usually ascending, or descending, or shuffled.
func (w filler) order(n int) []int {
	o := make([]int, n)
	for i := range o {
		o[i] = i
	}
	switch w.Intn(4) {
	case 0:
		for i := range n / 2 {
			o[i], o[n-1-i] = o[n-1-i], o[i]
		}
	case 1:
		for i := n - 1; i > 0; i-- {
			j := w.Intn(i + 1)
			o[i], o[j] = o[j], o[i]
		}
	}
	return o
}

// record gives an empty struct the fields of rec.
func (w filler) record(h handle, rec *referee.Record) {
	b := w.of[rec.Type]
	for _, i := range w.order(len(rec.Fields)) {
		f := &b.Fields[i]
		switch {
		case rec.Fields[i] != nil:
			w.field(b, h, i, rec.Fields[i])
		case f.AddedIfUnset(rec.Type): // Finish must not fill it in
			w.field(b, h, i, referee.Zero(f.Type))
			h.Unset(b.fields[i])
		}
	}
}

// field sets a field.
func (w filler) field(b *bound, h handle, i int, v referee.Value) {
	f, constant := &b.Fields[i], b.fields[i]
	if b.Union {
		h = h.Arm(constant, b.desc)
	}
	if l := leaves[f.Type]; l != nil {
		if data, ok := v.(referee.Bytes); ok && w.Intn(4) == 0 {
			copy(h.NewBytes(constant, len(data)), data)
			return
		}
		l.set(h, constant, v)
		return
	}
	if l, ok := v.(*referee.List); ok && leaves[f.Type.Elem] != nil && w.Intn(2) == 0 {
		if f.Type.Wire == thrift.LIST || unique(l.Elems) {
			leaves[f.Type.Elem].setAll(h, constant, b.desc, l.Elems)
			return
		}
	}
	n := w.room(v)
	w.fill(f.Type, h.NewChild(constant, b.desc, n), v, n)
}

func unique(elems []referee.Value) bool {
	seen := map[referee.Value]bool{}
	for _, x := range elems {
		if seen[x] {
			return false
		}
		seen[x] = true
	}
	return true
}

// room returns the n for making the container v.
func (w filler) room(v referee.Value) int {
	switch v := v.(type) {
	case *referee.List:
		if w.Intn(3) > 0 {
			return len(v.Elems)
		}
	case *referee.Map:
		return w.Intn(len(v.Pairs) + 2)
	}
	return 0
}

// fill fills an empty struct or container with the contents of v. A list already has n elements:
// all or none.
func (w filler) fill(t *referee.Type, h handle, v referee.Value, n int) {
	switch v := v.(type) {
	case *referee.Record:
		w.record(h, v)
	case *referee.List:
		if leaves[t.Elem] != nil {
			w.leaves(t, h, v, n)
		} else {
			w.list(t, h, v, n)
		}
	case *referee.Map:
		w.dict(t, h, v)
	}
}

func (w filler) leaves(t *referee.Type, h handle, v *referee.List, n int) {
	l := leaves[t.Elem].list(h)
	if n > 0 {
		for _, i := range w.order(n) {
			l.set(i, v.Elems[i])
		}
		return
	}
	for i, x := range v.Elems {
		if t.Wire == thrift.SET && i == l.Len() && w.Intn(2) == 0 && !has(v, x, i) {
			l.add(x)
		} else {
			l.append(x)
		}
	}
}

func (w filler) list(t *referee.Type, h handle, v *referee.List, n int) {
	structs, nested := nocopy.StructList[handle](h), nocopy.NestedList[handle](h)
	if n > 0 {
		for _, i := range w.order(n) {
			if t.Elem.IsStruct() {
				w.record(structs.At(i), v.Elems[i].(*referee.Record))
			} else {
				room := w.room(v.Elems[i])
				w.fill(t.Elem, nested.NewAt(i, room), v.Elems[i], room)
			}
		}
		return
	}
	for _, x := range v.Elems {
		if t.Elem.IsStruct() {
			w.record(structs.AppendNew(), x.(*referee.Record))
		} else {
			room := w.room(x)
			w.fill(t.Elem, nested.AppendNew(room), x, room)
		}
	}
}

func (w filler) dict(t *referee.Type, h handle, v *referee.Map) {
	d := dictOf(t)
	for _, p := range v.Pairs {
		switch {
		case !t.Key.IsContainer() && leaves[t.Elem] != nil:
			d.put(h, p.Key, p.Value)
		case !t.Key.IsContainer():
			room := w.room(p.Value)
			w.fill(t.Elem, d.putNew(h, p.Key, room), p.Value, room)
		default:
			w.pair(t, d, h, p)
		}
	}
}

// pair adds a pair whose key is a struct or container.
func (w filler) pair(t *referee.Type, d dict, h handle, p referee.Pair) {
	if leaves[t.Elem] != nil {
		w.fill(t.Key, d.append(h, p.Value).(handle), p.Key, 0)
		return
	}
	k, v := d.appendNew(h)
	if w.Intn(2) == 0 {
		w.fill(t.Elem, v.(handle), p.Value, 0)
		w.fill(t.Key, k.(handle), p.Key, 0)
		return
	}
	w.fill(t.Key, k.(handle), p.Key, 0)
	w.fill(t.Elem, v.(handle), p.Value, 0)
}

// has reports whether x is among the first n elements.
func has(l *referee.List, x referee.Value, n int) bool {
	for _, y := range l.Elems[:n] {
		if x == y {
			return true
		}
	}
	return false
}
