// Operations on whole structs: copies, unions of messages, masks, comparison.

package sessions

import (
	"math"
	"slices"
	"strings"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
)

// wholeOp does something to a struct in m, or in the message that was changed last.
func (s *session) wholeOp(m *message) {
	if s.current != nil && s.Intn(2) == 0 {
		m = s.current
	}
	t, ok := s.pick(m)
	rec, isRecord := t.node.(*referee.Record)
	if !ok || !isRecord {
		return
	}
	if n, size := referee.Weight(t.m.root); n > 300 || size > 300<<10 {
		return
	}
	s.busy = t.m
	switch class := s.Intn(9); {
	case class < 2:
		s.copyInto(t, rec)
	case class < 4:
		s.merge(t, rec)
	case class < 5:
		s.equal(t, rec)
	case class < 7:
		s.mask(t, rec)
	default:
		s.otherType(t, rec)
	}
}

// become makes a model a copy of another, in place: handles to the struct stay valid, handles to
// values in it do not.
func become(rec, as *referee.Record) {
	onlyArm(as)
	*rec = *referee.Clone(as).(*referee.Record)
}

// onlyArm removes the arms of a union that are set but don't count.
func onlyArm(rec *referee.Record) {
	if rec.Type.Union {
		for i := range rec.Fields {
			if i+1 != rec.Last {
				rec.Fields[i] = nil
			}
		}
	}
}

// structSource chooses a struct of the same type as rec, in any state.
func (s *session) structSource(rec *referee.Record) (target, *referee.Record, bool) {
	src, v, ok := s.sourceOf(referee.StructOf(rec.Type))
	if !ok {
		return src, nil, false
	}
	return src, v.(*referee.Record), true
}

func (s *session) copyInto(t target, rec *referee.Record) {
	if s.Intn(8) == 0 {
		s.logf("CopyInto(%s, an absent struct)", t.path)
		messages.CopyInto(t, target{typ: t.typ})
		t.m.sent = nil
		become(rec, referee.Zero(t.t).(*referee.Record))
		return
	}
	src, v, ok := s.structSource(rec)
	if !ok {
		return
	}
	s.logf("CopyInto(%s, %s)", t.path, src.path)
	messages.CopyInto(t, src)
	t.m.sent = nil
	become(rec, v)
}

func (s *session) merge(t target, rec *referee.Record) {
	if s.Intn(8) == 0 {
		s.logf("Merge(%s, an absent struct)", t.path)
		messages.Merge(t, target{typ: t.typ})
		return
	}
	src, v, ok := s.structSource(rec)
	if !ok || byBytes(t.t, map[*referee.Struct]bool{}) {
		return
	}
	s.logf("Merge(%s, %s)", t.path, src.path)
	messages.Merge(t, src)
	t.m.sent = nil
	mergeRecord(rec, v)
}

// byBytes reports whether merging values of type t depends on their bytes, which a model does not
// have. This is so for structs and containers in sets and as keys.
func byBytes(t *referee.Type, seen map[*referee.Struct]bool) bool {
	switch {
	case t.IsStruct():
		if seen[t.Struct] {
			return false
		}
		seen[t.Struct] = true
		return slices.ContainsFunc(t.Struct.Fields, func(f referee.Field) bool { return byBytes(f.Type, seen) })
	case t.IsMap():
		return t.Key.IsContainer() || byBytes(t.Elem, seen)
	case t.IsList():
		return t.Wire == thrift.SET && t.Elem.IsContainer() || byBytes(t.Elem, seen)
	}
	return false
}

func mergeRecord(to, from *referee.Record) {
	for i, x := range from.Fields {
		if x == nil || from.Type.Union && i+1 != from.Last {
			continue
		}
		same := to.Fields[i] != nil && (!to.Type.Union || to.Last == from.Last)
		if !same || !from.Type.Fields[i].Type.IsContainer() { // it is set, not merged
			to.SetArm(i)
		}
		if !same || !mergeValue(to.Fields[i], x) {
			to.Fields[i] = x
		}
	}
	to.Unknown = append(to.Unknown, from.Unknown...)
}

