// TestModel's operations on the elements of lists and sets.

package model_test

import (
	"fmt"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
)

// editLeaves changes a list or set of leaves.
func (s *session) editLeaves(t target, l *referee.List) {
	of := leaves[l.Type.Elem].list(t.h)
	x, text := s.value(l.Type.Elem)
	if n := len(l.Elems); n > 0 && s.Intn(6) == 0 {
		x = l.Elems[s.Intn(n)] // an existing element
		text = show(x)
	}
	switch class := s.Intn(10); {
	case class >= 8:
		s.arrange(t, l, of.arranged(), of.sort, s.filterLeaves(t, l, of))
	case class < 3 && len(l.Elems) > 0:
		for range s.times(len(l.Elems)) {
			i := s.Intn(len(l.Elems))
			s.logf("%s.Set(%d, %s)", t.path, i, text)
			of.set(i, x)
			l.Elems[i] = x
			x, text = s.value(l.Type.Elem)
		}
	case class < 5:
		for range 1 + s.Intn(3) {
			s.logf("%s.Append(%s)", t.path, text)
			of.append(x)
			l.Elems = append(l.Elems, x)
			x, text = s.value(l.Type.Elem)
		}
	case class < 7 && l.Type.Wire == thrift.SET:
		s.logf("%s.Add(%s)", t.path, text)
		of.add(x)
		if !has(l, x, len(l.Elems)) {
			l.Elems = append(l.Elems, x)
		}
	}
	if s.Intn(2) == 0 {
		s.logf("%s.Contains(%s)", t.path, text)
		if got, want := of.contains(x), has(l, x, len(l.Elems)); got != want {
			failf("%s.Contains(%s) = %v", t.path, text, got)
		}
	}
	if of.Len() != len(l.Elems) {
		failf("%s has Len %d, not %d", t.path, of.Len(), len(l.Elems))
	}
}

// editList changes a list or set of structs or containers.
func (s *session) editList(t target, l *referee.List) {
	structs, nested := nocopy.StructList[handle](t.h), nocopy.NestedList[handle](t.h)
	isStruct := l.Type.Elem.IsStruct()
	n := 0
	if !isStruct {
		n = s.Count()
	}
	child := target{m: t.m, t: l.Type.Elem, path: t.path + "[new]"}
	switch class := s.Intn(10); {
	case class >= 8 && isStruct:
		s.arrange(t, l, structs, s.sorter(t, l, structs.At, structs.SortFunc), s.filter(t, l, structs.At, structs.DeleteFunc))
	case class >= 8:
		s.arrange(t, l, nested, s.sorter(t, l, nested.At, nested.SortFunc), s.filter(t, l, nested.At, nested.DeleteFunc))
	case class < 2: // AppendNew
		child.node = s.empty(l.Type.Elem, n)
		s.logf("%s.AppendNew(%d)", t.path, n)
		if isStruct {
			child.h = structs.AppendNew()
		} else {
			child.h = nested.AppendNew(n)
		}
		l.Elems = append(l.Elems, child.node)
		s.hold(child)
	case class < 4 && len(l.Elems) > 0: // some existing elements, in any order
		for range s.times(len(l.Elems)) {
			i := s.Intn(len(l.Elems))
			child.path = fmt.Sprintf("%s[%d]", t.path, i)
			if isStruct {
				s.logf("%s.At(%d)", t.path, i)
				child.h, child.node = structs.At(i), l.Elems[i]
			} else {
				s.logf("%s.NewAt(%d, %d)", t.path, i, n)
				child.node = s.empty(l.Type.Elem, n)
				child.h = nested.NewAt(i, n)
				l.Elems[i] = child.node
			}
			s.hold(child)
			s.editChild(child)
		}
	default:
		s.setElementFromElsewhere(t, l)
	}
}

// times returns how many of n elements are changed one after another: usually one.
func (s *session) times(n int) int {
	if s.Intn(4) > 0 {
		return 1
	}
	return 1 + s.Intn(2*n)
}

// editChild changes something in an element, or nothing.
func (s *session) editChild(t target) {
	switch v := t.node.(type) {
	case *referee.Record:
		if n := len(v.Fields); n > 0 && s.Intn(2) == 0 {
			s.editField(t, v, s.Intn(n))
		}
	case *referee.List:
		if leaves[v.Type.Elem] != nil && s.Intn(2) == 0 {
			s.editLeaves(t, v)
		}
	}
}

