package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/hashmap"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// The entries of values that were replaced or removed stay in the index, since there may be
// handles of them, until the message is compacted. Then they are made zero, and used again for
// values of the same type. So a handle of such a value reads as absent, or as another value of
// its type.

// deadEntries holds the entries of values that were replaced or removed.
type deadEntries struct {
	values   []deadValue
	fields   []deadField
	byStruct hashmap.Map[uint32, []deadField] // by deadField.in; filled to compact
	// What compacting has freed, and was not used again
	free     hashmap.Map[*schema.Type, []block]
	rawWords hashmap.Map[uint32, []uint32] // by size: words that no handle refers to
	// By entry: how many words a container's block has, if that does not follow from its count
	blockWords hashmap.Map[uint32, uint32]
	freeWords  uint32 // how many words free and rawWords have
	// When compactIfWorth looks again how much is dead:
	reused      uint32 // how many free words were used again since the message was compacted last
	checkAt     uint32 // it looks once the index's words in use and reused together are more
	compacted   bool   // the message was compacted
	everyChange bool   // for tests: it compacts at every change
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

// block is a range of words of the index that begins with entry e.
type block struct{ e, words uint32 }

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
	*d = deadEntries{values: values, fields: fields, checkAt: uncheckedWords}
}

// used reports whether d differs from what reset makes of it.
func (d *deadEntries) used() bool {
	return len(d.values)+len(d.fields) > 0 || d.compacted || d.checkAt != uncheckedWords || d.everyChange
}

// noteDead notes that the struct or container of type t with this word is about to be replaced or
// removed. It does nothing if there is none, or it has not been indexed.
func (m *Message) noteDead(t *schema.Type, word uint32) {
	if word != 0 && word&notIndexed == 0 {
		if debugging {
			m.noteRemoved(t, word)
		}
		m.ownSeldom()
		m.dead.values = append(m.dead.values, deadValue{t: t, e: word})
		m.more = true
	}
}

// noteDeadField notes that the value of field f of the struct of entry e, if that is a struct or
// container, is about to be replaced or removed.
func (m *Message) noteDeadField(e uint32, f schema.Ref) {
	switch word := m.at(e, f); {
	case word == 0 || word&notIndexed != 0:
	case f.Wire() == wire.Struct:
		if debugging {
			m.noteRemovedField(word)
		}
		m.ownSeldom()
		m.dead.fields = append(m.dead.fields, deadField{e, f.Word(), word})
		m.more = true
	default:
		m.noteDead(schema.TypeByID(m.idx[word+listType]), word)
	}
}

