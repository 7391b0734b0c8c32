// A reader converts messages to values of the referee, with every getter.

package model_test

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
)

// reader converts messages to values with every getter, and notes contradictions.
type reader struct {
	*schema
	inAbsent bool         // a default or an empty value is being read
	finished bool         // the message is finished: reading unknown fields changes nothing
	keep     func(string) // called with every string from the message
	wrong    []string
}

func (r *reader) wrongf(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

// value reads a value. x is the value itself if it is a leaf, otherwise its handle.
func (r *reader) value(t *referee.Type, x any) referee.Value {
	switch {
	case t.IsStruct():
		return r.record(t.Struct, x.(handle))
	case t.IsList():
		return r.list(t, x.(handle))
	case t.IsMap():
		return r.dict(t, x.(handle))
	}
	if text, ok := x.(string); ok && r.keep != nil {
		r.keep(text)
	}
	return x
}

func (r *reader) record(s *referee.Struct, h handle) *referee.Record {
	b := r.of[s]
	rec := referee.NewRecord(s)
	for i := range s.Fields {
		f := &s.Fields[i]
		if !h.HasField(b.fields[i]) {
			r.absent(b, h, i)
			continue
		}
		if l := leaves[f.Type]; l != nil {
			rec.Fields[i] = r.value(f.Type, l.get(h, b.fields[i], f.Default))
		} else {
			c := h.Child(b.fields[i], b.desc)
			if !c.Valid() {
				r.wrongf("%s.%s is set, but not valid", s.Name, f.Name)
			}
			rec.Fields[i] = r.value(f.Type, c)
		}
	}
	if s.Union {
		rec.Last = max(0, int(h.Which())-b.first+1)
	}
	if r.finished {
		for id, v := range h.Unknown(b.desc) {
			rec.Unknown = append(rec.Unknown, referee.Raw{ID: id, Wire: wireType(v.Type), Data: string(v.Raw())})
		}
	}
	return rec
}

// absent checks that an unset field reads as its default.
func (r *reader) absent(b *bound, h handle, i int) {
	f := &b.Fields[i]
	want := f.Default
	if want == nil && (!f.Type.IsStruct() || f.Type.Struct.Union) {
		want = referee.Zero(f.Type)
	}
	l := leaves[f.Type]
	if l != nil {
		if got := l.get(h, b.fields[i], f.Default); got != want {
			r.wrongf("%s.%s is not set and reads as %v, not %v", b.Name, f.Name, got, want)
		}
		return
	}
	c := h.Child(b.fields[i], b.desc)
	if c.Valid() {
		r.wrongf("%s.%s is not set, but valid", b.Name, f.Name)
	}
	// A struct of zeroes, or a nested one: a recursive struct would have no end
	if want == nil || r.inAbsent {
		return
	}
	if got := (&reader{schema: r.schema, inAbsent: true}).value(f.Type, c); !referee.Equal(got, want) {
		r.wrongf("%s.%s is not set and reads as %v, not %v", b.Name, f.Name, referee.Plain(got), referee.Plain(want))
	}
}

func (r *reader) list(t *referee.Type, h handle) *referee.List {
	l := &referee.List{Type: t}
	if x := leaves[t.Elem]; x != nil {
		of := x.list(h)
		l.Elems = of.all()
		if of.Len() != len(l.Elems) {
			r.wrongf("list of Len %d has %d elements", of.Len(), len(l.Elems))
		}
		for i, v := range l.Elems {
			if at := r.value(t.Elem, of.at(i)); at != v {
				r.wrongf("element %d is %v by At, %v by All", i, at, v)
			}
		}
		return l
	}
	structs, nested := nocopy.StructList[handle](h), nocopy.NestedList[handle](h)
	at, all := structs.At, structs.All()
	if !t.Elem.IsStruct() {
		at, all = nested.At, nested.All()
	}
	for i := range structs.Len() {
		l.Elems = append(l.Elems, r.value(t.Elem, at(i)))
	}
	n := 0
	for i, x := range all {
		if n++; i != n-1 || x != at(i) {
			r.wrongf("All gives another element %d than At", i)
		}
	}
	if n != len(l.Elems) {
		r.wrongf("list of Len %d has %d elements by All", len(l.Elems), n)
	}
	return l
}

func (r *reader) dict(t *referee.Type, h handle) *referee.Map {
	m := &referee.Map{Type: t}
	d := dictOf(t)
	d.all(h, func(k, v any) {
		m.Pairs = append(m.Pairs, referee.Pair{Key: r.value(t.Key, k), Value: r.value(t.Elem, v)})
		got, ok := d.get(h, k)
		switch {
		case !ok:
			r.wrongf("Get does not find key %v", k)
		case leaves[t.Elem] != nil && !t.Key.IsContainer() && got != v:
			r.wrongf("key %v has value %v by Get, %v by All", k, got, v)
		}
	})
	if n := d.len(h); n != len(m.Pairs) {
		r.wrongf("map of Len %d has %d pairs", n, len(m.Pairs))
	}
	return m
}