// mergeValue merges a struct or container into another. It reports false for other values.
func mergeValue(to, from referee.Value) bool {
	switch to := to.(type) {
	case *referee.Record:
		mergeRecord(to, from.(*referee.Record))
	case *referee.List:
		for _, x := range from.(*referee.List).Elems {
			if to.Type.Wire != thrift.SET || !to.Contains(x) {
				to.Elems = append(to.Elems, x)
			}
		}
	case *referee.Map:
		for _, p := range from.(*referee.Map).Pairs {
			if i := to.Find(p.Key); i >= 0 {
				to.Pairs[i].Value = p.Value
			} else {
				to.Pairs = append(to.Pairs, p)
			}
		}
	default:
		return false
	}
	return true
}

// canon returns a canonical form of v: two values that package messages considers equal have the
// same form. All NaNs are equal.
func canon(v referee.Value, key bool) referee.Value {
	switch v := v.(type) {
	case referee.Float:
		switch x := math.Float64frombits(uint64(v)); {
		case x != x:
			return referee.Float(math.Float64bits(math.NaN()))
		case x == 0 && !key:
			return referee.Float(0)
		}
	case *referee.Record:
		c := *v
		c.Fields = slices.Clone(v.Fields)
		onlyArm(&c)
		for i, x := range c.Fields {
			if x != nil {
				c.Fields[i] = canon(x, false)
			}
		}
		c.Unknown = slices.Clone(v.Unknown)
		slices.SortStableFunc(c.Unknown, func(a, b referee.Raw) int { return int(a.ID) - int(b.ID) })
		return &c
	case *referee.List:
		c := &referee.List{Type: v.Type}
		for _, x := range v.Elems {
			if x = canon(x, false); v.Type.Wire != thrift.SET || !c.Contains(x) {
				c.Elems = append(c.Elems, x)
			}
		}
		if v.Type.Wire == thrift.SET {
			slices.SortFunc(c.Elems, func(a, b referee.Value) int {
				return strings.Compare(string(referee.Append(nil, a)), string(referee.Append(nil, b)))
			})
		}
		return c
	case *referee.Map:
		c := &referee.Map{Type: v.Type}
		for _, p := range v.Pairs {
			p = referee.Pair{Key: canon(p.Key, true), Value: canon(p.Value, false)}
			if i := c.Find(p.Key); i >= 0 {
				c.Pairs[i] = p
			} else {
				c.Pairs = append(c.Pairs, p)
			}
		}
		return c
	}
	return v
}

func (s *session) equal(t target, rec *referee.Record) {
	src, v, ok := s.structSource(rec)
	if !ok {
		return
	}
	s.logf("Equal(%s, %s)", t.path, src.path)
	want := referee.Equal(canon(rec, false), canon(v, false))
	if got := messages.Equal(t, src, messages.EquateNaNs); got != want {
		failf("Equal(%s, %s) is %v: they are %s and %s", t.path, src.path, got, show(rec), show(v))
	}
}

// selected is the model of a mask: the parts of a struct or container that it selects.
type selected struct {
	all    bool
	fields map[int]*selected
	each   *selected
}

