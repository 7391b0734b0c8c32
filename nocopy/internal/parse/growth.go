package parse

import (
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Growth is how the index has grown while it was made.
type Growth struct {
	words, off int  // the words in use, and the bytes that had been parsed, when it grew last
	paused     bool // it has grown a little once, to find out how fast it grows
	guessed    bool // it has grown to what it was expected to need
}

// doubling is the growth of an index that is not made all at once: it only doubles.
var doubling = Growth{paused: true, guessed: true}

// knownBy is after how many bytes since it grew last it is known how fast an index grows.
const knownBy = 4 << 10

// growIndex makes the index end words long at least, when off of size bytes have been parsed. A
// large one grows to what the message needs if it goes on as it has since the index grew last:
// copying an index, and making it larger than it has to be, costs more than all else here. That is
// tried once, and only far from the limit: otherwise the index doubles.
func (p *Parser) growIndex(end, off, size int) {
	x, g := p.x, &p.Growth
	limit := max(p.MaxWords, index.Limit(p.MaxIndex, size)) // with Lazy MaxWords is not all
	words, bytes := end-g.words, off-g.off
	known := g.words > 0 && bytes >= knownBy
	g.words, g.off = end, off
	if 4*uint64(len(x.Words)) < uint64(limit) && len(x.Words) >= index.LargeIndex {
		switch {
		case known && !g.guessed:
			g.guessed = true
			likely := uint64(end) + uint64(words)*uint64(size-off)/uint64(bytes)
			n := int(min(likely+likely/32, uint64(limit)))
			x.Resize(max(end, n-n/16), n)
			return
		case !known && !g.paused:
			g.paused = true
			x.Resize(end, end+len(x.Words)/8)
			return
		}
	}
	most := int(limit) // perhaps only for the value that is being parsed
	if whole := x.Owner().MostWords(end); whole < index.MaxWords {
		most = whole
	}
	x.Grow(end, most)
}

// manyElements is from how many elements on it is worth foreseeing what they take.
const manyElements = 1 << 10

// foresee makes room in the index for a list or map of type t with n elements or pairs, with what
// each of them takes at least, if the index has to grow by much.
func (p *Parser) foresee(t *schema.Type, n int) {
	each := t.ElemWords()
	for _, inside := range []*schema.Type{t.Key(), t.Elem()} {
		switch {
		case inside == nil || t.Kind() == schema.List && inside.Kind() == schema.Record:
		case inside.Kind() == schema.Record:
			each += inside.Struct().Words()
		case inside.Kind() > schema.Record:
			each += entry.ListWords
		}
	}
	end := uint64(p.x.Used) + entry.ListWords + uint64(n)*uint64(each)
	if end > 2*uint64(len(p.x.Words)) && end <= uint64(p.MaxWords) {
		p.x.Resize(int(end), int(end))
		p.Growth.words = 0
	}
}
