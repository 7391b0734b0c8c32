// TestModel's operations that sort, swap, move and delete elements of lists.

package model_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
)

// arrange puts the elements of a list in another order, or removes some.
func (s *session) arrange(t target, l *referee.List, of arrangedList, sort func(cmp func(a, b referee.Value) int), filter func(del func(i int) bool)) {
	n := len(l.Elems)
	switch class := s.Intn(10); {
	case class >= 8:
		s.logf("%s.DeleteFunc", t.path)
		var left []referee.Value
		choose := s.chooser()
		filter(func(i int) bool {
			del := choose(i)
			if !del {
				left = append(left, l.Elems[i])
			}
			return del
		})
		s.logf("left: %d of %d", len(left), n)
		l.Elems = left
	case class < 3 && n > 0:
		i, j := s.Intn(n), s.Intn(n)
		s.logf("%s.Swap(%d, %d)", t.path, i, j)
		of.Swap(i, j)
		l.Elems[i], l.Elems[j] = l.Elems[j], l.Elems[i]
	case class < 5:
		i := s.Intn(n + 1)
		j := min(i+s.Intn(3), n)
		s.logf("%s.Delete(%d, %d)", t.path, i, j)
		of.Delete(i, j)
		l.Elems = slices.Delete(l.Elems, i, j)
	case class < 6:
		i := n - s.Intn(min(n, 3)+1)
		s.logf("%s.Truncate(%d)", t.path, i)
		of.Truncate(i)
		l.Elems = l.Elems[:i]
	case n > 0:
		s.logf("%s.SortFunc", t.path)
		ranks := s.ranks(l)
		sort(func(a, b referee.Value) int { return cmp.Compare(ranks(a), ranks(b)) })
		slices.SortStableFunc(l.Elems, func(a, b referee.Value) int { return cmp.Compare(ranks(a), ranks(b)) })
	}
}

// chooser returns a function that chooses elements to be deleted: none, all, runs, or any.
func (s *session) chooser() func(i int) bool {
	length, any := 1+s.Intn(5), s.Intn(5)
	flip := s.Intn(2) == 0
	return func(i int) bool {
		switch any {
		case 0:
			return flip
		case 1:
			return s.Intn(2) == 0
		case 2:
			return s.Intn(8) == 0 != flip
		}
		return i/length%2 == 0 == flip
	}
}

// filter calls deleteFunc, a DeleteFunc of a list of structs or containers. It checks the handles
// that deleteFunc gives, and edits some of the elements.
func (s *session) filter(t target, l *referee.List, at func(int) handle, deleteFunc func(func(handle) bool)) func(func(i int) bool) {
	return func(del func(i int) bool) {
		i := 0
		deleteFunc(func(h handle) bool {
			if h != at(i) {
				failf("%s.DeleteFunc: a handle that At does not give", t.path)
			}
			if s.Intn(8) == 0 {
				s.editChild(target{m: t.m, t: l.Type.Elem, h: h, node: l.Elems[i], path: fmt.Sprintf("%s[%d]", t.path, i)})
			}
			i++
			return del(i - 1)
		})
	}
}

// filterLeaves is filter for a list of leaves.
func (s *session) filterLeaves(t target, l *referee.List, of leafList) func(func(i int) bool) {
	return func(del func(i int) bool) {
		i := 0
		of.deleteFunc(func(v referee.Value) bool {
			if !referee.Equal(v, l.Elems[i]) {
				failf("%s.DeleteFunc: %s is element %d, not %s", t.path, show(v), i, show(l.Elems[i]))
			}
			if s.Intn(8) == 0 {
				l.Elems[i], _ = s.value(l.Type.Elem)
				of.set(i, l.Elems[i])
			}
			i++
			return del(i - 1)
		})
	}
}

// ranks returns sort keys for a list's elements. Different leaves, and all structs and containers,
// have different keys.
func (s *session) ranks(l *referee.List) func(referee.Value) string {
	flip := byte(s.Intn(256))
	order := map[referee.Value]string{}
	if l.Type.Elem.IsContainer() {
		for i, x := range l.Elems {
			order[x] = fmt.Sprintf("%03d%06d", byte(i*37)^flip, i)
		}
	}
	return func(v referee.Value) string {
		if rank, ok := order[v]; ok {
			return rank
		}
		if x, ok := v.(float64); ok {
			v = math.Float64bits(x)
		}
		return fmt.Sprintf("%x", v)
	}
}

// sorter wraps SortFunc of a list of structs or containers with a comparison of their models.
func (s *session) sorter(t target, l *referee.List, at func(int) handle, sort func(func(a, b handle) int)) func(func(a, b referee.Value) int) {
	t.m.h.Message().Finish() // makes all elements
	settle(t.m.root)
	models := map[handle]referee.Value{}
	for i, x := range l.Elems {
		models[at(i)] = x
	}
	return func(cmp func(a, b referee.Value) int) {
		sort(func(a, b handle) int {
			x, y := models[a], models[b]
			if x == nil || y == nil {
				failf("%s.SortFunc: a handle that At does not give", t.path)
			}
			return cmp(x, y)
		})
	}
}
