// How TestModel finds structs and containers in a message and in its model.

package model_test

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
)

// target is a struct or container in a message: its model, and a handle to it.
type target struct {
	m    *message
	t    *referee.Type
	node referee.Value
	h    handle
	path string
}

// place is a struct or container in a message's model.
type place struct {
	t      *referee.Type
	node   referee.Value
	parent int
	index  int // of the field, element or pair in its parent
	key    bool
}

// places lists all structs and containers in a message.
func (m *message) places() []place {
	all := []place{{t: referee.StructOf(m.b.Struct), node: m.root, parent: -1}}
	for i := 0; i < len(all); i++ {
		add := func(t *referee.Type, node referee.Value, index int, key bool) {
			if _, is := node.(fromFinish); !is && node != nil && t.IsContainer() {
				all = append(all, place{t, node, i, index, key})
			}
		}
		switch v := all[i].node.(type) {
		case *referee.Record:
			for k, x := range v.Fields {
				add(v.Type.Fields[k].Type, x, k, false)
			}
		case *referee.List:
			for k, x := range v.Elems {
				add(v.Type.Elem, x, k, false)
			}
		case *referee.Map:
			for k, p := range v.Pairs {
				add(v.Type.Key, p.Key, k, true)
				add(v.Type.Elem, p.Value, k, false)
			}
		}
	}
	return all
}

// at goes to a place by accessors. It returns false for an element of a list being built that was
// not made yet.
func (s *session) at(m *message, all []place, i int) (target, bool) {
	p := all[i]
	t := target{m: m, t: p.t, node: p.node, h: m.h, path: m.name}
	if p.parent < 0 {
		return t, true
	}
	up, ok := s.at(m, all, p.parent)
	if !ok {
		return t, false
	}
	switch v := up.node.(type) {
	case *referee.Record:
		b := s.of[v.Type]
		t.h = up.h.Child(b.fields[p.index], b.desc)
		t.path = up.path + "." + v.Type.Fields[p.index].Name
	case *referee.List:
		if p.t.IsStruct() {
			t.h = nocopy.StructList[handle](up.h).At(p.index)
		} else {
			t.h = nocopy.NestedList[handle](up.h).At(p.index)
		}
		t.path = fmt.Sprintf("%s[%d]", up.path, p.index)
	case *referee.Map:
		t.h = s.pairAt(up, v, p)
		t.path = fmt.Sprintf("%s[pair %d]", up.path, p.index)
	}
	return t, t.h.Valid()
}

// pairAt returns the handle of a map's key or value.
func (s *session) pairAt(up target, v *referee.Map, p place) handle {
	d := dictOf(v.Type)
	if !v.Type.Key.IsContainer() {
		x, ok := d.get(up.h, v.Pairs[p.index].Key)
		if !ok {
			failf("%s: key %v is not found", up.path, v.Pairs[p.index].Key)
		}
		return x.(handle)
	}
	i := -1
	var found handle
	d.all(up.h, func(key, value any) {
		if i++; i == p.index {
			if found, _ = value.(handle); p.key {
				found = key.(handle)
			}
		}
	})
	return found
}

// pick chooses a struct or container in the message, by an earlier handle or a new one.
func (s *session) pick(m *message) (target, bool) {
	if len(s.held) > 0 && s.Intn(3) == 0 {
		t := s.held[s.Intn(len(s.held))]
		for _, p := range t.m.places() {
			if p.node == t.node {
				return t, true
			}
		}
	}
	all := m.places()
	t, ok := s.at(m, all, s.Intn(len(all)))
	if ok && s.Intn(3) == 0 {
		s.hold(t)
	}
	return t, ok
}

// hold keeps a handle for later.
func (s *session) hold(t target) {
	t.path += " (got earlier)"
	if len(s.held) < 12 {
		s.held = append(s.held, t)
	} else {
		s.held[s.Intn(len(s.held))] = t
	}
}

// source chooses a value of type t from any message, the same one included, and returns it with a
// copy of its model.
func (s *session) source(into target, t *referee.Type) (target, referee.Value, bool) {
	first := s.Intn(len(s.msgs))
	for i := range s.msgs {
		m := s.msgs[(first+i)%len(s.msgs)]
		all := m.places()
		var fit []int
		for k, p := range all {
			if p.t.Same(t) {
				fit = append(fit, k)
			}
		}
		if len(fit) == 0 {
			continue
		}
		src, ok := s.at(m, all, fit[s.Intn(len(fit))])
		if n, size := referee.Weight(src.node); !ok || n > 200 || size > 100<<10 {
			continue
		}
		if m == into.m {
			settle(m.root) // it is completed before it is copied
		} else {
			s.finish(m)
		}
		return src, referee.Clone(src.node), true
	}
	if !t.IsStruct() {
		return target{}, nil, false
	}
	rec := s.Record(t.Struct, 2)
	m := s.parse(s.of[t.Struct], referee.Write(rec, nil), rec, false)
	s.add(m)
	m.sent = m.parsed
	return target{m: m, t: t, node: rec, h: m.h, path: m.name}, referee.Clone(rec), true
}
