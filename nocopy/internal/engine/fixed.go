package engine

import (
	"encoding/binary"
	"math"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file has the elements of lists of fixed-size values, which lie in one piece, and sets whole
// lists of them, or of texts, from Go slices.

// SetFixedAt returns the bytes of element i, to be stored into.
func (s Struct) SetFixedAt(i, size int) []byte {
	s.checkIndex(i)
	s.Changeable()
	m, e := s.m, s.entry()
	if !m.buf.Writable(m.ix.Words[e+listStart]) {
		m.moveFixed(e, size, 0)
	}
	m.elementChanges(e, uint32(i))
	return m.buf.At(m.ix.Words[e+listStart] + uint32(i*size))[:size]
}

// GrowFixed adds n elements at the end and returns their bytes, contents undefined.
func (s Struct) GrowFixed(n, size int) []byte {
	s.Changeable()
	m, e := s.m, s.entry()
	count := int(m.ix.Words[e+listCount])
	if n > maxCount/size-count {
		panic("nocopy: too many elements")
	}
	start := m.ix.Words[e+listStart]
	if f := m.frameOf(e); f != nil {
		m.closeNested(e)
		if start+uint32(count*size) == m.buf.Tail() {
			return m.growAtTail(&m.open[len(m.open)-1], n, size)
		}
		m.closeTo(len(m.open) - 1)
	}
	if ed := m.editOf(e); int(ed.spare) < n*size || !m.buf.Writable(start) {
		room := min(int64(count+2*n+8)*int64(size), maxCount/2)
		m.moveFixed(e, size, max(int(room), n*size))
	}
	ed := m.edit(e)
	b := m.buf.At(ed.end)[:n*size]
	m.buf.ExtendContent(ed.valueNode, n*size)
	ed.end += uint32(n * size)
	ed.spare -= uint32(n * size)
	m.ix.Words[e+listCount] += uint32(n)
	wire.PutBE32(m.buf.At(m.ix.Words[e+listStart]-4), m.ix.Words[e+listCount])
	return b
}

// growAtTail adds n elements of the given size to the list of frame f, which ends at the tail, and
// returns their bytes, contents undefined.
func (m *Message) growAtTail(f *frame, n, size int) []byte {
	e := f.e
	head := uint32(f.lead) + wire.ListHeader
	from, b := m.buf.Grow(m.ix.Words[e+listStart]-head, n*size)
	m.ix.Words[e+listStart] = from + head
	m.ix.Words[e+listCount] += uint32(n)
	f.next = m.ix.Words[e+listCount]
	wire.PutBE32(b[head-4:], f.next)
	return b[len(b)-n*size:]
}

// moveFixed completes a list and copies it to memory that may be stored into, with room for
// more bytes after it.
func (m *Message) moveFixed(e uint32, size, more int) {
	m.closeEntry(e)
	count := int(m.ix.Words[e+listCount])
	start := m.ix.Words[e+listStart]
	n := wire.ListHeader + count*size
	p, b := m.buf.Place(n + more) // first: positions may run out
	ed := m.editOf(e)
	if ed.valueNode == 0 {
		ed.valueNode = m.buf.AddReplace(start-wire.ListHeader, ed.end)
	}
	copy(b, m.buf.At(start - wire.ListHeader)[:n])
	// An empty list may have been received with any type
	putTypes(schema.TypeByID(m.ix.Words[e+listType]), b)
	m.buf.SetPlaced(ed.valueNode, p, p+uint32(n))
	m.ix.Words[e+listStart] = p + wire.ListHeader
	ed.spare, ed.end = uint32(more), p+uint32(n)
	*m.edit(e) = ed
}

// addFixed adds an element with these bytes unless there is one.
func (s Struct) addFixed(b []byte) {
	if !s.ContainsKey(b) {
		copy(s.GrowFixed(1, len(b)), b)
	}
}

// newFixed sets field f to a list of n elements of the given size and returns their bytes,
// contents undefined.
func (s Struct) newFixed(f schema.Ref, d *schema.Struct, n, size int) []byte {
	m, bytes := s.m, n*size
	if m == nil || s.k != m.openHandle || d.IsUnion() || d.IsWide() || m.ix.Words[uint32(s.k)+f.Word()] != 0 {
		e, b := s.newFullList(f, d, n, 0, bytes)
		m.endFullList(e)
		return b
	}
	t := d.FieldOf(f).Type
	checkCount(t, n)
	e := m.ix.AllocFor(t, listWords)
	p, b := m.buf.Extend(wire.FieldHeader + wire.ListHeader + bytes)
	binary.BigEndian.PutUint64(b, containerHeader(f.Header(), t.Elem().Wire(), uint32(n)))
	b = b[wire.FieldHeader+wire.ListHeader:]
	p += wire.FieldHeader + wire.ListHeader
	w := (*[listWords]uint32)(m.ix.Words[e:])
	w[listStart], w[listEnd], w[listElems], w[listType] = p, p+uint32(len(b)), e+listWords, t.ID()
	w[listCount], w[listRoom] = uint32(n), uint32(n)
	m.ix.Words[uint32(s.k)+f.Word()] = e
	return b
}

// SetTexts sets field f, a list or set, to these strings. It copies strings shorter than 4 KiB and
// refers to others. Duplicates in a set are left out. d describes s.
func (s Struct) SetTexts(f schema.Ref, d *schema.Struct, v []string) {
	setTexts(s, f, d, v)
}

// SetByteSlices sets field f, a list or set, to these binaries. It copies binaries shorter than 4
// KiB and refers to others, which must not change until the message is released. Duplicates
// in a set are left out. d describes s.
func (s Struct) SetByteSlices(f schema.Ref, d *schema.Struct, v [][]byte) {
	setTexts(s, f, d, v)
}

// setTexts sets field f to a list or set of these texts.
func setTexts[T string | []byte](s Struct, f schema.Ref, d *schema.Struct, v []T) {
	size := wire.TextHeader * len(v)
	for _, x := range v {
		size += len(x)
	}
	var refer bool
	if uint(size) < chain.MaxSlabSize {
		refer = s.room(size)
	} else {
		var room textRoom
		for _, x := range v {
			room.add(len(x))
		}
		refer = s.roomFor(room)
	}
	if f.Wire() == wire.Set {
		l := s.NewChild(f, d, 0)
		for _, x := range v {
			if x := chain.StringBytes(chain.TextOf(x)); !l.ContainsKey(x) {
				q := l.end()
				l.m.setText(q, x, refer && len(x) >= ReferSize)
			}
		}
		return
	}
	m := s.m
	e, _ := s.newFullList(f, d, len(v), len(v), 0)
	if uint(size) <= chain.MaxSlabSize {
		m.buf.Reserve(size)
	}
	words := m.ix.Words[e+listWords:][:len(v)]
	for i := 0; i < len(v); i++ {
		if i += chain.AppendTexts(&m.buf, v[i:], words[i:]); i == len(v) {
			break
		}
		if x := chain.TextOf(v[i]); len(x) < ReferSize {
			words[i] = m.buf.AppendWithHead(uint64(len(x))<<32, wire.TextHeader, x)
		} else {
			m.setText(place{at: e + listWords + uint32(i)}, chain.StringBytes(x), refer)
		}
	}
	m.endFullList(e)
}

// newFullList sets field f to a list of n elements without a frame: the caller appends all of
// them at once, and then calls endFullList. It returns the list's entry, which has the given
// number of words for slots, and as many bytes after the list's header as asked for.
func (s Struct) newFullList(f schema.Ref, d *schema.Struct, n, slots, bytes int) (uint32, []byte) {
	if s.m == nil {
		panic(setterOfZero())
	}
	m, t := s.m, d.FieldOf(f).Type
	checkCount(t, n)
	e := uint32(s.k)
	if s.k != m.openHandle || m.ix.At(e, f) != 0 {
		s.openField(f, bytes)
	}
	const head = wire.FieldHeader + wire.ListHeader
	c := m.ix.AllocFor(t, listWords+slots)
	p, b := m.buf.Extend(head + bytes)
	binary.BigEndian.PutUint64(b, containerHeader(f.Header(), t.Elem().Wire(), uint32(n)))
	w := (*[listWords]uint32)(m.ix.Words[c:])
	w[listStart] = p + head
	w[listCount], w[listElems], w[listRoom], w[listType] = uint32(n), c+listWords, uint32(n), t.ID()
	m.ix.Put(e, f, c)
	if d.IsUnion() {
		s.Arm(f, d)
	}
	return c, b[head:]
}

// textRoom counts texts that are added one after the other.
type textRoom struct {
	size, short int64 // bytes of all texts, and of those shorter than ReferSize, with lengths
	long        int64 // the number of others
}

// add counts a text of n bytes.
func (r *textRoom) add(n int) {
	r.size += wire.TextHeader + int64(n)
	if n < ReferSize {
		r.short += wire.TextHeader + int64(n)
	} else {
		r.long++
	}
}

// roomFor is room for all of the texts: either all long ones are referred to, or none.
func (s Struct) roomFor(r textRoom) (refer bool) {
	s.room(int(min(r.size, math.MaxInt32)))
	const perText, firstBlocks = 2 * chain.MaxSlabSize, 8 * chain.MaxSlabSize
	// The rest of a block stays unused when the next text needs a new one: short texts take at most
	// twice their size, others four times.
	n := 4 * r.size
	segments, large := int(r.size/chain.MaxSlabSize+2*r.long), r.size-r.short >= r.long*chain.MaxSlabSize
	refer = s.m.mayRefer(segments, 0) || large && s.m.buf.RoomAfter(segments, int(r.short))
	if refer || r.long == 0 {
		n = r.size + r.short + r.long*perText
	}
	if n >= chain.MaxSlabSize {
		s.positions(int(min(n+firstBlocks, math.MaxInt32)))
	}
	return refer
}
