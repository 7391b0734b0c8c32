// TestModel's operations on the fields of structs and unions.

package model_test

import (
	"fmt"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
)

// edit changes something in the message, or in the message of an earlier handle.
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
	s.current = t.m
	t.m.sent = nil
	s.ops++
	switch v := t.node.(type) {
	case *referee.Record:
		if len(v.Fields) > 0 {
			s.editField(t, v, s.Intn(len(v.Fields)))
		}
	case *referee.List:
		if leaves[v.Type.Elem] != nil {
			s.editLeaves(t, v)
		} else {
			s.editList(t, v)
		}
	case *referee.Map:
		s.editMap(t, v)
	}
}

// value returns a random value, and its text for the log.
func (s *session) value(t *referee.Type) (referee.Value, string) {
	v := s.Value(t, 2)
	if s.log == nil {
		return v, ""
	}
	return v, show(v)
}

// show returns a short text of a value.
func show(v referee.Value) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%.20q (%d bytes)", v, len(v))
	case referee.Bytes:
		return fmt.Sprintf("%.20q (%d bytes)", string(v), len(v))
	}
	text := fmt.Sprint(referee.Plain(v))
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return strings.ToValidUTF8(text, "?")
}

func (s *session) editField(t target, rec *referee.Record, i int) {
	b := s.of[rec.Type]
	f := &rec.Type.Fields[i]
	name := t.path + "." + f.Name
	class := s.Intn(8)
	switch {
	case s.Intn(8) == 0 && s.setRows(t, rec, i):
	case class == 0:
		s.unset(t, b, rec, i)
	case leaves[f.Type] != nil, class < 3:
		for range 1 + class/6 { // sometimes twice
			v, text := s.value(f.Type)
			s.logf("%s = %s", name, text)
			filler{s.schema, s.Gen}.field(b, t.h, i, v)
			rec.SetArm(i)
			rec.Fields[i] = v
		}
	case class < 5: // to be filled later
		s.newChild(t, b, rec, i)
	default:
		s.setFieldFromElsewhere(t, b, rec, i)
	}
}

func (s *session) unset(t target, b *bound, rec *referee.Record, i int) {
	f, constant := &rec.Type.Fields[i], b.fields[i]
	s.logf("%s.Unset(%s)", t.path, f.Name)
	switch {
	case rec.Type.Union:
		t.h.UnsetArm(constant)
		rec.Fields[i] = nil
		if rec.Last == i+1 {
			rec.Last = 0
			for k, x := range rec.Fields {
				if x != nil {
					rec.Last = k + 1
				}
			}
		}
	case f.Req == referee.Required:
		t.h.Reset(constant, b.desc)
		rec.Fields[i] = f.Initial()
	default:
		was := t.h.HasField(constant)
		t.h.Unset(constant)
		if !was && rec.Fields[i] != nil { // it was never set, and Finish will set it
			rec.Fields[i] = fromFinish{}
			break
		}
		rec.Fields[i] = nil
	}
	if f.Req != referee.Required && t.h.HasField(constant) {
		failf("%s.%s is set after Unset", t.path, f.Name)
	}
}

// newChild makes a field an empty struct or container, to be filled later.
func (s *session) newChild(t target, b *bound, rec *referee.Record, i int) {
	f := &rec.Type.Fields[i]
	h := t.h
	if rec.Type.Union {
		h = h.Arm(b.fields[i], b.desc)
		rec.SetArm(i)
	}
	n := 0
	if !f.Type.IsStruct() {
		n = s.Count()
	}
	s.logf("%s.New%s(%d)", t.path, f.Name, n)
	child := target{m: t.m, t: f.Type, node: s.empty(f.Type, n), path: t.path + "." + f.Name}
	child.h = h.NewChild(b.fields[i], b.desc, n)
	rec.Fields[i] = child.node
	s.hold(child)
}

// empty returns the model of a new struct or container. A list has n zeroes.
func (s *session) empty(t *referee.Type, n int) referee.Value {
	switch {
	case t.IsStruct():
		return newRecord(t.Struct)
	case t.IsList():
		l := &referee.List{Type: t}
		for range n {
			var x referee.Value
			if t.Elem.IsStruct() {
				x = newRecord(t.Elem.Struct)
			} else {
				x = referee.Zero(t.Elem)
			}
			l.Elems = append(l.Elems, x)
		}
		return l
	}
	return &referee.Map{Type: t}
}

// setFieldFromElsewhere makes a field a copy of a value from elsewhere.
func (s *session) setFieldFromElsewhere(t target, b *bound, rec *referee.Record, i int) {
	f := &rec.Type.Fields[i]
	if s.Intn(8) == 0 && rec.Fields[i] == nil { // absent: its default, or empty
		v := f.Default
		if v == nil {
			v = referee.Zero(f.Type)
		}
		s.logf("%s.Set%s(what it is when absent)", t.path, f.Name)
		t.h.SetChild(b.fields[i], b.desc, t.h.Child(b.fields[i], b.desc))
		rec.SetArm(i)
		rec.Fields[i] = referee.Clone(v)
		return
	}
	src, v, ok := s.source(t, f.Type)
	if !ok {
		return
	}
	s.logf("%s.Set%s(%s)", t.path, f.Name, src.path)
	t.h.SetChild(b.fields[i], b.desc, src.h)
	rec.SetArm(i)
	rec.Fields[i] = v
}
