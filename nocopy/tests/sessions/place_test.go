// Functions that find structs and containers in a message and in its model.

package sessions

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// target is a struct or container in a message: its model, and a handle to it.
type target struct {
	m    *message
	t    *referee.Type
	typ  *thriftimpl.Type
	node referee.Value
	h    thriftimpl.Struct
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
	all := []place{{t: referee.StructOf(m.root.Type), node: m.root, parent: -1}}
	for i := 0; i < len(all); i++ {
		add := func(t *referee.Type, node referee.Value, index int, key bool) {
			if node != nil && t.IsContainer() {
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
				add(v.Type.Elem, p.Value, k, false)
			}
		}
	}
	return all
}

// at goes to a place by accessors. It returns false for a value that is not there yet, since the
// message is not finished.
func (s *session) at(m *message, all []place, i int) (target, bool) {
	p := all[i]
	if p.parent < 0 {
		return s.target(m), true
	}
	up, ok := s.at(m, all, p.parent)
	if !ok {
		return up, false
	}
	t := target{m: m, t: p.t, node: p.node}
	var v impl.Value
	switch n := up.node.(type) {
	case *referee.Record:
		d := up.typ.Struct()
		v = up.h.Value(d.Field(p.index), d)
		t.path = up.path + "." + n.Type.Fields[p.index].Name
	case *referee.List:
		if p.index >= up.h.Count() {
			failf("%s has %d elements, not %d", up.path, up.h.Count(), len(n.Elems))
		}
		v = up.h.Element(p.index)
		t.path = fmt.Sprintf("%s[%d]", up.path, p.index)
	case *referee.Map:
		if n.Type.Key.IsContainer() {
			return up, false
		}
		key := n.Pairs[p.index].Key
		if v, ok = up.h.Pair(leaf(up.typ.Key(), n.Type.Key, key)); !ok {
			failf("%s[%s] is not found", up.path, show(key))
		}
		t.path = fmt.Sprintf("%s[%s]", up.path, show(key))
	}
	t.typ, t.h = v.Type(), v.Struct()
	return t, t.h.Valid()
}

// pick chooses a struct or container in the message, by a handle that was kept or by a new one.
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

// source chooses a value whose type fits accepts from any message in any state, also from the one
// that is changed. It returns the value with a copy of its model.
func (s *session) source(fits func(*referee.Type) bool) (target, referee.Value, bool) {
	first := s.Intn(len(s.msgs))
	for i := range s.msgs {
		m := s.msgs[(first+i)%len(s.msgs)]
		all := m.places()
		var fit []int
		for k, p := range all {
			if fits(p.t) {
				fit = append(fit, k)
			}
		}
		if len(fit) == 0 {
			continue
		}
		src, ok := s.at(m, all, fit[s.Intn(len(fit))])
		if !ok {
			continue
		}
		if n, size := referee.Weight(src.node); n > 200 || size > 100<<10 {
			continue
		}
		return src, referee.Clone(src.node), true
	}
	return target{}, nil, false
}

// sourceOf is source for values of type t. For a struct it makes a new message if there is no such
// value.
func (s *session) sourceOf(t *referee.Type) (target, referee.Value, bool) {
	if s.Intn(4) > 0 || !t.IsStruct() {
		src, v, ok := s.source(t.Same)
		if ok || !t.IsStruct() {
			return src, v, ok
		}
	}
	m := &message{d: s.Desc(t.Struct), root: referee.Zero(t).(*referee.Record)}
	if len(s.msgs) < 6 && s.Intn(2) == 0 {
		m = s.receiveNew(t.Struct)
		if n, size := referee.Weight(m.root); n > 200 || size > 100<<10 {
			return target{}, nil, false
		}
	} else { // it is being built
		opts, names, recycled := s.opts(func(nocopy.Option) bool { return true })
		m.recycled = recycled
		m.h = thriftimpl.New(m.d, opts...)
		s.add(m)
		s.logf("%s := New%s(%s)", m.name, t.Struct.Name, names)
	}
	return s.target(m), referee.Clone(m.root), true
}
