package engine

import (
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Compact rewrites the message into one piece of memory, without the values that were replaced or
// removed.
func (m *Message) Compact() {
	m.mustBeFilled()
	if m.frozen {
		panic(panicAbsent)
	}
	m.closeAll()
	if m.pending != 0 || len(m.handouts) > 0 || !m.buf.InOneBlock() {
		m.compact()
	}
	if m.buf.InOneBlock() {
		m.buf.Trim()
	}
}

// compactIfWorth compacts the message if enough of it is dead. If not, it does not look again
// until the message has grown much.
func (m *Message) compactIfWorth() {
	d := &m.dead
	switch {
	case d.everyChange:
	case m.ix.Full:
		if m.ix.NoteLooked(); d.isEmpty() || m.manyHandouts() {
			return
		}
	case !m.buf.Waste() || m.manyHandouts() && !m.buf.Short():
		return
	}
	m.compact()
}

// handout is memory that NewBytes returned for a binary field, to be filled by the program. e is
// the entry of the struct, word the word that the field had then. When the field has another word,
// the memory is no longer the field's.
type handout struct {
	e     uint32
	field schema.Ref
	word  uint32
	mem   []byte
}

// fewHandouts is the most handouts that stay where they are when the message is compacted: each of
// them takes positions.
const fewHandouts = 16

// manyHandouts forgets handouts that are no longer in the message, and reports whether more
// than fewHandouts are left.
func (m *Message) manyHandouts() bool {
	if len(m.handouts) == 0 {
		return false
	}
	m.handouts = slices.DeleteFunc(m.handouts, func(h handout) bool { return m.ix.At(h.e, h.field) != h.word })
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
	visit := func(t *schema.Type, word uint32) {
		if t.Kind() >= schema.Record && word != 0 && word&index.NotIndexed == 0 {
			m.eachStruct(t, word, f)
		}
	}
	switch {
	case t.Kind() == schema.Record:
		f(e)
		d := t.Struct()
		for i := m.ix.Next(d, e, 0); i < len(d.Fields()); i = m.ix.Next(d, e, i+1) {
			visit(d.Fields()[i].Type, m.ix.At(e, d.Fields()[i].Ref()))
		}
	case t.Kind() == schema.Dict:
		for i := range m.ix.Words[e+listCount] {
			if slot := m.ix.Words[e+listElems] + i*pairWords; m.ix.Words[slot] != 0 {
				visit(t.Key(), m.ix.Words[slot])
				visit(t.Elem(), m.ix.Words[slot+pairValue])
			}
		}
	case t.Elem().Kind() >= schema.Record:
		for i := range m.ix.Words[e+listCount] {
			visit(t.Elem(), m.elementEntry(e, t.Elem(), i))
		}
	}
}

// keepHandouts replaces the binaries that compacting has copied from handouts by the handouts,
// which may still be filled. If there are more than fewHandouts, it forgets them all.
func (m *Message) keepHandouts() {
	m.handouts = slices.DeleteFunc(m.handouts, func(h handout) bool {
		return m.ix.At(h.e, h.field) == 0 // its struct is no longer in the message
	})
	if len(m.handouts) > fewHandouts {
		m.dropHandouts()
	}
	for i := range m.handouts {
		h := &m.handouts[i]
		h.word = m.replaceTextByRef(m.ix.At(h.e, h.field), h.mem)
		m.ix.Put(h.e, h.field, h.word)
	}
}

// dropHandouts forgets all handouts.
func (m *Message) dropHandouts() {
	clear(m.handouts)
	if m.handouts = m.handouts[:0]; cap(m.handouts) > keepHandedOut {
		m.handouts = nil
	}
}

// keepHandedOut is the most handouts for which memory is kept for the next message.
const keepHandedOut = 4 << 10

// compact does the work of Compact. The message must be alive and not frozen.
func (m *Message) compact() {
	if m.pending != 0 {
		m.settle()
	}
	m.closeAll()
	m.ownSeldom()
	m.manyHandouts()
	m.listFill.handle = 0
	m.keys.DropFilter() // another map may get the entry of the map that it is for
	m.keys.Views().Invalidate()
	for _, s := range m.shadows.all { // only the last occurrence of each field is kept
		m.buf.AddReplace(s.at, s.end)
	}
	m.shadows = shadows{all: m.shadows.all[:0]}
	d := &m.dead
	var onReuse func(e, words uint32)
	if debugging {
		onReuse = m.noteReused
	}
	m.ix.Reuse(onReuse)
	d.reclaim(m)
	r := rewriter{m: m, inPlace: m.keys.Iterations.Load() > 0}
	r.base, r.b = m.buf.Compact()
	r.structure(m.desc, m.root, 0)
	m.edits, m.liveSets = m.edits[:1], nil
	for _, h := range r.holes {
		m.edit(h.e).dead = h.n
	}
	m.ix.NoteCompacted()
	m.ix.Full = d.everyChange
	d.byStruct.Clear()
	m.keepHandouts()
	m.guarded = true // handles of removed values must be found out
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

// hole tells that the map of entry e has slots for n pairs that were deleted.
type hole struct{ e, n uint32 }

// structure gives the struct of entry e, which is at index i of the bytes, and all in it their
// new positions. It returns the index after it.
func (r *rewriter) structure(d *schema.Struct, e uint32, i int) int {
	m := r.m
	if slots := m.editOf(e).fieldNodes; slots != 0 {
		m.ix.FreeNodes(d, slots)
	}
	m.dead.reclaimFields(m, d, e)
	m.ix.Words[e+entry.Start] = r.base + uint32(i)
	var u extraFields
	if d.IsUnion() {
		u.begin(m, e)
	}
	for {
		key := wire.HeaderIn(wire.LoadHeader(r.b, i))
		t, at := wire.Type(key>>16), i+wire.FieldHeader
		if t == wire.Stop {
			break
		}
		f := d.Find(key)
		if f != nil && parse.Fits(r.b, f.Type, at) {
			if word := m.ix.At(e, f.Ref()); word != 0 {
				word, i = r.element(f.Type, word, at)
				m.ix.Put(e, f.Ref(), word)
				continue
			}
		}
		end := r.skip(t, at)
		if d.IsUnion() {
			u.add(r.base+uint32(i), r.base+uint32(end))
		}
		i = end
	}
	m.ix.Words[e+entry.End] = r.base + uint32(i)
	if d.IsUnion() {
		u.end()
	}
	return i + 1
}

// skip returns the index after the value of type t at index i.
func (r *rewriter) skip(t wire.Type, i int) int {
	end, err := parse.Skip(r.b, i, t, parse.MaxBudget, 1)
	if err != nil {
		panic("nocopy: internal error: " + err.Error())
	}
	return end
}

// element gives the element, key, or value of a field or pair, of type t, which is at index i, and
// all in it their new positions. word is the one that it had. element returns the word that it has
// now, and the index after it.
func (r *rewriter) element(t *schema.Type, word uint32, i int) (uint32, int) {
	switch {
	case t.Kind() == schema.Fixed:
		return r.base + uint32(i), i + int(t.Size())
	case t.Kind() == schema.Text:
		return r.base + uint32(i), i + wire.TextHeader + int(wire.BE32(r.b[i:]))
	case word&index.NotIndexed != 0:
		return index.NotIndexed | r.base + uint32(i), r.skip(t.Wire(), i)
	}
	return word, r.value(t, word, i)
}

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
	m.ix.Words[e+listEnd] = r.base + uint32(i)
	return i
}

// list gives the elements of the list or set of entry e their new positions. The first is at index
// i. It returns the index after the last.
func (r *rewriter) list(t *schema.Type, e uint32, i int) int {
	m := r.m
	n := m.ix.Words[e+listCount]
	m.ix.Words[e+listStart] = r.base + uint32(i)
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
		slot := m.ix.Words[e+listElems] + k
		m.ix.Words[slot], i = r.element(t.Elem(), m.ix.Words[slot], i)
	}
	return i
}

