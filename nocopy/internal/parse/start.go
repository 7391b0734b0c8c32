package parse

import (
	"math/bits"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Most messages are one []byte, have no options but Own, Recycle and Lazy, and are as their type's
// program foresees. They need no parser, but only the loop. Its levels are on the stack.

// Root makes the bytes b the message in buf, which is empty, and indexes them in x: a struct
// that d describes, whose type must have programs. It has these options. If that was all there is
// to do, Root returns nil; otherwise it returns the message's parser, which is at the end. (The
// first parameters are in the order of Refer: they stay in their registers.)
func Root(buf *chain.Buffer, b []byte, recycle, own bool, x *index.Index, d *schema.Struct, lazy bool) *Parser {
	base := buf.Refer(b, recycle, own)
	words := index.First + uint32(d.Words())
	if words > uint32(len(x.Words)) {
		x.Grow(2<<bits.Len32(words), index.MaxWords)
	}
	x.Zeroed = 0
	room := uint32(min(len(x.Words), index.Floor/4)) // it may have more room
	start, cells, idx := d.Programs().Start, program.Cells(), x.Words
	var levels [parseLevels]level
	var s machine // each field is set below: the compiler need not make all of it zero first
	s.pc, s.entry, s.used, s.room = start, index.First, words, room
	s.deeper, s.head, s.left = MaxDepth-1, base+wire.FieldHeader, 0
	s.at, s.top, s.bottom, s.after = 0, 0, 0, 0
	s.set(b, idx, cells)
	s.levels, s.most = levelsOf(levels[:])
	put(entryAt(s.idx, index.First), entry.Start, base)
	var why reason
	if lazy {
		why = run[lazily](&s)
	} else {
		why = run[indexing](&s)
	}
	x.Used = s.used
	if why != finished || s.at != uint64(len(b)) {
		p := parserOf(x, b, base)
		p.End = p.resumeFirst(&s, why, 0)
		return p
	}
	return nil
}

// Written runs the program at pc for the entry e, over the bytes b, which are at position p,
// from byte lead on. The program has written them, and has texts of its own that they refer to.
func Written(x *index.Index, pc, e, p uint32, b []byte, lead int, referred ReferredTexts) {
	x.Zeroed = 0 // since the loop does not update it
	idx, cells := x.Words, program.Cells()
	var levels [parseLevels]level
	var s machine // each field is set below, see Root
	s.pc, s.entry, s.used, s.room = pc, e, x.Used, uint32(len(idx))
	s.deeper, s.head, s.left = TrustedDepth, p+wire.FieldHeader, 0
	s.at, s.top, s.bottom, s.after = uint64(lead), 0, 0, 0
	s.set(b, idx, cells)
	s.levels, s.most = levelsOf(levels[:])
	why := run[indexing](&s)
	x.Used = s.used
	if why != finished {
		parserOf(x, b, p).written(&s, why, lead, referred)
	}
}

// parserOf returns the parser of the message with index x, ready for the bytes b at position base.
func parserOf(x *index.Index, b []byte, base uint32) *Parser { return x.Owner().(Host).Parser(b, base) }

// written does the rest of Written after machine s has stopped for this reason.
func (p *Parser) written(s *machine, why reason, lead int, referred ReferredTexts) {
	p.x.NoteGrowth()
	p.Trust()
	p.Growth, p.Referred = Growth{}, referred
	referred.Begin()
	p.EndTrusted(p.resumeFirst(s, why, lead))
}

// resumeFirst is resume for a machine that has run without a parser.
func (p *Parser) resumeFirst(s *machine, why reason, lead int) int {
	for i := range s.top {
		p.levels[i] = *s.level(i)
	}
	return p.resume(s, why, lead)
}
