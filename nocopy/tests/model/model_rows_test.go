// TestModel's operations that write whole structs.

package model_test

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
)

// setRows sets a list of structs in a field, or all plain fields of a struct that is not a union.
// It returns false if t has neither.
func (s *session) setRows(t target, rec *referee.Record, i int) bool {
	w := rower{s.schema}
	f := &rec.Type.Fields[i]
	switch {
	case isRows(f.Type) && s.Intn(2) == 0:
		v := plainPart(s.Value(f.Type, 3)).(*referee.List)
		s.logf("%s.Set%sOf or By(%s)", t.path, f.Name, show(v))
		if s.Intn(4) == 0 && len(v.Elems) > 0 {
			s.panicInRows(t, i, v)
		}
		var by func(int)
		if s.Intn(2) == 0 {
			by = func(int) {}
		}
		w.list(t.h, s.of[rec.Type], i, v, by)
		rec.SetArm(i)
		rec.Fields[i] = v
	case !rec.Type.Union:
		v := plainPart(s.Record(rec.Type, 2)).(*referee.Record)
		s.logf("%s.Set(%s)", t.path, show(v))
		w.set(t.h, v)
		for k := range v.Fields {
			if plain(rec.Type.Fields[k].Type) {
				rec.Fields[k] = v.Fields[k]
			}
		}
	default:
		return false
	}
	return true
}

// panicInRows begins to set a list by a function that panics: nothing changes.
func (s *session) panicInRows(t target, i int, v *referee.List) {
	defer func() {
		if r := recover(); r != "enough" {
			panic(fmt.Sprint("the function's panic has become: ", r))
		}
	}()
	last := s.Intn(len(v.Elems))
	rower{s.schema}.list(t.h, s.of[t.node.(*referee.Record).Type], i, v, func(k int) {
		if k == last {
			panic("enough")
		}
	})
}
