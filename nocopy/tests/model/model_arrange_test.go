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
func (s *session) arrange(t target, l *referee.List, of arrangedList, sort func(cmp func(a, b referee.Value) int)) {
	n := len(l.Elems)
	switch class := s.Intn(8); {
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
