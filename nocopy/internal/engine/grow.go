package engine

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// owner is a message as its index knows it.
type owner Message

// EndChange implements index.Owner.
func (m *owner) EndChange() { m.buf.EndChange() }

// PanicChangedAtOnce implements index.Owner.
func (m *owner) PanicChangedAtOnce() { (*Message)(m).panicChangedAtOnce() }

// MostWords implements index.Owner. If the message is read by its own index, its index may have
// twice as many words as the limit, where so many are enough.
func (m *owner) MostWords(n int) int {
	if m.pending&byIndex != 0 && n <= int(m.landing.mostIndex) {
		return int(m.landing.mostIndex)
	}
	return index.MaxWords
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
	if 4*uint64(len(m.ix.Words)) < uint64(p.maxIndex) && len(m.ix.Words) >= index.LargeIndex {
		switch {
		case known && !g.guessed:
			g.guessed = true
			likely := uint64(end) + uint64(words)*uint64(size-off)/uint64(bytes)
			n := int(min(likely+likely/32, uint64(p.maxIndex)))
			m.ix.Resize(max(end, n-n/16), n)
			return
		case !known && !g.paused:
			g.paused = true
			m.ix.Resize(end, end+len(m.ix.Words)/8)
			return
		}
	}
	most := int(p.maxIndex)
	if m.pending&byIndex != 0 { // p.maxIndex is for the value that is being parsed
		most = (*owner)(m).MostWords(end)
	}
	m.ix.Grow(end, most)
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
	end := uint64(p.m.ix.Used) + listWords + uint64(n)*uint64(each)
	if end > 2*uint64(len(p.m.ix.Words)) && end <= uint64(p.maxIndex) {
		p.m.ix.Resize(int(end), int(end))
		p.growth.words = 0
	}
}
