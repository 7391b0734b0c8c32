package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/hashmap"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// The entries of values that were replaced or removed stay in the index, since there may be
// handles of them, until the message is compacted. Then they are made zero, and used again for
// values of the same type. So a handle of such a value reads as absent, or as another value of
// its type.

// deadEntries holds the entries of values that were replaced or removed.
type deadEntries struct {
	values      []deadValue
	fields      []deadField
	byStruct    hashmap.Map[uint32, []deadField] // by deadField.in; filled to compact
	everyChange bool                             // for tests: it compacts at every change
}

// deadValue is a struct or container that was replaced or removed: its type and its entry. With
// inBlock it was an element whose entry is in the block of a list: its words stay the block's.
type deadValue struct {
	t       *schema.Type
	e       uint32
	inBlock bool
}

// deadField is a struct that was replaced in a field: in is the entry of the struct that the field
// is in, word the number of the field's word, e the entry of the replaced struct.
type deadField struct{ in, word, e uint32 }

// isEmpty reports whether nothing was noted as dead since the message was compacted last.
func (d *deadEntries) isEmpty() bool { return len(d.values)+len(d.fields) == 0 }

// keepDead is the largest capacity that values and fields may have to be kept for the next
// message.
const keepDead = 1 << 10

// reset makes d ready for the next message.
func (d *deadEntries) reset() {
	values, fields := d.values[:0], d.fields[:0]
	clear(d.values)
	if cap(values) > keepDead {
		values = nil
	}
	if cap(fields) > keepDead {
		fields = nil
	}
	*d = deadEntries{values: values, fields: fields}
}

// used reports whether d differs from what reset makes of it.
func (d *deadEntries) used() bool {
	return len(d.values)+len(d.fields) > 0 || d.everyChange
}

// noteDead notes that the struct or container of type t with this word is about to be replaced or
// removed. It does nothing if there is none, or it has not been indexed.
func (m *Message) noteDead(t *schema.Type, word uint32) {
	if word != 0 && word&index.NotIndexed == 0 {
		if debugging {
			m.noteRemoved(t, word)
		}
		m.ownSeldom()
		m.dead.values = append(m.dead.values, deadValue{t: t, e: word})
		m.ix.More = true
	}
}

// noteDeadField notes that the value of field f of the struct of entry e, if that is a struct or
// container, is about to be replaced or removed.
func (m *Message) noteDeadField(e uint32, f schema.Ref) {
	switch word := m.ix.At(e, f); {
	case word == 0 || word&index.NotIndexed != 0:
	case f.Wire() == wire.Struct:
		if debugging {
			m.noteRemovedField(word)
		}
		m.ownSeldom()
		m.dead.fields = append(m.dead.fields, deadField{e, f.Word(), word})
		m.ix.More = true
	default:
		m.noteDead(schema.TypeByID(m.ix.Words[word+listType]), word)
	}
}

// noteDeadFields notes that the structs and containers in all fields of the struct of entry e are
// about to be replaced or removed. The struct's own entry stays in use.
func (m *Message) noteDeadFields(d *schema.Struct, e uint32) {
	for i := m.ix.Next(d, e, 0); i < len(d.Fields()); i = m.ix.Next(d, e, i+1) {
		if f := &d.Fields()[i]; f.Kind() >= schema.Record {
			m.noteDead(f.Type, m.ix.At(e, f.Ref()))
		}
	}
}

// noteDeadElement notes that the struct of entry x, an element of the list of entry e and type t,
// is about to be replaced or removed.
func (m *Message) noteDeadElement(e uint32, t *schema.Type, x uint32) {
	if debugging {
		m.noteRemoved(t.Elem(), x)
	}
	m.ownSeldom()
	m.dead.values = append(m.dead.values, deadValue{t.Elem(), x, m.inBlock(e, x)})
	m.ix.More = true
}

// inBlock reports whether x, the entry of an element, is in the block of the list of entry e.
func (m *Message) inBlock(e, x uint32) bool { return x > e && x < e+m.ix.BlockRoom(e) }

// reclaim frees the entries of all values that were noted as dead. Structs that were replaced in
// fields of live structs are the exception: reclaimFields frees those.
func (d *deadEntries) reclaim(m *Message) {
	for _, f := range d.fields {
		d.byStruct.Put(f.in, append(d.byStruct.Get(f.in), f))
	}
	for _, v := range d.values {
		if v.inBlock && m.ix.Words[v.e] != 0 {
			d.reclaimStruct(m, v.t.Struct(), v.e)
			clear(m.ix.Words[v.e : v.e+uint32(v.t.Struct().Words())])
		} else {
			d.reclaimValue(m, v.t, v.e)
		}
	}
	clear(d.values)
	d.values, d.fields = d.values[:0], d.fields[:0]
}