// dict gives the keys and values of the map of entry e their new positions. The first key is at
// index i. It returns the index after the last value. It removes the slots of deleted pairs,
// unless pairs keep their numbers.
func (r *rewriter) dict(t *schema.Type, e uint32, i int) int {
	m := r.m
	m.ix.Words[e+listStart] = r.base + uint32(i)
	first, n := m.ix.Words[e+listElems], m.ix.Words[e+listCount]
	to, deleted := first, uint32(0)
	for slot := first; slot < first+n*pairWords; slot += pairWords {
		key, value := m.ix.Words[slot], m.ix.Words[slot+pairValue]
		if key == 0 {
			deleted++
			if r.inPlace {
				clear(m.ix.Words[slot : slot+pairWords])
				to += pairWords
			}
			continue
		}
		m.ix.Words[to], i = r.element(t.Key(), key, i)
		m.ix.Words[to+pairValue], i = r.element(t.Elem(), value, i)
		m.ix.Words[to+pairNode] = 0
		to += pairWords
	}
	switch {
	case deleted == 0:
	case r.inPlace:
		r.holes = append(r.holes, hole{e, deleted})
	default:
		clear(m.ix.Words[to : first+n*pairWords])
		m.ix.Words[e+listCount] = n - deleted
		m.keys.Clear(e)
	}
	return i
}

// extraFields gives new positions to the extra fields of a union, which have entries of their own
// since no word of the union stands for them: call begin, then add for each of them, then end.
type extraFields struct {
	m     *Message
	e     uint32
	which uint32
	chain uint32 // word of the next entry to use again
}

// begin starts with the union of entry e.
func (u *extraFields) begin(m *Message, e uint32) {
	*u = extraFields{m, e, m.ix.Words[m.ix.ArmWord(e)], m.ix.Words[e+entry.Arm]}
	m.ix.Words[e+entry.Arm] = u.which
}

// add takes the next entry for the extra field that is at [at, end) now.
func (u *extraFields) add(at, end uint32) {
	w := u.chain
	f := u.m.ix.Words[w&^index.HasExtra:][:index.ExtraWords]
	u.chain = f[index.ExtraNext]
	f[index.ExtraAt], f[index.ExtraEnd] = at, end
	f[index.ExtraNext], f[index.ExtraArm] = u.m.ix.Words[u.e+entry.Arm], u.which
	u.m.ix.Words[u.e+entry.Arm] = w
}

// end frees the entries that were not used again.
func (u *extraFields) end() { u.m.ix.FreeExtra(u.chain) }