// setElementFromElsewhere puts a value from elsewhere into a list.
func (s *session) setElementFromElsewhere(t target, l *referee.List) {
	structs, nested := nocopy.StructList[handle](t.h), nocopy.NestedList[handle](t.h)
	isStruct := l.Type.Elem.IsStruct()
	src, v, ok := s.source(t, l.Type.Elem)
	if !ok {
		return
	}
	class := s.Intn(6)
	switch {
	case class < 2 && len(l.Elems) > 0:
		i := s.Intn(len(l.Elems))
		s.logf("%s.Set(%d, %s)", t.path, i, src.path)
		if isStruct {
			structs.Set(i, src.h)
		} else {
			nested.Set(i, src.h)
		}
		l.Elems[i] = v
	case class < 4 || l.Type.Wire != thrift.SET:
		s.logf("%s.Append(%s)", t.path, src.path)
		if isStruct {
			structs.Append(src.h)
		} else {
			nested.Append(src.h)
		}
		l.Elems = append(l.Elems, v)
	default:
		s.addElement(t, l, src, v)
	}
}

// addElement adds a value from elsewhere to a set. Elements are equal if their bytes are; equal
// values may have different bytes.
func (s *session) addElement(t target, l *referee.List, src target, v referee.Value) {
	structs, nested := nocopy.StructList[handle](t.h), nocopy.NestedList[handle](t.h)
	settle(t.m.root)
	maybe := l.Contains(v)
	inside := false
	for _, x := range l.Elems {
		inside = inside || x == src.node
	}
	s.logf("%s.Contains and Add(%s)", t.path, src.path)
	n := structs.Len()
	var is bool
	if l.Type.Elem.IsStruct() {
		is = structs.Contains(src.h)
		structs.Add(src.h)
	} else {
		is = nested.Contains(src.h)
		nested.Add(src.h)
	}
	if is && !maybe || !is && inside {
		failf("%s.Contains(%s) = %v", t.path, src.path, is)
	}
	if added := structs.Len() - n; added == 0 != is {
		failf("%s.Add(%s) adds %d elements, Contains said %v", t.path, src.path, added, is)
	}
	if !is {
		l.Elems = append(l.Elems, v)
	}
}

// editMap changes a map.
func (s *session) editMap(t target, m *referee.Map) {
	d := dictOf(m.Type)
	if m.Type.Key.IsContainer() {
		s.editViewMap(t, d, m)
		return
	}
	k := s.Leaf(m.Type.Key)
	if n := len(m.Pairs); n > 0 && s.Intn(2) == 0 {
		k = m.Pairs[s.Intn(n)].Key
	}
	i := m.Find(k)
	put := func(v referee.Value) {
		if i < 0 {
			m.Pairs = append(m.Pairs, referee.Pair{Key: k, Value: v})
		} else {
			m.Pairs[i].Value = v
		}
	}
	switch class := s.Intn(8); {
	case class == 0 && s.Intn(4) == 0: // without a lookup
		if k = referee.Zero(m.Type.Key); m.Find(k) < 0 {
			s.logf("%s.AppendNew()", t.path)
			d.appendNew(t.h)
			m.Pairs = append(m.Pairs, referee.Pair{Key: k, Value: referee.Zero(m.Type.Elem)})
		}
	case class == 0:
		s.deletePairs(t, d, m)
	case class < 2:
		s.logf("%s.Delete(%s)", t.path, show(k))
		if got := d.delete(t.h, k); got != (i >= 0) {
			failf("%s.Delete(%s) = %v", t.path, show(k), got)
		}
		if i >= 0 {
			m.Pairs = append(m.Pairs[:i:i], m.Pairs[i+1:]...)
		}
	case class < 3:
		s.logf("%s.Get(%s)", t.path, show(k))
		x, got := d.get(t.h, k)
		if got != (i >= 0) {
			failf("%s.Get(%s) = %v", t.path, show(k), got)
		}
		if want := referee.Zero(m.Type.Elem); !got && leaves[m.Type.Elem] != nil && x != want {
			failf("%s.Get(%s) = %v though it isn't there", t.path, show(k), x)
		}
	case leaves[m.Type.Elem] != nil:
		v, text := s.value(m.Type.Elem)
		s.logf("%s.Put(%s, %s)", t.path, show(k), text)
		d.put(t.h, k, v)
		put(v)
	case class < 6:
		n := s.Count()
		child := target{m: t.m, t: m.Type.Elem, node: s.empty(m.Type.Elem, n), path: t.path + "[" + show(k) + "]"}
		s.logf("%s.PutNew(%s, %d)", t.path, show(k), n)
		child.h = d.putNew(t.h, k, n)
		put(child.node)
		s.hold(child)
	default:
		src, v, ok := s.source(t, m.Type.Elem)
		if !ok {
			return
		}
		s.logf("%s.Put(%s, %s)", t.path, show(k), src.path)
		d.put(t.h, k, src.h)
		put(v)
	}
	if n := d.len(t.h); n != len(m.Pairs) {
		failf("%s has Len %d, not %d", t.path, n, len(m.Pairs))
	}
}