// reclaimFields frees the entries of values that were replaced in fields of the struct of entry e.
func (d *deadEntries) reclaimFields(m *Message, desc *schema.Struct, e uint32) {
	if d.byStruct.Len() == 0 {
		return
	}
	fields := d.byStruct.Get(e)
	if fields == nil {
		return
	}
	d.byStruct.Put(e, nil)
	for _, f := range fields {
		d.reclaimValue(m, desc.Fields()[f.word-desc.First()].Type, f.e)
	}
}

// reclaimValue frees the entries of the struct or container of entry e and of all values in it.
func (d *deadEntries) reclaimValue(m *Message, t *schema.Type, e uint32) {
	if m.ix.Words[e+entry.Start] == 0 {
		return // done
	}
	words := uint32(listWords)
	switch {
	case t.Kind() == schema.Record:
		d.reclaimStruct(m, t.Struct(), e)
		words = uint32(t.Struct().Words())
	case t.Kind() == schema.List && t.Elem().Kind() == schema.Record:
		words += d.reclaimStructs(m, t, e)
	case t.ElemWords() > 0:
		words += d.reclaimSlots(m, t, e)
	}
	if room := m.ix.BlockRoom(e); room > 0 {
		words = room
	}
	m.ix.FreeBlock(t, e, words)
	if m.keys.HasTables() {
		m.keys.Forget(e, words)
	}
}

// reclaimStruct frees the entries of all values in the struct of entry e, but not its own.
func (d *deadEntries) reclaimStruct(m *Message, desc *schema.Struct, e uint32) {
	d.reclaimFields(m, desc, e)
	if slots := m.editOf(e).fieldNodes; slots != 0 {
		m.ix.FreeNodes(desc, slots)
	}
	if desc.IsUnion() {
		m.ix.FreeExtra(m.ix.Words[e+entry.Arm])
	}
	for i := m.ix.Next(desc, e, 0); i < len(desc.Fields()); i = m.ix.Next(desc, e, i+1) {
		f := &desc.Fields()[i]
		if word := m.ix.At(e, f.Ref()); f.Kind() >= schema.Record && word != 0 && word&index.NotIndexed == 0 {
			d.reclaimValue(m, f.Type, word)
		}
	}
	if desc.IsWide() {
		m.ix.FreeTable(m.ix.Words[e+entry.Table], desc.Span())
		m.ix.Words[e+entry.Table] = 0
	}
}

// reclaimStructs frees the entries of the elements of the list of structs of entry e. If the
// entries of elements are in the list's block, it frees only the entries in them: the caller frees
// the block. It returns how many words after the list's entry are the elements'.
func (d *deadEntries) reclaimStructs(m *Message, t *schema.Type, e uint32) uint32 {
	n, follow := m.ix.Words[e+listCount], m.elementsFollow(e)
	for k := range n {
		if x := m.structEntry(e, k); follow || m.inBlock(e, x) {
			d.reclaimStruct(m, t.Elem().Struct(), x)
		} else {
			d.reclaimValue(m, t.Elem(), x)
		}
	}
	switch {
	case follow:
		return n * uint32(t.Elem().Struct().Words())
	case m.ix.Words[e+listRoom]&roomTable != 0:
		d.freeSlots(m, e, 1)
	}
	return 0
}

// reclaimSlots frees the entries of the elements, keys and values in the slots of the container of
// entry e, and the slots if they do not follow the entry. It returns how many words after the
// entry are slots.
func (d *deadEntries) reclaimSlots(m *Message, t *schema.Type, e uint32) uint32 {
	per := uint32(t.ElemWords())
	for k := range m.ix.Words[e+listCount] {
		slot := m.ix.Words[e+listElems] + k*per
		switch {
		case m.ix.Words[slot] == 0: // deleted, or not reached in building
			continue
		case t.Kind() == schema.List && t.Elem().Kind() >= schema.Record:
			d.reclaimValue(m, t.Elem(), m.ix.Words[slot])
		case t.Kind() == schema.Dict && t.Key().Kind() >= schema.Record:
			d.reclaimValue(m, t.Key(), m.ix.Words[slot])
		}
		if t.Kind() == schema.Dict && t.Elem().Kind() >= schema.Record {
			d.reclaimValue(m, t.Elem(), m.ix.Words[slot+pairValue])
		}
	}
	if m.ix.Words[e+listElems]-m.editOf(e).gap == e+listWords {
		return (m.ix.Words[e+listRoom] + m.editOf(e).gap) * per
	}
	d.freeSlots(m, e, per)
	return 0
}

// freeSlots frees the slots, of per words each, of the container of entry e. They must not be in
// its block.
func (d *deadEntries) freeSlots(m *Message, e, per uint32) {
	gap := m.editOf(e).gap
	m.ix.FreeRaw(m.ix.Words[e+listElems]-gap*per, (m.ix.Words[e+listRoom]&roomMask+gap)*per)
}
