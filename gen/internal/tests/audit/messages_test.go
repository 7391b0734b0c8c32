// Messages of one version of files, read by Apache's library with another version.

package audit_test

import (
	"math/rand/v2"

	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
)

// messages writes messages of the types of one Version, and reads them with the types of another,
// by Apache's library.
type messages struct {
	*rand.Rand
	leaves  referee.Gen
	structs map[*schema.Struct]*referee.Struct
}

// choices implements referee.Choices.
type choices struct{ *rand.Rand }

func (c choices) Intn(n int) int { return c.IntN(n) }

func newMessages(seed uint64) *messages {
	r := rand.New(rand.NewPCG(seed, 0))
	return &messages{r, referee.Gen{Choices: choices{r}}, map[*schema.Struct]*referee.Struct{}}
}

var leaves = map[schema.Kind]*referee.Type{
	schema.Bool: referee.Bool, schema.I8: referee.I8, schema.I16: referee.I16, schema.I32: referee.I32, schema.I64: referee.I64,
	schema.Double: referee.Double, schema.String: referee.String, schema.Binary: referee.Binary, schema.UUID: referee.UUID,
	schema.EnumKind: referee.Enum,
}

func (m *messages) typ(t *schema.Type) *referee.Type {
	switch t.Kind {
	case schema.StructKind:
		return referee.StructOf(m.strct(t.Struct))
	case schema.List:
		return referee.ListOf(m.typ(t.Elem))
	case schema.SetKind:
		return referee.SetOf(m.typ(t.Elem))
	case schema.Map:
		return referee.MapOf(m.typ(t.Key), m.typ(t.Elem))
	}
	return leaves[t.Kind]
}

func (m *messages) strct(s *schema.Struct) *referee.Struct {
	r := m.structs[s]
	if r == nil {
		r = &referee.Struct{Name: s.Name, Union: s.Shape == schema.IsUnion, Exception: s.Shape == schema.IsException}
		m.structs[s] = r
		for _, f := range s.Fields {
			r.Fields = append(r.Fields, referee.Field{ID: f.ID, Name: f.Name, Type: m.typ(f.Type), Req: referee.Requiredness(f.Req)})
		}
	}
	return r
}

// value returns a random value. Below a depth of 0 it has only mandatory parts.
func (m *messages) value(t *schema.Type, depth int) referee.Value {
	n := 0
	if depth > 0 {
		n = 1 + m.IntN(2)
	}
	switch t.Kind {
	case schema.EnumKind:
		return t.Enum.Values[m.IntN(len(t.Enum.Values))].Value
	case schema.StructKind:
		return m.record(t.Struct, depth)
	case schema.List, schema.SetKind:
		l := &referee.List{Type: m.typ(t)}
		for range n {
			l.Elems = append(l.Elems, m.value(t.Elem, depth-1))
		}
		return l
	case schema.Map:
		l := &referee.Map{Type: m.typ(t)}
		for range n {
			l.Pairs = append(l.Pairs, referee.Pair{Key: m.value(t.Key, depth-1), Value: m.value(t.Elem, depth-1)})
		}
		return l
	}
	return m.leaves.Leaf(leaves[t.Kind])
}

// record returns a struct. A union has one field; other structs have the required fields and
// usually one more.
func (m *messages) record(s *schema.Struct, depth int) *referee.Record {
	r := referee.NewRecord(m.strct(s))
	union := s.Shape == schema.IsUnion && len(s.Fields) > 0
	some, all := m.IntN(len(s.Fields)+1), m.IntN(8) == 0
	if union {
		some = m.IntN(len(s.Fields))
		r.Last = some + 1
	}
	for i, f := range s.Fields {
		if i == some && (union || depth > 0) || !union && (f.Req == schema.Required || all && depth > 0) {
			r.Fields[i] = m.value(f.Type, depth-1)
		}
	}
	return r
}

// A transfer is a message of one Version that is read with the other one. back is set for a
// message of the new Version, whose additional fields are expected to get lost.
type transfer struct {
	*messages
	back bool
}