// deletePairs removes some pairs by DeleteFunc.
func (s *session) deletePairs(t target, d dict, m *referee.Map) {
	s.logf("%s.DeleteFunc", t.path)
	choose := s.chooser()
	left, given := []referee.Pair{}, map[int]bool{}
	d.deleteFunc(t.h, func(k, v any) bool {
		i := len(given) // where keys are views, m has the pairs in the order of All
		if !m.Type.Key.IsContainer() {
			i = m.Find(k)
		}
		if i < 0 || given[i] {
			failf("%s.DeleteFunc: a key that is not there, or twice", t.path)
		}
		if leaves[m.Type.Elem] != nil && !referee.Equal(v, m.Pairs[i].Value) {
			failf("%s.DeleteFunc: %s is a value, not %s", t.path, show(v), show(m.Pairs[i].Value))
		}
		given[i] = true
		if choose(len(given)) {
			return true
		}
		left = append(left, m.Pairs[i])
		return false
	})
	s.logf("left: %d of %d", len(left), len(m.Pairs))
	if len(given) != len(m.Pairs) {
		failf("%s.DeleteFunc gives %d pairs of %d", t.path, len(given), len(m.Pairs))
	}
	m.Pairs = left
}

// editViewMap changes a map whose keys are structs or containers. The slot of a deleted pair is
// used again, so that only the map knows where a new pair is.
func (s *session) editViewMap(t target, d dict, m *referee.Map) {
	var before []handle
	d.all(t.h, func(k, _ any) { before = append(before, k.(handle)) })
	if len(before) != len(m.Pairs) {
		failf("%s has %d pairs, not %d", t.path, len(before), len(m.Pairs))
	}
	var p referee.Pair
	switch class := s.Intn(8); {
	case class == 0:
		s.deletePairs(t, d, m)
		return
	case class < 2 && len(before) > 0:
		s.deleteByView(t, d, m, before)
		return
	case class < 4 && leaves[m.Type.Elem] != nil:
		v, text := s.value(m.Type.Elem)
		s.logf("%s.Append(%s)", t.path, text)
		d.append(t.h, v)
		p = referee.Pair{Key: referee.Zero(m.Type.Key), Value: v}
	case class < 6:
		s.logf("%s.AppendNew()", t.path)
		d.appendNew(t.h)
		p = referee.Pair{Key: referee.Zero(m.Type.Key), Value: referee.Zero(m.Type.Elem)}
	default:
		src, k, ok := s.source(t, m.Type.Key)
		settle(t.m.root)
		if !ok || m.Find(k) >= 0 { // the bytes decide whether it is the same key
			return
		}
		if leaves[m.Type.Elem] != nil {
			v, text := s.value(m.Type.Elem)
			s.logf("%s.Put(%s, %s)", t.path, src.path, text)
			d.put(t.h, src.h, v)
			p = referee.Pair{Key: k, Value: v}
		} else {
			n := s.Count()
			s.logf("%s.PutNew(%s, %d)", t.path, src.path, n)
			d.putNew(t.h, src.h, n)
			p = referee.Pair{Key: k, Value: s.empty(m.Type.Elem, n)}
		}
	}
	var after []handle
	d.all(t.h, func(k, _ any) { after = append(after, k.(handle)) })
	i := 0
	for i < len(before) && after[i] == before[i] {
		i++
	}
	m.Pairs = append(m.Pairs[:i:i], append([]referee.Pair{p}, m.Pairs[i:]...)...)
	if n := d.len(t.h); n != len(m.Pairs) {
		failf("%s has Len %d, not %d", t.path, n, len(m.Pairs))
	}
}

// deleteByView deletes a pair by its own key. Other pairs whose keys have the same bytes are
// deleted, too.
func (s *session) deleteByView(t target, d dict, m *referee.Map, before []handle) {
	settle(t.m.root)
	i := s.Intn(len(before))
	s.logf("%s.Delete(key %d)", t.path, i)
	if !d.delete(t.h, before[i]) {
		failf("%s.Delete of its key %d = false", t.path, i)
	}
	left := map[handle]bool{}
	d.all(t.h, func(k, _ any) { left[k.(handle)] = true })
	key := m.Pairs[i].Key
	var rest []referee.Pair
	for j, p := range m.Pairs {
		if left[before[j]] {
			rest = append(rest, p)
		} else if !referee.Equal(p.Key, key) {
			failf("%s.Delete of key %d deletes key %d, which is another one", t.path, i, j)
		}
	}
	if left[before[i]] {
		failf("%s.Delete of key %d leaves it", t.path, i)
	}
	m.Pairs = rest
}
