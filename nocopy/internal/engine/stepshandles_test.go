// Helpers by which the operations of TestHostileSteps work on messages of any type.

package engine

import (
	"fmt"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// hostile is a message with the handles of all that is in it.
type hostile struct {
	root    Struct
	desc    *schema.Struct
	structs []typedHandle
	lists   []typedHandle
	maps    []typedHandle
	fresh   int // values made so far
	times   int // how often one thing is done: in proportion to the message
	others  map[*schema.Type]StructList[Struct]
}

// typedHandle is a handle with its type.
type typedHandle struct {
	Struct
	t *schema.Type
}

func newHostile(s Struct, d *schema.Struct) *hostile {
	h := &hostile{root: s, desc: d, fresh: 1 << 20, others: map[*schema.Type]StructList[Struct]{}}
	h.collect(s, d.Type())
	return h
}

func (h *hostile) collect(s Struct, t *schema.Type) {
	switch t.Kind() {
	case schema.Record:
		h.structs = append(h.structs, typedHandle{s, t})
		for i := range t.Struct().Fields() {
			if f := t.Struct().Field(i); t.Struct().Fields()[i].Kind() >= schema.Record && s.HasField(f) {
				h.collect(s.Child(f, t.Struct()), t.Struct().Fields()[i].Type)
			}
		}
	case schema.List:
		h.lists = append(h.lists, typedHandle{s, t})
		if t.Elem().Kind() >= schema.Record {
			for i := range s.ListLen() {
				h.collect(at(s, t, i), t.Elem())
			}
		}
	case schema.Dict:
		h.maps = append(h.maps, typedHandle{s, t})
		s.eachPair(func(k, v index.Word) bool {
			if t.Key().Kind() >= schema.Record {
				h.collect(s.m.handle(k.Entry()), t.Key())
			}
			if t.Elem().Kind() >= schema.Record {
				h.collect(s.m.handle(v.Entry()), t.Elem())
			}
			return true
		})
	}
}

// at returns element i of a list of structs or containers.
func at(s Struct, t *schema.Type, i int) Struct {
	if t.Elem().Kind() == schema.Record {
		return StructList[Struct](s).At(i)
	}
	return NestedList[Struct](s).At(i)
}

// raw is the codec of keys and values as they are.
type raw struct{}

func (raw) get(m *Message, w index.Word) encoded { return encoded{} }

func (raw) encode(k encoded) encoded { return k }

// holders are the types of structs with one field, by its type. Types are never given back.
var holders = map[*schema.Type]*schema.Struct{}

// holderOf returns the type of a struct with one field of type t.
func holderOf(t *schema.Type) *schema.Struct {
	d := holders[t]
	if d == nil {
		d = schema.NewStruct("Holder")
		d.Define(schema.FieldDesc{ID: 1, Name: "v", Type: t})
		holders[t] = d
	}
	return d
}

// listsOf are the types of lists, by the types of their elements.
var listsOf = map[*schema.Type]*schema.Type{}

// value returns value number i of a type, of a message of its own if it is a struct or container.
func value(t *schema.Type, i int) encoded {
	b := appendValueOf(nil, t, i)
	switch t.Kind() {
	case schema.Fixed:
		k := encoded{n: len(b)}
		copy(k.fixed[:], b)
		return k
	case schema.Text:
		return encoded{text: b[wire.TextHeader:]}
	}
	d := holderOf(t)
	s, err := Parse(d, append(append([]byte{byte(t.Wire()), 0, 1}, b...), 0))
	if err != nil {
		panic(err)
	}
	return encoded{view: s.Child(d.Field(0), d)}
}

// new returns a value that the message has not seen.
func (h *hostile) new(t *schema.Type) encoded {
	h.fresh++
	return value(t, h.fresh)
}

// keyAt returns the key of pair i, or element i of a list, as a program would have it.
func keyAt(s Struct, t *schema.Type, i int) encoded {
	kt := t.Key()
	if t.Kind() == schema.List {
		kt = t.Elem()
	}
	if kt.Kind() >= schema.Record {
		if t.Kind() == schema.List {
			return encoded{view: at(s, t, i)}
		}
		return encoded{view: s.m.handle(s.pairAt(i).Key().Entry())}
	}
	b := slices.Clone(s.m.keyBytes(s.entry(), t, uint32(i)))
	if kt.Kind() == schema.Text {
		return encoded{text: b}
	}
	k := encoded{n: len(b)}
	copy(k.fixed[:], b)
	return k
}

// keysOf returns all keys of a map, or elements of a list.
func keysOf(s Struct, t *schema.Type) (all []encoded) {
	for i := range s.ListLen() {
		if t.Kind() == schema.List || s.pairAt(i).Key() != 0 {
			all = append(all, keyAt(s, t, i))
		}
	}
	return all
}

func setField(s Struct, d *schema.Struct, i, n int) {
	f, fd := d.Field(i), &d.Fields()[i]
	switch fd.Kind() {
	case schema.Text:
		s.SetText(f, fmt.Sprintf("%0*d", n, n))
	case schema.Fixed:
		switch fd.Size() {
		case 1:
			s.SetInt8(f, 1)
		case 2:
			s.SetInt16(f, int16(n))
		case 4:
			s.SetInt32(f, int32(n))
		case 8:
			s.SetInt64(f, int64(n))
		default:
			s.SetUUID(f, UUID{byte(n)})
		}
	}
}

// eachField calls f for each field of each struct that is set, or is not. A struct that f has
// removed with the one around it may be gone when f sets something in it.
func (h *hostile) eachField(set bool, f func(s Struct, d *schema.Struct, i int)) {
	for _, s := range h.structs {
		for i := range s.t.Struct().Fields() {
			if s.HasField(s.t.Struct().Field(i)) == set {
				unlessGone(func() { f(s.Struct, s.t.Struct(), i) })
			}
		}
	}
}

// each calls f for each of these. Some may be gone when f sets something in them, being in what it
// has replaced before.
func (h *hostile) each(handles []typedHandle, f func(x typedHandle)) {
	for _, x := range handles {
		unlessGone(func() { f(x) })
	}
}

// unlessGone calls f, which may set something in a value that is no longer in its message.
func unlessGone(f func()) {
	defer func() {
		if x := recover(); x != nil && x != panicGone {
			panic(x)
		}
	}()
	f()
}

// change changes something in a struct or container, or adds it.
func (h *hostile) change(s Struct, t *schema.Type) {
	switch t.Kind() {
	case schema.Record:
		for i := range t.Struct().Fields() {
			if t.Struct().Fields()[i].Kind() < schema.Record {
				setField(s, t.Struct(), i, 5)
				return
			}
		}
	case schema.List:
		h.append(s, t)
	case schema.Dict:
		h.put(s, t, h.new(t.Key()))
	}
}

// append adds a new element to a list.
func (h *hostile) append(s Struct, t *schema.Type) {
	switch v := h.new(t.Elem()); t.Elem().Kind() {
	case schema.Fixed:
		copy(s.GrowFixed(1, int(t.Elem().Size())), v.fixed[:])
	case schema.Text:
		s.AppendBytes(v.text)
	case schema.Record:
		StructList[Struct](s).Append(v.view)
	default:
		NestedList[Struct](s).Append(v.view)
	}
}

// set gives element i of a list a value.
func (h *hostile) set(s Struct, t *schema.Type, i int, v encoded) {
	switch t.Elem().Kind() {
	case schema.Fixed:
		copy(s.SetFixedAt(i, int(t.Elem().Size())), v.fixed[:])
	case schema.Text:
		s.SetBytesAt(i, v.text)
	case schema.Record:
		StructList[Struct](s).Set(i, v.view)
	default:
		NestedList[Struct](s).Set(i, v.view)
	}
}

func contains(s Struct, t *schema.Type, v encoded) bool {
	if t.Elem().Kind() >= schema.Record {
		return s.ContainsValue(v.view)
	}
	return s.ContainsKey(v.bytes())
}

// put puts a pair.
func (h *hostile) put(s Struct, t *schema.Type, k encoded) {
	if t.Elem().Kind() >= schema.Record {
		s.putView(k, h.new(t.Elem()).view)
		return
	}
	PutPair[encoded, encoded, raw, raw](s, k, h.new(t.Elem()))
}

func remove(s Struct, k encoded) bool { return DeleteKey[encoded, raw](s, k) }

func get(s Struct, k encoded) bool {
	_, is := GetPair[encoded, encoded, raw, raw](s, k)
	return is
}

// other returns a list in another message to append to, of structs or containers of a type.
func (h *hostile) other(t *schema.Type) StructList[Struct] {
	l, ok := h.others[t]
	if !ok {
		if listsOf[t] == nil {
			listsOf[t] = schema.ListOf(t)
		}
		d := holderOf(listsOf[t])
		l = StructList[Struct](New(d).NewChild(d.Field(0), d, 0))
		h.others[t] = l
	}
	return l
}

func (h *hostile) all() []typedHandle { return slices.Concat(h.structs, h.lists, h.maps) }