// strct reports whether a random message of a struct is read differently.
func (t transfer) strct(from, to *schema.Struct) bool {
	r := t.record(from, 1+t.IntN(12))
	got, err := referee.Read(t.messages.strct(to), referee.Write(r, nil))
	return err != nil || t.fields(from, to, r, got)
}

// fields reports whether the written fields of a struct were read differently. Fields are matched
// by name, renamed ones by id.
func (t transfer) fields(from, to *schema.Struct, wrote, read *referee.Record) bool {
	if (from.Shape == schema.IsUnion) != (to.Shape == schema.IsUnion) || to.Shape == schema.IsUnion && read.Last == 0 {
		return true
	}
	for i, v := range wrote.Fields {
		if v == nil {
			continue
		}
		f := from.Fields[i]
		k, byName := find(to.Fields, func(g *schema.Field) bool { return g.Name == f.Name }), true
		if k < 0 {
			k, byName = find(to.Fields, func(g *schema.Field) bool { return g.ID == f.ID }), false
		}
		if k < 0 {
			continue // removed
		}
		if g := to.Fields[k]; byName && g.ID != f.ID || read.Fields[k] == nil || t.differs(f.Type, g.Type, v, read.Fields[k]) {
			return true
		}
	}
	return false
}

func find(fields []*schema.Field, is func(*schema.Field) bool) int {
	for i, f := range fields {
		if is(f) {
			return i
		}
	}
	return -1
}

// differs reports whether a value was read differently.
func (t transfer) differs(from, to *schema.Type, wrote, read referee.Value) bool {
	switch v := wrote.(type) {
	case *referee.Record:
		return t.fields(from.Struct, to.Struct, v, read.(*referee.Record))
	case *referee.List:
		w := read.(*referee.List)
		for i, x := range v.Elems {
			if t.differs(from.Elem, to.Elem, x, w.Elems[i]) {
				return true
			}
		}
		return len(v.Elems) != len(w.Elems)
	case *referee.Map:
		w := read.(*referee.Map)
		for i, p := range v.Pairs {
			if t.differs(from.Key, to.Key, p.Key, w.Pairs[i].Key) || t.differs(from.Elem, to.Elem, p.Value, w.Pairs[i].Value) {
				return true
			}
		}
		return len(v.Pairs) != len(w.Pairs)
	case int32:
		return v != read || from.Kind == schema.EnumKind && to.Kind == schema.EnumKind && t.enum(from.Enum, to.Enum, v)
	case string:
		if b, ok := read.(referee.Bytes); ok {
			return string(b) != v
		}
	case referee.Bytes:
		if s, ok := read.(string); ok {
			return s != string(v)
		}
	}
	return wrote != read
}

// enum reports whether a number of one enum has another meaning in the other: one of its names has
// another number there, or no name has the number.
func (t transfer) enum(from, to *schema.Enum, n int32) bool {
	known := t.back
	for _, v := range to.Values {
		known = known || v.Value == n
		for _, w := range from.Values {
			if w.Value == n && v.Name == w.Name && v.Value != n {
				return true
			}
		}
	}
	return !known
}

// result reports whether a random reply of a method is read differently.
func (t transfer) result(from, to *schema.Function) bool {
	r := referee.NewRecord(t.messages.strct(from.Result))
	if n := len(r.Fields); n > 0 && (from.Returns != nil || t.IntN(2) == 0) {
		i := t.IntN(n)
		r.Fields[i] = t.value(from.Result.Fields[i].Type, 1+t.IntN(12))
	}
	got, err := referee.Read(t.messages.strct(to.Result), referee.Write(r, nil))
	if err != nil || t.fields(from.Result, to.Result, r, got) {
		return true
	}
	none := func(r *referee.Record) bool {
		for _, v := range r.Fields {
			if v != nil {
				return false
			}
		}
		return true
	}
	return none(r) != none(got) || none(r) && (from.Returns == nil) != (to.Returns == nil)
}
