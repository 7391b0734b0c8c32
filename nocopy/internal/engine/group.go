package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Group parses consecutive structs of one type together, as fast as the elements of a list. Each
// of them in turn is the root of the group's message. The zero Group is empty. It must not be
// copied.
type Group struct {
	m     Message
	gen   uint64 // of m, unless the program has released it
	left  uint32 // structs that Next has not made the root yet
	entry uint32 // of the first of them
	root  uint32 // where the message begins
	next  uint32 // where the first of them begins
}

// Parse fills the group with the structs that the Bytes of in begin with, at most n, of the type
// that d describes. They are nested in depth other structs. It returns how many there are. If
// these are fewer than n, err is what is wrong with the next one, with an offset in Bytes. If they
// end inside it, that is io.ErrUnexpectedEOF. err may be nil: a struct that has what few messages
// have is parsed alone. Parse takes none of the Bytes, and the group holds their memory.
func (g *Group) Parse(d *schema.Struct, in *memory.Receiver, n, depth int, flags Flags, limits Limits) (whole int, err error) {
	g.End()
	m := expecting(&g.m, d, flags|Own, limits)
	m.root = index.First
	m.buf.Reset(flags&Recycle != 0)
	m.buf.Receive(in.Hold())
	base, b := m.buf.Whole()
	p := m.parserOf(b, base)
	whole = int(p.Prefix(d, uint32(n), depth))
	alone := false // the next struct must be parsed alone, since it takes much of the index
	if whole < n {
		alone = whole == 0 && p.Full()
		err = p.Finish(d)
	}
	p.B = nil
	// What few messages have is noted for all of the message, which is only one of the structs
	noted := whole > 0 && (m.needsBeforeChange || len(m.duplicates) > 0)
	if (noted || alone) && n > 1 || alone && flags&Lazy != 0 {
		return g.Parse(d, in, 1, depth, flags&^Lazy, limits)
	}
	m.dropParser()
	m.ix.Levelled = m.ix.Used
	g.gen, g.left, g.entry, g.root, g.next = m.gen, uint32(whole), index.First, base, base
	return whole, err
}

// Next makes the next struct the root, and returns it and its size in bytes. Handles of the struct
// before end. The size is 0 if there are no more structs, or if the program has changed or
// released the message: Parse can then parse the rest.
func (g *Group) Next() (s Struct, size int) {
	m := &g.m
	if g.left == 0 || m.gen != g.gen {
		return Struct{}, 0
	}
	from, to := g.next, uint32(m.ix.EndOf(g.entry))+1
	if !m.buf.Slide(g.root, from, to) {
		return Struct{}, 0
	}
	m.EndHandles()
	m.root, g.gen = g.entry, m.gen
	g.root, g.next, g.left, g.entry = from, to, g.left-1, g.entry+uint32(m.desc.Words())
	return m.handle(m.root), int(to - from)
}

// Left reports whether there are structs that Next has not returned.
func (g *Group) Left() bool { return g.left > 0 }

// End empties the group. Handles of its structs end.
func (g *Group) End() {
	g.m.Reset()
	g.left = 0
}