// path chooses a path in values of type t, selects it in sel, and returns its text.
func (s *session) path(t *referee.Type, sel *selected, rec referee.Value, depth int) string {
	switch {
	case t.IsStruct() && len(t.Struct.Fields) > 0 && (depth == 0 || s.Intn(4) > 0):
		r, _ := rec.(*referee.Record)
		if r == nil {
			r = referee.NewRecord(t.Struct)
		}
		i := s.fieldOf(r)
		f := &t.Struct.Fields[i]
		next := &selected{}
		if !sel.all {
			if sel.fields == nil {
				sel.fields = map[int]*selected{}
			}
			if sel.fields[i] == nil {
				sel.fields[i] = next
			}
			next = sel.fields[i]
		}
		dot := "."
		if depth == 0 {
			dot = ""
		}
		return dot + f.Name + s.path(f.Type, next, r.Fields[i], depth+1)
	case (t.IsList() || t.IsMap()) && s.Intn(2) == 0:
		next := &selected{}
		if !sel.all {
			if sel.each == nil {
				sel.each = next
			}
			next = sel.each
		}
		if t.Wire == thrift.SET {
			*next = selected{all: true}
			return "[*]"
		}
		var x referee.Value
		if l, ok := rec.(*referee.List); ok && len(l.Elems) > 0 {
			x = l.Elems[0]
		}
		return "[*]" + s.path(t.Elem, next, x, depth+1)
	}
	*sel = selected{all: true}
	return ""
}

func (s *session) mask(t target, rec *referee.Record) {
	if len(rec.Fields) == 0 {
		return
	}
	sel := &selected{}
	var paths []string
	for range 1 + s.Intn(3) {
		paths = append(paths, s.path(t.t, sel, rec, 0))
	}
	mask := messages.MustMask(t.typ.Struct(), paths...)
	switch s.Intn(3) {
	case 0:
		s.logf("MustMask(%q).Keep(%s)", paths, t.path)
		mask.Keep(t)
		become(rec, filter(rec, sel, true).(*referee.Record))
	case 1:
		s.logf("MustMask(%q).Drop(%s)", paths, t.path)
		mask.Drop(t)
		become(rec, filter(rec, sel, false).(*referee.Record))
	default: // whole fields
		src, v, ok := s.structSource(rec)
		if !ok || rec.Type.Union {
			return
		}
		i := s.fieldOf(rec)
		f := &rec.Type.Fields[i]
		s.logf("MustMask(%q).Copy(%s, %s)", f.Name, t.path, src.path)
		if err := messages.MustMask(t.typ.Struct(), f.Name).Copy(t, src); err != nil {
			failf("Copy: %v", err)
		}
		n := referee.Clone(rec).(*referee.Record)
		if n.Fields[i] = v.Fields[i]; n.Fields[i] == nil && f.Req == referee.Required {
			n.Fields[i] = f.Initial()
		}
		become(rec, n)
	}
	t.m.sent = nil
}

// filter returns v with only the selected parts, or without them.
func filter(v referee.Value, sel *selected, keep bool) referee.Value {
	// part returns the remaining part of x, in which c selects; nil if nothing remains.
	part := func(x referee.Value, c *selected) referee.Value {
		switch {
		case x == nil, c == nil && keep, c != nil && c.all && !keep:
			return nil
		case c == nil || c.all:
			return x
		}
		return filter(x, c, keep)
	}
	switch v := v.(type) {
	case *referee.Record:
		n := &referee.Record{Type: v.Type, Fields: make([]referee.Value, len(v.Fields)), Last: v.Last}
		for i, x := range v.Fields {
			if v.Type.Union && i+1 != v.Last {
				continue
			}
			n.Fields[i] = part(x, sel.fields[i])
			if f := &v.Type.Fields[i]; n.Fields[i] == nil && f.Req == referee.Required && !v.Type.Union {
				n.Fields[i] = f.Initial()
			}
		}
		if v.Type.Union && v.Last > 0 && n.Fields[v.Last-1] == nil {
			n.Last = 0
		}
		if !keep {
			n.Unknown = v.Unknown
		}
		return n
	case *referee.List:
		n := &referee.List{Type: v.Type}
		for _, x := range v.Elems {
			if x = part(x, sel.each); x != nil {
				n.Elems = append(n.Elems, x)
			}
		}
		return n
	case *referee.Map:
		n := &referee.Map{Type: v.Type}
		for _, p := range v.Pairs {
			if x := part(p.Value, sel.each); x != nil {
				n.Pairs = append(n.Pairs, referee.Pair{Key: p.Key, Value: x})
			}
		}
		return n
	}
	return v
}