// noteDeadFields notes that the structs and containers in all fields of the struct of entry e are
// about to be replaced or removed. The struct's own entry stays in use.
func (m *Message) noteDeadFields(d *schema.Struct, e uint32) {
	for i := m.next(d, e, 0); i < len(d.Fields()); i = m.next(d, e, i+1) {
		if f := &d.Fields()[i]; f.Kind() >= schema.Record {
			m.noteDead(f.Type, m.at(e, f.Ref()))
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
	m.dead.values = append(m.dead.values, deadValue{t.Elem(), x, m.dead.inBlock(e, x)})
	m.more = true
}

// inBlock reports whether x, the entry of an element, is in the block of the list of entry e.
func (d *deadEntries) inBlock(e, x uint32) bool { return x > e && x < e+d.blockWords.Get(e) }

// reclaim frees the entries of all values that were noted as dead. Structs that were replaced in
// fields of live structs are the exception: reclaimFields frees those.
func (d *deadEntries) reclaim(m *Message) {
	d.compacted = true
	for _, f := range d.fields {
		d.byStruct.Put(f.in, append(d.byStruct.Get(f.in), f))
	}
	for _, v := range d.values {
		if v.inBlock && m.idx[v.e] != 0 {
			d.reclaimStruct(m, v.t.Struct(), v.e)
			clear(m.idx[v.e : v.e+uint32(v.t.Struct().Words())])
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
	if m.idx[e+entryStart] == 0 {
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
	if room := d.blockWords.Get(e); room > 0 {
		words = room
	}
	d.freeBlock(m, t, e, words)
}

// reclaimStruct frees the entries of all values in the struct of entry e, but not its own.
func (d *deadEntries) reclaimStruct(m *Message, desc *schema.Struct, e uint32) {
	d.reclaimFields(m, desc, e)
	if slots := m.editOf(e).fieldNodes; slots != 0 {
		d.freeNodes(m, desc, slots)
	}
	if desc.IsUnion() {
		d.freeExtra(m, m.idx[e+unionWord])
	}
	for i := m.next(desc, e, 0); i < len(desc.Fields()); i = m.next(desc, e, i+1) {
		f := &desc.Fields()[i]
		if word := m.at(e, f.Ref()); f.Kind() >= schema.Record && word != 0 && word&notIndexed == 0 {
			d.reclaimValue(m, f.Type, word)
		}
	}
	if desc.IsWide() {
		m.freeTable(m.idx[e+tableWord], desc.Span())
		m.idx[e+tableWord] = 0
	}
}

// reclaimStructs frees the entries of the elements of the list of structs of entry e. If the
// entries of elements are in the list's block, it frees only the entries in them: the caller frees
// the block. It returns how many words after the list's entry are the elements'.
func (d *deadEntries) reclaimStructs(m *Message, t *schema.Type, e uint32) uint32 {
	n, follow := m.idx[e+listCount], m.elementsFollow(e)
	for k := range n {
		if x := m.structEntry(e, k); follow || d.inBlock(e, x) {
			d.reclaimStruct(m, t.Elem().Struct(), x)
		} else {
			d.reclaimValue(m, t.Elem(), x)
		}
	}
	switch {
	case follow:
		return n * uint32(t.Elem().Struct().Words())
	case m.idx[e+listRoom]&roomTable != 0:
		d.freeSlots(m, e, 1)
	}
	return 0
}

// reclaimSlots frees the entries of the elements, keys and values in the slots of the container of
// entry e, and the slots if they do not follow the entry. It returns how many words after the
// entry are slots.
func (d *deadEntries) reclaimSlots(m *Message, t *schema.Type, e uint32) uint32 {
	per := uint32(t.ElemWords())
	for k := range m.idx[e+listCount] {
		slot := m.idx[e+listElems] + k*per
		switch {
		case m.idx[slot] == 0: // deleted, or not reached in building
			continue
		case t.Kind() == schema.List && t.Elem().Kind() >= schema.Record:
			d.reclaimValue(m, t.Elem(), m.idx[slot])
		case t.Kind() == schema.Dict && t.Key().Kind() >= schema.Record:
			d.reclaimValue(m, t.Key(), m.idx[slot])
		}
		if t.Kind() == schema.Dict && t.Elem().Kind() >= schema.Record {
			d.reclaimValue(m, t.Elem(), m.idx[slot+pairValue])
		}
	}
	if m.idx[e+listElems]-m.editOf(e).gap == e+listWords {
		return (m.idx[e+listRoom] + m.editOf(e).gap) * per
	}
	d.freeSlots(m, e, per)
	return 0
}

// freeSlots frees the slots, of per words each, of the container of entry e. They must not be in
// its block.
func (d *deadEntries) freeSlots(m *Message, e, per uint32) {
	gap := m.editOf(e).gap
	d.freeRaw(m.idx[e+listElems]-gap*per, (m.idx[e+listRoom]&roomMask+gap)*per)
}

// freeBlock makes the block of entry e zero, which has this many words, and frees it for another
// value of type t.
func (d *deadEntries) freeBlock(m *Message, t *schema.Type, e, words uint32) {
	clear(m.idx[e : e+words])
	if t.Kind() >= schema.List {
		m.idx[e+listType] = t.ID()
		m.keys.Clear(e)
	}
	m.keys.Views().Forget(e, words)
	d.free.Put(t, append(d.free.Get(t), block{e, words}))
	d.freeWords += words
}

// freeRaw frees the words of the index from number at on, which no handle refers to.
func (d *deadEntries) freeRaw(at, words uint32) {
	if d.compacted && words > 0 {
		d.rawWords.Put(words, append(d.rawWords.Get(words), at))
		d.freeWords += words
	}
}

// freeNodes frees slots, the edit.fieldNodes of a struct that desc describes.
func (d *deadEntries) freeNodes(m *Message, desc *schema.Struct, slots uint32) {
	if desc.IsWide() {
		m.freeTable(slots, desc.Span())
		return
	}
	d.freeRaw(slots, uint32(desc.Words()))
}

// freeExtra frees the entries of a union's extra fields. w is the word that stands for the last of
// them, and leads to the others.
func (d *deadEntries) freeExtra(m *Message, w uint32) {
	for w&hasExtra != 0 {
		next := m.idx[w&^hasExtra+extraNext]
		d.freeRaw(w&^hasExtra, extraWords)
		w = next
	}
}

// allocFor returns the number of the first of n zero words for the entry of a value of type t.
func (m *Message) allocFor(t *schema.Type, n int) uint32 {
	if !m.dead.compacted {
		return m.alloc(n)
	}
	return m.reuseFor(t, uint32(n))
}

// fewTried is how many free blocks are looked at for one that is large enough.
const fewTried = 8

// reuseFor does the work of allocFor in a message that was compacted: it takes the words of a free
// block if there is one.
func (m *Message) reuseFor(t *schema.Type, n uint32) uint32 {
	d := &m.dead
	blocks := d.free.Get(t)
	for k := len(blocks) - 1; k >= 0 && k >= len(blocks)-fewTried; k-- {
		b := blocks[k]
		if b.words < n {
			continue
		}
		blocks[k] = blocks[len(blocks)-1]
		d.free.Put(t, blocks[:len(blocks)-1])
		return m.reuseBlock(t, b, n)
	}
	if t.Kind() == schema.Record {
		return m.alloc(int(n))
	}
	n = roundUp(n)
	e := m.alloc(int(n))
	d.blockWords.Put(e, n)
	return e
}

// reuseBlock takes b, which was free, for a value of type t, and makes its first n words zero. It
// returns the number of the first.
func (m *Message) reuseBlock(t *schema.Type, b block, n uint32) uint32 {
	d := &m.dead
	if t.Kind() != schema.Record {
		d.blockWords.Put(b.e, b.words)
	}
	clear(m.idx[b.e : b.e+n])
	if debugging {
		m.noteReused(b.e, b.words)
	}
	d.reused += b.words
	d.freeWords -= b.words
	m.levelled = 0 // structs may be nested more deeply though there are no more words
	m.noteGrowth()
	return b.e
}

// allocRaw returns the number of the first of n zero words that no handle will refer to.
func (m *Message) allocRaw(n int) uint32 {
	d := &m.dead
	if !d.compacted {
		return m.alloc(n)
	}
	if at := d.rawWords.Get(uint32(n)); len(at) > 0 {
		e := at[len(at)-1]
		d.rawWords.Put(uint32(n), at[:len(at)-1])
		d.reused += uint32(n)
		d.freeWords -= uint32(n)
		clear(m.idx[e : e+uint32(n)])
		return e
	}
	return m.alloc(n)
}
