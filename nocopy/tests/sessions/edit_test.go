// Operations on fields, elements and pairs.

package sessions

import (
	"bytes"
	"slices"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// leaf returns v, which is not a struct or container, as a value of type typ.
func leaf(typ *thriftimpl.Type, t *referee.Type, v referee.Value) impl.Value {
	return impl.ValueOf(typ, string(referee.WriteValue(t, v, nil)))
}

// fillStruct sets the fields of h to those of rec.
func (s *session) fillStruct(h thriftimpl.Struct, d *thriftimpl.Desc, rec *referee.Record) {
	for i, x := range rec.Fields {
		if x != nil {
			s.fillField(h, d, i, rec.Type.Fields[i].Type, x)
		}
	}
}

// fillField sets field i of h to x.
func (s *session) fillField(h thriftimpl.Struct, d *thriftimpl.Desc, i int, t *referee.Type, x referee.Value) {
	f := d.Field(i)
	if t.IsContainer() {
		n := 0
		if t.IsList() && s.Intn(2) == 0 {
			n = len(x.(*referee.List).Elems)
		}
		s.fill(h.NewValue(f, d, n), t, x)
		return
	}
	if t == referee.String && s.Intn(2) == 0 {
		if d.IsUnion() {
			h = h.Arm(f, d)
		}
		if text := x.(string); s.Intn(4) == 0 {
			copy(h.NewBytes(f, len(text)), text)
		} else {
			h.SetText(f, text)
		}
		return
	}
	h.SetValue(f, d, leaf(d.FieldDesc(i).Type, t, x))
}

// fill gives v, a new struct or container, the contents of x. If it is a list it has no elements
// yet, or all of them.
func (s *session) fill(v impl.Value, t *referee.Type, x referee.Value) {
	h, typ := v.Struct(), v.Type()
	switch x := x.(type) {
	case *referee.Record:
		s.fillStruct(h, typ.Struct(), x)
	case *referee.List:
		there := h.Count() > 0
		for i, e := range x.Elems {
			switch {
			case t.Elem.IsStruct() && there:
				s.fill(h.Element(i), t.Elem, e)
			case t.Elem.IsContainer() && there:
				c := nocopy.NestedList[thriftimpl.Struct](h).NewAt(i, 0)
				s.fill(impl.ValueOfStruct(typ.Elem(), c), t.Elem, e)
			case t.Elem.IsContainer():
				s.fill(h.AppendNewElement(0), t.Elem, e)
			case there:
				h.SetElement(i, leaf(typ.Elem(), t.Elem, e))
			default:
				h.AppendElement(leaf(typ.Elem(), t.Elem, e))
			}
		}
	case *referee.Map:
		for _, p := range x.Pairs {
			switch {
			case t.Key.IsContainer() && t.Elem.IsContainer():
				key, value := h.AppendNewPair()
				s.fill(key, t.Key, p.Key)
				s.fill(value, t.Elem, p.Value)
			case t.Key.IsContainer():
				s.fill(h.AppendPair(leaf(typ.Elem(), t.Elem, p.Value)), t.Key, p.Key)
			case t.Elem.IsContainer():
				s.fill(h.PutNewPair(leaf(typ.Key(), t.Key, p.Key), 0), t.Elem, p.Value)
			default:
				h.PutPair(leaf(typ.Key(), t.Key, p.Key), leaf(typ.Elem(), t.Elem, p.Value))
			}
		}
	}
}

// edit changes something in the message, or in the message of a handle that was kept.
func (s *session) edit(m *message) {
	if s.current != nil && s.Intn(2) == 0 {
		m = s.current
	}
	t, ok := s.pick(m)
	if !ok {
		return
	}
	if n, size := referee.Weight(t.m.root); n > 300 || size > 300<<10 {
		s.release(t.m)
		return
	}
	s.current, s.busy = t.m, t.m
	t.m.sent = nil
	switch v := t.node.(type) {
	case *referee.Record:
		if len(v.Fields) > 0 {
			s.editField(t, v, s.fieldOf(v))
		}
	case *referee.List:
		s.editList(t, v)
	case *referee.Map:
		s.editMap(t, v)
	}
}

// fieldOf chooses a field. If there are very many it mostly chooses one that is set.
func (s *session) fieldOf(rec *referee.Record) int {
	i := s.Intn(len(rec.Fields))
	if len(rec.Fields) > 50 && s.Intn(4) > 0 {
		for range rec.Fields {
			if rec.Fields[i] != nil {
				break
			}
			i = (i + 1) % len(rec.Fields)
		}
	}
	return i
}

func (s *session) editField(t target, rec *referee.Record, i int) {
	d := t.typ.Struct()
	f, c := &rec.Type.Fields[i], d.Field(i)
	name := t.path + "." + f.Name
	switch class := s.Intn(8); {
	case class == 0:
		s.unset(t, rec, i)
	case !f.Type.IsContainer() && class < 4:
		src, v, ok := s.leafSource(t.m, f.Type)
		if !ok {
			return
		}
		s.logf("%s = %s of the same type elsewhere // %s", name, f.Name, show(v))
		t.h.SetValue(c, d, src)
		rec.SetArm(i)
		rec.Fields[i] = v
	case !f.Type.IsContainer(), class < 3:
		v := s.Value(f.Type, 2)
		s.logf("%s = %s", name, show(v))
		s.fillField(t.h, d, i, f.Type, v)
		rec.SetArm(i)
		rec.Fields[i] = v
	case class < 5: // to be filled later
		n := 0
		if f.Type.IsList() {
			n = s.Count()
		}
		s.logf("%s: New%s(%d)", t.path, f.Name, n)
		v := t.h.NewValue(c, d, n)
		rec.SetArm(i)
		rec.Fields[i] = empty(f.Type, n)
		s.hold(target{t.m, f.Type, v.Type(), rec.Fields[i], v.Struct(), name})
	default:
		src, v, ok := s.sourceOf(f.Type)
		if !ok {
			return
		}
		s.logf("%s = %s // which is %s", name, src.path, show(v))
		t.h.SetValue(c, d, impl.ValueOfStruct(src.typ, src.h))
		rec.SetArm(i)
		rec.Fields[i] = v
	}
	if !t.h.HasField(c) != (rec.Fields[i] == nil) && !f.AddedIfUnset(rec.Type) {
		failf("%s: it is said to be set: %v", name, t.h.HasField(c))
	}
}

// leafSource chooses a value of type t, which is not a struct or container, from a struct or list,
// as getters return it: a text refers to its message.
func (s *session) leafSource(to *message, t *referee.Type) (impl.Value, referee.Value, bool) {
	m := to
	if s.Intn(3) == 0 {
		m = s.msgs[s.Intn(len(s.msgs))]
	}
	all := m.places()
	for range 4 {
		from, ok := s.at(m, all, s.Intn(len(all)))
		if !ok {
			continue
		}
		var v impl.Value
		var x referee.Value
		switch n := from.node.(type) {
		case *referee.Record:
			for i := range n.Fields {
				d := from.typ.Struct()
				if n.Type.Fields[i].Type.Same(t) && from.h.HasField(d.Field(i)) {
					v, x = from.h.Value(d.Field(i), d), n.Fields[i]
				}
			}
		case *referee.List:
			if i := len(n.Elems); i > 0 && n.Type.Elem.Same(t) {
				i = s.Intn(i)
				v, x = from.h.Element(i), n.Elems[i]
			}
		}
		if x == nil || m != to && m.recycled && len(v.Bytes()) >= 4<<10 {
			continue // setters refer to large texts, which would end with their message
		}
		return v, x, true
	}
	return impl.Value{}, nil, false
}

func (s *session) unset(t target, rec *referee.Record, i int) {
	d := t.typ.Struct()
	f, c := &rec.Type.Fields[i], d.Field(i)
	s.logf("%s: Unset%s()", t.path, f.Name)
	was := t.h.HasField(c)
	t.h.UnsetValue(c, d)
	switch {
	case rec.Type.Union:
		rec.Fields[i] = nil
		if rec.Last == i+1 {
			rec.Last = 0
			for k, x := range rec.Fields {
				if x != nil {
					rec.Last = k + 1
				}
			}
		}
	case f.Req == referee.Required || !was && rec.Fields[i] != nil: // Finish sets it
		rec.Fields[i] = f.Initial()
	default:
		rec.Fields[i] = nil
	}
}

// empty returns the model of a new struct or container: a list has n zeroes.
func empty(t *referee.Type, n int) referee.Value {
	v := referee.Zero(t)
	if l, ok := v.(*referee.List); ok {
		for range n {
			l.Elems = append(l.Elems, referee.Zero(t.Elem))
		}
	}
	return v
}

// arranged has the methods that are the same for all lists.
type arranged interface {
	Swap(i, j int)
	Delete(i, j int)
	Truncate(n int)
}

// arrangedOf returns h, a list of type t, as a list with its Go type.
func arrangedOf(t *referee.Type, h thriftimpl.Struct) arranged {
	switch t.Elem.Wire {
	case thrift.BOOL:
		return nocopy.BoolList(h)
	case thrift.BYTE:
		return nocopy.Int8List(h)
	case thrift.I16:
		return nocopy.Int16List(h)
	case thrift.I32:
		return nocopy.Int32List(h)
	case thrift.I64:
		return nocopy.Int64List(h)
	case thrift.DOUBLE:
		return nocopy.Float64List(h)
	case thrift.UUID:
		return nocopy.UUIDList(h)
	case thrift.STRING:
		return nocopy.StringList(h)
	case thrift.STRUCT:
		return nocopy.StructList[thriftimpl.Struct](h)
	}
	return nocopy.NestedList[thriftimpl.Struct](h)
}

func (s *session) editList(t target, l *referee.List) {
	n, elem := len(l.Elems), l.Type.Elem
	if got := t.h.Count(); got != n {
		failf("%s has %d elements, not %d", t.path, got, n)
	}
	switch class := s.Intn(12); {
	case class < 3:
		s.arrange(t, l)
	case class < 4 && elem.IsContainer() && n > 0:
		s.sort(t, l)
	case class < 5 && elem.IsContainer() && !elem.IsStruct():
		s.otherElement(t, l)
	case class < 6 && elem.IsContainer():
		k := 0
		if elem.IsList() {
			k = s.Count()
		}
		s.logf("%s.AppendNew(%d)", t.path, k)
		v := t.h.AppendNewElement(k)
		l.Elems = append(l.Elems, empty(elem, k))
		s.hold(target{t.m, elem, v.Type(), l.Elems[n], v.Struct(), t.path + "[new]"})
	case elem.IsContainer():
		src, v, ok := s.sourceOf(elem)
		n = len(l.Elems) // the source may have come into the same message
		if !ok {
			return
		}
		x := impl.ValueOfStruct(src.typ, src.h)
		if class < 9 && n > 0 {
			i := s.Intn(n)
			s.logf("%s.Set(%d, %s)", t.path, i, src.path)
			t.h.SetElement(i, x)
			l.Elems[i] = v
			return
		}
		s.logf("%s.Append(%s)", t.path, src.path)
		t.h.AppendElement(x)
		l.Elems = append(l.Elems, v)
	default:
		v := s.Leaf(elem)
		if n > 0 && s.Intn(4) == 0 {
			v = l.Elems[s.Intn(n)]
		}
		x := leaf(t.typ.Elem(), elem, v)
		is := slices.ContainsFunc(l.Elems, func(e referee.Value) bool { return referee.Equal(e, v) })
		if got := t.h.HasElement(x); got != is {
			failf("%s.Contains(%s) = %v", t.path, show(v), got)
		}
		if n > 0 && s.Intn(4) == 0 {
			i := s.Intn(n)
			s.logf("%s.Append(its element %d)", t.path, i)
			if l.Type.Wire != thrift.SET {
				t.h.AppendElement(t.h.Element(i))
				l.Elems = append(l.Elems, l.Elems[i])
			}
			return
		}
		switch {
		case class < 8 && n > 0:
			i := s.Intn(n)
			s.logf("%s.Set(%d, %s)", t.path, i, show(v))
			t.h.SetElement(i, x)
			l.Elems[i] = v
		case l.Type.Wire != thrift.SET || !is:
			s.logf("%s.Append(%s)", t.path, show(v))
			t.h.AppendElement(x)
			l.Elems = append(l.Elems, v)
		}
	}
}

// arrange swaps or deletes elements.
func (s *session) arrange(t target, l *referee.List) {
	n := len(l.Elems)
	of := arrangedOf(l.Type, t.h)
	switch class := s.Intn(6); {
	case class >= 4:
		s.filter(t, l)
	case class < 2 && n > 0:
		i, j := s.Intn(n), s.Intn(n)
		s.logf("%s.Swap(%d, %d)", t.path, i, j)
		of.Swap(i, j)
		l.Elems[i], l.Elems[j] = l.Elems[j], l.Elems[i]
	case class < 3:
		i := s.Intn(n + 1)
		j := min(i+s.Intn(3), n)
		s.logf("%s.Delete(%d, %d)", t.path, i, j)
		if s.Intn(2) == 0 {
			of.Delete(i, j)
		} else {
			t.h.DeleteElements(i, j)
		}
		l.Elems = slices.Delete(l.Elems, i, j)
	default:
		i := n - s.Intn(min(n, 3)+1)
		s.logf("%s.Truncate(%d)", t.path, i)
		of.Truncate(i)
		l.Elems = l.Elems[:i]
	}
}

// filter removes some of the elements in one go.
func (s *session) filter(t target, l *referee.List) {
	run, some := 1+s.Intn(4), s.Intn(2) == 0
	s.logf("%s.DeleteFunc(in runs of %d, or some: %t)", t.path, run, some)
	var left []referee.Value
	i := 0
	impl.DeleteElementsFunc(t.h, true, func(impl.Value) bool {
		del := i/run%2 == 0
		if some {
			del = s.Intn(3) == 0
		}
		if !del {
			left = append(left, l.Elems[i])
		}
		i++
		return del
	})
	if i != len(l.Elems) {
		failf("%s.DeleteFunc: %d calls for %d elements", t.path, i, len(l.Elems))
	}
	l.Elems = left
}

// filterMap removes some of the pairs in one go.
func (s *session) filterMap(t target, m *referee.Map) {
	s.logf("%s.DeleteFunc", t.path)
	var left []referee.Pair
	calls := 0
	impl.DeletePairsFunc(t.h, true, func(k, _ impl.Value) bool {
		calls++
		i := slices.IndexFunc(m.Pairs, func(p referee.Pair) bool {
			return bytes.Equal(k.AppendWire(nil), referee.WriteValue(m.Type.Key, p.Key, nil))
		})
		if i < 0 || s.Intn(2) == 0 {
			return true
		}
		left = append(left, m.Pairs[i])
		return false
	})
	if calls != len(m.Pairs) {
		failf("%s.DeleteFunc: %d calls for %d pairs", t.path, calls, len(m.Pairs))
	}
	m.Pairs = left
}

// sort sorts a list of structs or containers into a random order.
func (s *session) sort(t target, l *referee.List) {
	t.m.h.Message().Finish() // so that all elements are there
	s.logf("%s.SortFunc(a random order)", t.path)
	flip := s.Intn(256)
	rank := map[thriftimpl.Struct]int{}
	ranks := map[referee.Value]int{}
	for i, v := range l.Elems {
		ranks[v] = (i*37%256^flip)<<20 | i
		rank[t.h.Element(i).Struct()] = ranks[v]
	}
	slices.SortFunc(l.Elems, func(a, b referee.Value) int { return ranks[a] - ranks[b] })
	by := func(a, b thriftimpl.Struct) int { return rank[a] - rank[b] }
	if l.Type.Elem.IsStruct() {
		nocopy.StructList[thriftimpl.Struct](t.h).SortFunc(by)
	} else {
		nocopy.NestedList[thriftimpl.Struct](t.h).SortFunc(by)
	}
}

func (s *session) editMap(t target, m *referee.Map) {
	if m.Type.Key.IsContainer() {
		return // TestModel of package nocopy has these
	}
	k := s.Leaf(m.Type.Key)
	if n := len(m.Pairs); n > 0 && s.Intn(2) == 0 {
		k = m.Pairs[s.Intn(n)].Key
	}
	key := leaf(t.typ.Key(), m.Type.Key, k)
	name := t.path + "[" + show(k) + "]"
	elem := m.Type.Elem
	put := func(v referee.Value) {
		if i := m.Find(k); i >= 0 {
			m.Pairs[i].Value = v
		} else {
			m.Pairs = append(m.Pairs, referee.Pair{Key: k, Value: v})
		}
	}
	switch class := s.Intn(8); {
	case class == 0 && s.Intn(2) == 0:
		s.filterMap(t, m)
	case class < 2:
		s.logf("delete %s", name)
		i := m.Find(k)
		if got := t.h.DeletePair(key); got != (i >= 0) {
			failf("%s: Delete gives %v", name, got)
		}
		if i >= 0 {
			m.Pairs = slices.Delete(m.Pairs, i, i+1)
		}
	case !elem.IsContainer():
		v := s.Leaf(elem)
		s.logf("%s = %s", name, show(v))
		t.h.PutPair(key, leaf(t.typ.Elem(), elem, v))
		put(v)
	case class < 5:
		n := 0
		if elem.IsList() {
			n = s.Count()
		}
		s.logf("%s: PutNew(%d)", name, n)
		v := t.h.PutNewPair(key, n)
		node := empty(elem, n)
		put(node)
		s.hold(target{t.m, elem, v.Type(), node, v.Struct(), name})
	default:
		src, v, ok := s.sourceOf(elem)
		if !ok {
			return
		}
		s.logf("%s = %s", name, src.path)
		t.h.PutPair(key, impl.ValueOfStruct(src.typ, src.h))
		put(v)
	}
	if n := t.h.Count(); n != len(m.Pairs) {
		failf("%s has Len %d, not %d", t.path, n, len(m.Pairs))
	}
}
