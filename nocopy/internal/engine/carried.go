package engine

import (
	"encoding/binary"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// This file writes the index of a message's wire bytes, see package wireindex.

// appendPlain is appendWithoutIndex for a message that was not parsed with ByIndex, or a value in
// it that is valid.
func (m *Message) appendPlain(dst []byte, e uint32, t *schema.Type) ([]byte, bool) {
	has := innerIndex
	if e == m.root {
		has = carriesIndex | placedIndex
	}
	if m.pending&has == 0 || t.Kind() != schema.Record {
		return dst, false
	}
	all := m.rangeOf(e, t).AppendTo(dst)
	kept, fields := all[:len(dst)], all[len(dst):]
	for f := range parse.Fields(fields) { // those that are kept move to the front
		if int16(f.Header) != entry.IndexID {
			kept = append(kept, fields[f.From:f.End]...)
		}
	}
	return append(kept, byte(wire.Stop)), true
}

// The least size of a value with an entry, in bytes: in the root, and elsewhere. Smaller values
// are passed over quickly.
const (
	leastInRoot = 64
	leastInside = 1 << 10
)

// The elements of a list for each anchor: as many as are parsed quickly. There are fewer if they
// are large, and more if the anchors would take much room.
const (
	usualStride  = 4       // log₂
	leastBetween = 512     // bytes between two anchors
	mostBetween  = 8 << 10 // where they are from several elements
)

// wirePiece is a piece of the message: the positions [from, to), and the offset of the first.
type wirePiece struct{ from, to, offset uint32 }

// indexWriter makes the index of a message that has no nodes.
type indexWriter struct {
	m      *Message
	size   int // of the message without the index
	total  uint32
	pieces []wirePiece
	last   int    // the piece that a position was in last
	b      []byte // the entries
	n      int
	after  []byte // the anchors
	most   int    // bytes of entries and anchors
	least  int    // bytes of a value with an entry, in the root
	inside int    // likewise, elsewhere
	stride uint8  // usual log₂ of the elements for each anchor
	full   bool   // there would be more than most bytes
	lost   bool   // a position was in no piece
}

var indexWriters = sync.Pool{New: func() any { return new(indexWriter) }}

// write appends the index to w.b. It leaves out small values until what it writes is 1/80 of the
// message at most; below 20 KB, 1/40.
func (w *indexWriter) write() {
	w.least, w.inside, w.stride = leastInRoot, leastInside, usualStride
	if w.most = w.size / 80; w.size < 20<<10 {
		w.most = w.size / 40
	}
	w.most -= wire.FieldHeader + wire.TextHeader + wireindex.TrailerBytes
	if w.size >= 256<<10 {
		w.inside = 4 * leastInside
	}
	if w.m.flags&AnySize != 0 {
		w.least, w.inside, w.stride, w.most = 1, 8, 1, w.size+1<<20
	}
	for {
		w.b, w.after, w.n, w.full = w.b[:0], w.after[:0], 0, false
		w.walk(w.m.desc, w.m.root)
		if !w.full || w.lost {
			break
		}
		w.least, w.inside = 4*w.least, 4*w.inside
	}
	for i := range w.n {
		if e := w.b[i*wireindex.EntryBytes:][:wireindex.EntryBytes]; wireindex.Number(e[wireindex.EntryAnchorsAt:]) != 0 {
			wireindex.PutNumber(e[wireindex.EntryAnchorsAt:], wireindex.Number(e[wireindex.EntryAnchorsAt:])-1+uint32(w.n*wireindex.EntryBytes))
		}
	}
	w.b = append(w.b, w.after...)
	size := len(w.b) + wireindex.TrailerBytes
	w.b = wireindex.AppendNumber(w.b, uint32(w.n))
	w.b = wireindex.AppendNumber(w.b, uint32(w.size+wire.FieldHeader+wire.TextHeader+size))
	w.b = wireindex.AppendNumber(w.b, uint32(size))
	w.b = wireindex.AppendNumber(w.b, wireindex.Version)
	w.b = append(w.b, wireindex.Magic...)
}

// offset returns the offset of a position.
func (w *indexWriter) offset(p uint32) int {
	if q := &w.pieces[w.last]; p-q.from < q.to-q.from {
		return int(q.offset + p - q.from)
	}
	end := -1
	for range w.pieces {
		if w.last++; w.last == len(w.pieces) {
			w.last = 0
		}
		q := &w.pieces[w.last]
		if p-q.from < q.to-q.from {
			return int(q.offset + p - q.from)
		}
		if p == q.to { // a value that begins there continues in another piece
			end = int(q.offset + p - q.from)
		}
	}
	w.lost = w.lost || end < 0
	return max(end, 0)
}

// visit writes the entry of a value in a field, if it is large. It reports whether there may be
// values in it that need one.
func (w *indexWriter) visit(f *schema.Field, e uint32, at, end int, root bool) bool {
	least := w.inside
	if root && !f.FixedList() { // such a list is passed over in one step, but on a page of its own
		least = w.least
	}
	if w.full || w.lost || end-at < least {
		return false
	}
	if len(w.b)+len(w.after)+wireindex.EntryBytes > w.most {
		w.full = true
		return false
	}
	stride, anchors := w.list(f.Type, e, at, end)
	w.b = wireindex.AppendNumber(w.b, uint32(at))
	w.b = wireindex.AppendNumber(w.b, uint32(end))
	w.b = binary.BigEndian.AppendUint64(w.b, f.InEntry()|uint64(stride)<<32)
	w.b = wireindex.AppendNumber(w.b, anchors)
	w.n++
	return end-at > w.inside
}

// list writes the anchors of a list, if it is a long one. It returns its stride, and one more than
// the offset of the first among the anchors, 0 if there are none.
func (w *indexWriter) list(t *schema.Type, e uint32, at, end int) (stride uint8, anchors uint32) {
	if t.Kind() != schema.List || t.Elem().Kind() == schema.Fixed {
		return 0, 0
	}
	n, size := int(w.m.ix.List(e).Count()), end-at
	for stride = w.stride; stride > 0 && n>>stride < size/mostBetween; stride-- {
	}
	for stride < wireindex.MaxStride && n>>stride > size/leastBetween {
		stride++
	}
	if n <= 1<<stride {
		return 0, 0
	}
	anchors = uint32(len(w.after)) + 1
	if len(w.b)+wireindex.EntryBytes+len(w.after)+(n-1)>>stride*wireindex.AnchorBytes > w.most {
		w.full = true
		return 0, 0
	}
	for i := 1 << stride; i < n; i += 1 << stride {
		w.after = wireindex.AppendNumber(w.after, uint32(w.offset(w.m.elementAt(e, t.Elem(), uint32(i)))))
	}
	return stride, anchors
}

// elementAt returns the position of element i of a list in a message without nodes.
func (m *Message) elementAt(e uint32, t *schema.Type, i uint32) uint32 {
	word := m.elementWord(e, t, i)
	if t.Kind() < schema.Record {
		return uint32(word)
	}
	at, _ := m.extent(word.Entry(), t)
	return at
}

// openByIndex opens the message b, which is at position base, by its own index. It reports whether
// it could; if not, m is as it was before.
func (m *Message) openByIndex(b []byte, base uint32) bool {
	if m.landRoot(b, base) {
		return true
	}
	m.pending = 0
	if m.landing != nil {
		m.landing.reset()
	}
	m.unindex()
	m.ix.Zeroed = 0
	return false
}

// walk visits the structs, lists, sets and maps in the fields of the struct of entry e, in the
// order of the wire bytes, and those in them. It does not look into maps, unions and lists of
// lists.
func (w *indexWriter) walk(d *schema.Struct, e uint32) {
	type place struct {
		f  *schema.Field
		e  uint32
		at int
	}
	m := w.m
	var few [16]place
	all := few[:0]
	for i := m.ix.Next(d, e, 0); i < len(d.Fields()); i = m.ix.Next(d, e, i+1) {
		f := &d.Fields()[i]
		word := m.ix.At(e, f.Ref())
		if word == 0 || f.Kind() < schema.Record {
			continue
		}
		from, _ := m.extent(word.Entry(), f.Type)
		p := place{f, word.Entry(), w.offset(from)}
		k := len(all)
		for all = append(all, p); k > 0 && all[k-1].at > p.at; k-- {
			all[k] = all[k-1]
		}
		all[k] = p
	}
	for _, p := range all {
		_, to := m.extent(p.e, p.f.Type)
		if !w.visit(p.f, p.e, p.at, w.offset(to-1)+1, e == m.root) {
			continue
		}
		switch t := p.f.Type; {
		case t.Kind() == schema.Record && !t.Struct().IsUnion():
			w.walk(t.Struct(), p.e)
		case t.Kind() == schema.List && t.Elem().Kind() == schema.Record && !program.IsFlat(t.Elem().Struct()) && !t.Elem().Struct().IsUnion():
			w.elements(t.Elem(), p.e)
		}
	}
}

// elements visits the values in the elements, structs of type t, of the list of entry e.
func (w *indexWriter) elements(t *schema.Type, e uint32) {
	m, inside := w.m, uint32(w.inside)
	for i := range m.ix.List(e).Count() {
		x := m.structEntry(e, i)
		if end := m.ix.EndOf(x); !end.IsEdit() && uint32(end)-m.ix.StartOf(x) < inside {
			continue // most are small, which mostly shows by their positions
		}
		from, to := m.extent(x, t)
		if !w.full && !w.lost && w.offset(to-1)+1-w.offset(from) > w.inside {
			w.walk(t.Struct(), x)
		}
	}
}
