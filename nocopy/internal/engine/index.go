package engine

import (
	"math"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/spare"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// The words that every entry begins with, and the number of words before the words of the fields
// of a struct or union.
const (
	entryStart  = entry.Start // position of the first field header, element or pair
	entryEnd    = entry.End   // position of the STOP or after the last element; or an edit's number
	structWords = entry.StructWords
	unionWords  = entry.UnionWords
)

// maxWords bounds an index: entry numbers keep their top bit free, and on 32 bits half a GiB is
// much already.
const maxWords = min(1<<31-1, math.MaxInt>>4)

// alloc returns the first of n more words of the index, which are zero.
func (m *Message) alloc(n int) uint32 {
	e := m.words
	end := e + uint32(n)
	if uint64(e)+uint64(n) > uint64(m.zeroed) {
		m.zero(int(e) + n)
	}
	m.words = end
	return e
}

// zero makes the words before end zero that are not in use, and some more ahead of their use.
func (m *Message) zero(end int) {
	if end < 0 {
		m.buf.EndChange()
		panic(schema.PanicUndefined)
	}
	if end > len(m.idx) {
		m.growIndex(end, m.mostIndexFor(end))
	}
	m.noteGrowth()
	end = min(end+zeroAhead, len(m.idx))
	from := max(m.words, m.zeroed)
	if uint(from) > uint(end) {
		m.panicChangedAtOnce()
	}
	clear(m.idx[from:end])
	m.zeroed = uint32(end)
}

// startChange notes that a change begins, as Buffer.StartChange does, and panics if another one is
// under way.
func (m *Message) startChange() {
	if !m.buf.StartChange() {
		m.panicChangedAtOnce()
	}
}

//go:noinline
func (m *Message) panicChangedAtOnce() {
	name := "message"
	if m.desc != nil {
		name = m.desc.Name()
	}
	panic("nocopy: " + name + " was changed by several goroutines at once")
}

// zeroAhead is how many words are made zero ahead of their use.
const zeroAhead = 64

// growIndex makes the index end words long at least, and twice as long as before if that is not
// more than most. An index of more than half of most is made as long as most: so all that is
// allocated for it comes to twice the most.
//
//go:noinline
func (m *Message) growIndex(end, most int) {
	if end > maxWords {
		m.buf.EndChange()
		panic("nocopy: message with an index of more than " + strconv.Itoa(maxWords) + " words")
	}
	size := min(2*len(m.idx), most)
	if size > most/2 && most < maxWords {
		size = most
	}
	n := max(end, size, 32)
	m.resizeIndex(n, n)
}

// largeIndex is how many words an index has at least that goes to other messages on Release.
const largeIndex = 16 << 10

// indexes are the large ones that no message has.
var indexes spare.Pool[[]uint32]

// resizeIndex makes the index n words long; or longer if such a one waits in indexes, or shorter,
// but not below least. The contents of words that are not in use are undefined.
func (m *Message) resizeIndex(least, n int) {
	if n < largeIndex {
		m.setIndex(make([]uint32, n), nil)
		return
	}
	if i := indexes.Get(least, 16*n); i != nil {
		m.setIndex(i.Value, i)
		return
	}
	i := &spare.Item[[]uint32]{Value: make([]uint32, n), Size: n}
	m.setIndex(i.Value, i)
}

// setIndex replaces an index that has become too small.
func (m *Message) setIndex(idx []uint32, item *spare.Item[[]uint32]) {
	copy(idx, m.idx[:min(int(m.words), len(m.idx))])
	if item != nil {
		m.ownSeldom()
		m.large, m.more = true, true
		if m.idxItem == nil { // a large one that was too small is of no more use
			m.smallIdx = m.idx
		}
		m.idxItem = item
	}
	m.idx, m.zeroed = idx, 0
}

// dropIndex gives a large index up, and goes back to the one before it was large.
func (m *Message) dropIndex() {
	s := m.seldom
	indexes.Put(s.idxItem)
	m.idx, s.idxItem, s.smallIdx, s.idle, m.zeroed = s.smallIdx, nil, nil, 0, 0
}

// growth is how the index has grown while it was made.
type growth struct {
	words, off int  // the words in use, and the bytes that had been parsed, when it grew last
	paused     bool // it has grown a little once, to find out how fast it grows
	guessed    bool // it has grown to what it was expected to need
}

// doubling is the growth of an index that is not made all at once: it only doubles.
var doubling = growth{paused: true, guessed: true}

// knownBy is after how many bytes since it grew last it is known how fast an index grows.
const knownBy = 4 << 10

// growIndex makes the index end words long at least, when off of size bytes have been parsed. A
// large one grows to what the message needs if it goes on as it has since the index grew last:
// copying an index, and making it larger than it has to be, costs more than all else here. That is
// tried once, and only far from the limit: otherwise the index doubles.
func (p *parser) growIndex(end, off, size int) {
	m, g := p.m, &p.growth
	words, bytes := end-g.words, off-g.off
	known := g.words > 0 && bytes >= knownBy
	g.words, g.off = end, off
	if 4*uint64(len(m.idx)) < uint64(p.maxIndex) && len(m.idx) >= largeIndex {
		switch {
		case known && !g.guessed:
			g.guessed = true
			likely := uint64(end) + uint64(words)*uint64(size-off)/uint64(bytes)
			n := int(min(likely+likely/32, uint64(p.maxIndex)))
			m.resizeIndex(max(end, n-n/16), n)
			return
		case !known && !g.paused:
			g.paused = true
			m.resizeIndex(end, end+len(m.idx)/8)
			return
		}
	}
	most := int(p.maxIndex)
	if m.pending&byIndex != 0 { // p.maxIndex is for the value that is being parsed
		most = m.mostIndexFor(end)
	}
	m.growIndex(end, most)
}

// manyElements is from how many elements on it is worth foreseeing what they take.
const manyElements = 1 << 10

// foresee makes room in the index for a list or map of type t with n elements or pairs, with what
// each of them takes at least, if the index has to grow by much.
func (p *parser) foresee(t *schema.Type, n int) {
	each := t.ElemWords()
	for _, inside := range []*schema.Type{t.Key(), t.Elem()} {
		switch {
		case inside == nil || t.Kind() == schema.List && inside.Kind() == schema.Record:
		case inside.Kind() == schema.Record:
			each += inside.Struct().Words()
		case inside.Kind() > schema.Record:
			each += listWords
		}
	}
	end := uint64(p.m.words) + listWords + uint64(n)*uint64(each)
	if end > 2*uint64(len(p.m.idx)) && end <= uint64(p.maxIndex) {
		p.m.resizeIndex(int(end), int(end))
		p.growth.words = 0
	}
}
