package engine

import (
	"math"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file frees the entries of values that are no longer in the message, and writes the rest
// anew when a message is compacted.

// At most fewHandouts handouts stay where they are when the message is compacted: each of them
// takes positions.
const fewHandouts = 16

// isField reports whether the handout is still the contents of its field.
func (m *Message) isField(h handout) bool {
	if m.ix.At(h.e, h.field) != h.word {
		return false
	}
	b := m.textBytes(h.word) // a node keeps its word when it gets other contents
	return len(b) == len(h.mem) && &b[0] == &h.mem[0]
}

// manyHandouts forgets handouts that are no longer in the message, and reports whether more
// than fewHandouts are left.
func (m *Message) manyHandouts() bool {
	if len(m.handouts) == 0 {
		return false
	}
	m.handouts = slices.DeleteFunc(m.handouts, func(h handout) bool { return !m.isField(h) })
	if len(m.handouts) > fewHandouts { // the structs of some may no longer be in the message
		live := map[uint32]bool{}
		m.eachStruct(m.desc.Type(), m.root, func(e uint32) { live[e] = true })
		m.handouts = slices.DeleteFunc(m.handouts, func(h handout) bool { return !live[h.e] })
	}
	return len(m.handouts) > fewHandouts
}

// eachStruct calls f with the entries of all structs in the value of type t and entry e, itself
// included. Structs that are not indexed yet have no entry and are left out.
func (m *Message) eachStruct(t *schema.Type, e uint32, f func(e uint32)) {
	if t.Kind() == schema.Record {
		f(e)
	}
	for p := range m.parts(t, e) {
		if !p.word.IsLazy() {
			m.eachStruct(p.t, p.word.Entry(), f)
		}
	}
}

// rewriter goes through the wire bytes of a message that was compacted, and gives its entries
// their new positions.
type rewriter struct {
	m    *Message
	b    []byte // the message
	base uint32 // position of b[0]

	inPlace bool   // pairs keep their numbers, since a loop over a map is under way
	holes   []hole // maps whose deleted pairs keep their slots
}

// hole says that the map of entry e has slots for n pairs that were deleted.
type hole struct{ e, n uint32 }

// structure gives the struct of entry e, which is at index i of the bytes, and all in it their
// new positions. It returns the index after it.
func (r *rewriter) structure(d *schema.Struct, e uint32, i int) int {
	m := r.m
	if slots := m.editOf(e).fieldNodes; slots != 0 {
		m.ix.FreeNodes(d, slots)
	}
	m.dead.reclaimFields(m, d, e)
	m.ix.SetStart(e, r.base+uint32(i))
	var arm uint32 // of a union
	var spare index.Word
	if d.IsUnion() {
		arm, spare = m.ix.ArmField(e), m.ix.Arm(e) // and the entries that its extra fields have had
		m.ix.SetArm(e, index.Word(arm))
	}
	for {
		key := wire.HeaderIn(wire.LoadHeader(r.b, i))
		t, at := wire.Type(key>>16), i+wire.FieldHeader
		if t == wire.Stop {
			break
		}
		f := d.Find(key)
		if f != nil && parse.Takes(r.b, f.Type, at) {
			if word := m.ix.At(e, f.Ref()); word != 0 {
				word, i = r.element(f.Type, word, at)
				m.ix.Put(e, f.Ref(), word)
				continue
			}
		}
		end := parse.SkipValid(r.b, at, t)
		if d.IsUnion() {
			w := spare.Extra()
			_, _, spare = m.ix.Extra(spare)
			m.ix.AddExtra(w, e, r.base+uint32(i), r.base+uint32(end), arm)
		}
		i = end
	}
	m.ix.SetEnd(e, r.at(i))
	m.ix.FreeExtra(spare)
	return i + 1
}

// element gives the element, key, or value of a field or pair, of type t, which is at index i, and
// all in it their new positions. word is the one that it had. element returns the word that it has
// now, and the index after it.
func (r *rewriter) element(t *schema.Type, word index.Word, i int) (index.Word, int) {
	switch {
	case t.Kind() == schema.Fixed:
		return r.at(i), i + int(t.Size())
	case t.Kind() == schema.Text:
		return r.at(i), i + wire.TextHeader + int(wire.BE32(r.b[i:]))
	case word.IsLazy():
		return index.LazyAt(r.base + uint32(i)), parse.SkipValid(r.b, i, t.Wire())
	}
	return word, r.value(t, word.Entry(), i)
}

// at returns the word for the position of index i.
func (r *rewriter) at(i int) index.Word { return index.Word(r.base + uint32(i)) }

// value gives the struct or container of entry e, which is at index i, and all in it their new
// positions. It returns the index after it.
func (r *rewriter) value(t *schema.Type, e uint32, i int) int {
	m := r.m
	switch t.Kind() {
	case schema.Record:
		return r.structure(t.Struct(), e, i)
	case schema.Dict:
		i = r.dict(t, e, i+wire.MapHeader)
	default:
		i = r.list(t, e, i+wire.ListHeader)
	}
	m.ix.SetEnd(e, r.at(i))
	return i
}

// list gives the elements of the list or set of entry e their new positions. The first is at index
// i. It returns the index after the last.
func (r *rewriter) list(t *schema.Type, e uint32, i int) int {
	m := r.m
	l := m.ix.List(e)
	n := l.Count()
	m.ix.SetStart(e, r.base+uint32(i))
	if t.Elem().Kind() == schema.Fixed {
		return i + int(n)*int(t.Elem().Size())
	}
	if gap := m.editOf(e).gap; gap > 0 {
		m.moveSlots(e, gap, n)
	}
	for k := range n {
		if t.Elem().Kind() == schema.Record {
			i = r.structure(t.Elem().Struct(), m.structEntry(e, k), i)
			continue
		}
		var word index.Word
		word, i = r.element(t.Elem(), l.Word(k), i)
		l.SetWord(k, word)
	}
	return i
}

// moveSlots moves the n slots of a list back by gap words, which are free, to where the room
// for them begins.
func (m *Message) moveSlots(e, gap, n uint32) {
	l := m.ix.List(e)
	at := l.Slots()
	m.ix.MoveWords(at-gap, at, n)
	l.SetSlots(at-gap, l.Room()+index.Room(gap))
	m.edit(e).gap = 0
}

// dict gives the keys and values of the map of entry e their new positions. The first key is at
// index i. It returns the index after the last value. It removes the slots of deleted pairs,
// unless pairs keep their numbers.
func (r *rewriter) dict(t *schema.Type, e uint32, i int) int {
	m := r.m
	m.ix.SetStart(e, r.base+uint32(i))
	l := m.ix.List(e)
	n, to, deleted := l.Count(), uint32(0), uint32(0)
	for k := range n {
		key, value := l.Pair(k).Key(), l.Pair(k).Value()
		if key == 0 {
			deleted++
			if r.inPlace {
				l.ClearPairs(k, k+1)
				to++
			}
			continue
		}
		key, i = r.element(t.Key(), key, i)
		value, i = r.element(t.Elem(), value, i)
		l.Pair(to).Set(key, value)
		l.Pair(to).SetNode(0)
		to++
	}
	switch {
	case deleted == 0:
	case r.inPlace:
		r.holes = append(r.holes, hole{e, deleted})
	default:
		l.ClearPairs(to, n)
		l.SetCount(n - deleted)
		m.keys.Drop(e)
	}
	return i
}

// noteDead notes that the struct or container of type t with this word is about to be replaced or
// removed. It does nothing if there is none, or it has not been indexed.
func (m *Message) noteDead(t *schema.Type, word index.Word) {
	if word != 0 && !word.IsLazy() {
		if debugging {
			m.noteRemoved(t, word.Entry())
		}
		m.ownSeldom()
		m.dead.values = append(m.dead.values, deadValue{t: t, e: word.Entry()})
		m.ix.More = true
	}
}

// noteDeadField notes that the value of field f of the struct of entry e, if that is a struct or
// container, is about to be replaced or removed.
func (m *Message) noteDeadField(e uint32, f schema.Ref) {
	switch word := m.ix.At(e, f); {
	case word == 0 || word.IsLazy():
	case f.Wire() == wire.Struct:
		if debugging {
			m.noteRemovedField(word.Entry())
		}
		m.ownSeldom()
		m.dead.fields = append(m.dead.fields, deadField{e, f.Word(), word.Entry()})
		m.ix.More = true
	default:
		m.noteDead(m.ix.List(word.Entry()).Type(), word)
	}
}

// deadIn notes that elements of a list are about to be removed. Structs whose entries follow one
// another take one note.
type deadIn struct {
	m       *Message
	t       *schema.Type // of elements
	e, room uint32       // the list's entry, and its BlockRoom
	size    uint32       // words of an element's entry
	next    uint32       // the entry that the last note can have, too; 0 if none
}

// noteDeadIn returns a deadIn for the list of entry e, whose elements have type t.
func (m *Message) noteDeadIn(e uint32, t *schema.Type) deadIn {
	d := deadIn{m: m, t: t, e: e}
	if t.Kind() == schema.Record {
		m.ownSeldom()
		m.ix.More = true
		d.room, d.size = m.ix.BlockRoom(e), uint32(t.Struct().Words())
	}
	return d
}

// add notes that the element with this word is about to be removed.
func (d *deadIn) add(word index.Word) {
	m := d.m
	switch kind := d.t.Kind(); {
	case kind < schema.Record:
		return
	case kind > schema.Record:
		m.noteDead(d.t, word)
		return
	}
	x := word.Entry()
	if debugging {
		m.noteRemoved(d.t, x)
	}
	v := deadValue{t: d.t, e: x, inBlock: inBlock(d.e, x, d.room)}
	if n := len(m.dead.values); x == d.next {
		if last := &m.dead.values[n-1]; last.inBlock == v.inBlock && last.more < math.MaxUint16 {
			last.more++
			d.next += d.size
			return
		}
	}
	m.dead.values = append(m.dead.values, v)
	d.next = x + d.size
}

// inBlock reports whether x, the entry of an element, is in the block of the list of entry e,
// whose BlockRoom is room.
func inBlock(e, x, room uint32) bool { return x > e && x < e+room }

// reclaim frees the entries of all values that were noted as dead. Structs that were replaced in
// fields of live structs are the exception: reclaimFields frees those.
func (d *deadEntries) reclaim(m *Message) {
	for _, f := range d.fields {
		d.byStruct.Put(f.in, append(d.byStruct.Get(f.in), f))
	}
	for _, v := range d.values {
		d.reclaimDead(m, v)
	}
	clear(d.values)
	d.values, d.fields = d.values[:0], d.fields[:0]
}

// reclaimDead frees the entries of v.
func (d *deadEntries) reclaimDead(m *Message, v deadValue) {
	for k := range uint32(v.more) + 1 {
		e := v.e
		if k > 0 {
			e += k * uint32(v.t.Struct().Words())
		}
		if v.inBlock && m.ix.HasValue(e) {
			d.reclaimStruct(m, v.t.Struct(), e)
			m.ix.ClearWords(e, uint32(v.t.Struct().Words()))
		} else {
			d.reclaimValue(m, v.t, e)
		}
	}
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
	if !m.ix.HasValue(e) {
		return // done
	}
	var words uint32
	if t.Kind() == schema.Record {
		d.reclaimStruct(m, t.Struct(), e)
		words = uint32(t.Struct().Words())
	} else {
		words = listWords + d.reclaimElements(m, t, e)
	}
	if room := m.ix.BlockRoom(e); room > 0 {
		words = room
	}
	m.ix.FreeBlock(t, e, words)
	m.keys.Drop(e)
}

// reclaimStruct frees the entries of all values in the struct of entry e, but not its own.
func (d *deadEntries) reclaimStruct(m *Message, desc *schema.Struct, e uint32) {
	d.reclaimFields(m, desc, e)
	if slots := m.editOf(e).fieldNodes; slots != 0 {
		m.ix.FreeNodes(desc, slots)
	}
	if desc.IsUnion() {
		m.ix.FreeExtra(m.ix.Arm(e))
	}
	d.reclaimParts(m, desc.Type(), e)
	if desc.IsWide() {
		m.ix.FreeTable(m.ix.Table(e))
		m.ix.SetTable(e, 0)
	}
}

// reclaimParts frees the entries of the structs and containers in the value of type t and entry e.
func (d *deadEntries) reclaimParts(m *Message, t *schema.Type, e uint32) {
	for p := range m.parts(t, e) {
		if !p.word.IsLazy() {
			d.reclaimValue(m, p.t, p.word.Entry())
		}
	}
}

// reclaimElements frees the entries of all values in the container of entry e, and its slots,
// unless those follow the entry. It returns how many words after the entry are slots. If the
// entries of elements are in the list's block, it frees only the entries in them: the caller frees
// the block.
func (d *deadEntries) reclaimElements(m *Message, t *schema.Type, e uint32) uint32 {
	l, per, follow := m.ix.List(e), uint32(t.ElemWords()), m.slotsFollow(e)
	room := m.ix.BlockRoom(e)
	gap := m.editOf(e).gap
	if t.Kind() == schema.List && t.Elem().Kind() == schema.Record {
		n := l.Count()
		for k := range n {
			if x := m.structEntry(e, k); follow || inBlock(e, x, room) {
				d.reclaimStruct(m, t.Elem().Struct(), x)
			} else {
				d.reclaimValue(m, t.Elem(), x)
			}
		}
		if follow {
			return n * per
		}
		per = l.Room().WordsPerSlot()
	} else if d.reclaimParts(m, t, e); follow {
		return (l.Room().Len() + gap) * per
	}
	m.ix.FreeRaw(l.Slots()-gap*per, (l.Room().Len()+gap)*per)
	return 0
}

// slotsFollow reports whether the slots of a container follow its entry, e. Those of a list of
// structs are the entries of its elements, unless there is a table of them.
func (m *Message) slotsFollow(e uint32) bool {
	l := m.ix.List(e)
	return !l.Room().HasTable() && l.SlotsFollow(m.editOf(e).gap)
}

// removeDuplicates removes all duplicates from the wire, before a field is removed: if only its
// last occurrence were, the one before would count again.
func (m *Message) removeDuplicates() {
	for _, s := range m.duplicates {
		m.buf.AddReplace(s.at, s.end)
	}
	m.dropDuplicates(0)
}
