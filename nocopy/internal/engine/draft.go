package engine

import (
	"slices"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Draft is the destination of whole structs that package plain writes: a new message, the
// fields of a struct, or a list of structs. Their bytes are written first, in the free memory at
// the tail or in a block of their own, without a change of the message. Then they are indexed like
// bytes that were received, and become part of the message at last.
//
// New, Into or List begins it and returns memory, from whose first byte on the caller writes. Grow
// makes that larger. Root, Done or EndList ends it. A caller that gives up calls Drop.
type Draft struct {
	m        *Message
	mem      memory.Draft
	lead     int            // how many bytes mem has room for before those that are written
	referred *referredTexts // nil if there are none

	// The value to set: the struct s, which d describes, or the list in its field f
	s Struct
	f schema.Ref
	d *schema.Struct
}

// referredTexts are the texts that a message will refer to, in the order of their positions. The
// length on the wire has the sign until they are indexed: parsing stops there.
type referredTexts struct {
	all      []referredText
	segments int // how many segments they will take
	next     int // the one that the parser comes to next
	node     chain.NodeID
	buf      *chain.Buffer // of the message
}

// referredText is a text and where its length is.
type referredText struct {
	at   uint32
	text string
}

// referredMark is the sign of the length of a text.
const referredMark = 1 << 31 // of bytes, not of a word of the index

// keepReferred bounds the texts for which memory is kept for the next draft.
const keepReferred = 1 << 10

var referredPool = sync.Pool{New: func() any { return new(referredTexts) }}

// New begins a message that is a struct of type d.
func (x *Draft) New(d *schema.Struct, opts ...Option) []byte {
	program.Of(d)
	flags := flagsOf(opts) & forBuilding // as building does, without a call
	m := fromPool(builtHome + pool(flags))
	m.flags = flags
	m.buf.Begin(flags&Recycle != 0, headroom)
	if flags&limited != 0 {
		_, limits := ConfigOf(opts)
		m.limit(limits)
	}
	x.m, x.d, x.lead = m, d, 0
	return m.buf.FreeTail()
}

// Root makes the first n bytes the message, and returns its root.
func (x *Draft) Root(n int) Struct {
	m, d := x.m, x.d
	p, b := m.buf.Ahead(&x.mem, n)
	m.desc, m.root = d, index.First
	m.ix.Used = index.First + uint32(d.Words())
	if m.ix.Used > uint32(len(m.ix.Words)) {
		m.ix.Grow(2*int(m.ix.Used), index.MaxWords)
	}
	m.ix.SetStart(index.First, p)
	x.index(program.Of(d).Start, index.First, p, b, 0)
	x.append(p, n)
	m.buf.Close()
	x.m = nil // so that a second call can't end the message again
	return m.handle(index.First)
}

// index runs the program at pc for the entry e, over the bytes b, which are at position p, from
// byte lead on.
func (x *Draft) index(pc, e, p uint32, b []byte, lead int) {
	parse.Written(&x.m.ix, pc, e, p, b, lead, x.referred)
}

// append appends the n bytes at position p, which have been indexed.
func (x *Draft) append(p uint32, n int) {
	x.m.buf.Advance(n)
	if x.referred != nil {
		x.referTexts(p)
	}
}

func (x *Draft) referTexts(p uint32) {
	for _, l := range x.referred.all {
		x.m.referText(p+l.at, memory.StringBytes(l.text))
	}
	x.dropReferred()
}

func (x *Draft) dropReferred() {
	l := x.referred
	clear(l.all)
	*l = referredTexts{all: l.all[:0]}
	if cap(l.all) <= keepReferred {
		referredPool.Put(l)
	}
	x.referred = nil
}

// Drop gives up memory that has not become part of a message.
func (x *Draft) Drop() {
	x.mem.Drop()
	if x.referred != nil {
		x.dropReferred()
	}
}

// Grow returns larger memory with the first n bytes of b: for size bytes, or for least if the
// message has no room for as many.
func (x *Draft) Grow(b []byte, n, least, size int) []byte {
	if !x.hasRoom(size) {
		size = least
	}
	if !x.hasRoom(size) {
		x.Drop()
		panic(panicFull)
	}
	old := x.mem
	x.mem = x.m.buf.NewDraft(x.lead + size)
	mem := x.mem.Mem()[x.lead:]
	copy(mem, b[:n])
	old.Drop()
	return mem
}

// hasRoom reports whether the message has room for n bytes, besides the texts that it refers to.
func (x *Draft) hasRoom(n int) bool {
	segments := 0
	if x.referred != nil {
		segments = x.referred.segments
	}
	return n >= 0 && int64(n) <= 2*chain.MaxSize && x.m.buf.RoomAfter(segments, n)
}

// Refer makes the message refer to a text of ReferSize bytes or more, and reports whether it can.
// The text's length is in b[at:]; its contents are not written then.
func (x *Draft) Refer(b []byte, at int, text string) bool {
	l := x.referred
	if l == nil {
		l = referredPool.Get().(*referredTexts)
		l.buf = &x.m.buf
		x.referred = l
	}
	if !x.m.mayRefer(l.segments, len(text)) {
		return false
	}
	l.segments += memory.Segments(len(text))
	l.all = append(l.all, referredText{uint32(at), text})
	b[at] |= referredMark >> 24
	return true
}

// Into begins to write the fields of s, a struct that d describes, in place of its old ones.
func (x *Draft) Into(s Struct, d *schema.Struct) []byte {
	if s.m == nil {
		panic(setterOfZero())
	}
	x.s = s
	if !s.isNew(d) {
		s.Changeable()
		b := x.New(d)
		x.m.untrack()
		return b
	}
	x.m, x.d, x.lead = s.m, d, int(s.m.open[len(s.m.open)-1].lead)
	return s.m.buf.FreeTail()
}

const panicChanged = "nocopy: struct was changed while all of its fields were set"

// isNew reports whether nothing was set in the struct, which d describes, since it was made, but
// fields of the template.
func (s Struct) isNew(d *schema.Struct) bool {
	m, e := s.m, s.entry()
	return s.k == m.openHandle && !m.ix.Reuses && m.ix.EndOf(e) == 0 &&
		m.buf.Tail() == m.ix.StartOf(e)+uint32(len(d.Template())) && m.buf.InTail(m.ix.StartOf(e), 0)
}

// Done makes the first n bytes the fields of the struct. Other fields of it stay as they are.
func (x *Draft) Done(n int, others ...schema.Ref) {
	if x.s.m != x.m {
		x.assign(n, others)
		return
	}
	m, e := x.m, x.s.entry()
	if !x.s.isNew(x.d) {
		panic(panicChanged)
	}
	if debugging {
		m.noteAllSet(e)
	}
	lead, template := 0, len(x.d.Template())
	if x.mem.Zero() {
		m.buf.Retract(template, n)
	} else { // a field's header stays next to its value
		lead = x.lead
		if size := len(x.mem.Mem()); !x.hasRoom(max(size, lead+n) + memory.MaxSlabSize) {
			x.Drop()
			panic(panicFull)
		}
		copy(x.mem.Mem()[:lead], m.buf.At(m.ix.StartOf(e)-uint32(lead)))
		m.buf.Retract(lead+template, 0)
	}
	p, b := m.buf.Ahead(&x.mem, lead+n)
	m.buf.Advance(lead)
	p, b = p+uint32(lead), b[lead:]
	m.ix.SetStart(e, p)
	x.index(program.Of(x.d).Start, e, p, b, 0)
	x.append(p, n)
	m.open = m.open[:len(m.open)-1]
	if len(m.open) == 0 {
		m.buf.Close()
	}
	m.setOpenHandle()
}

// Begin implements parse.ReferredTexts. There may be no texts, and then l is nil.
func (l *referredTexts) Begin() {
	if l != nil {
		l.next, l.node = 0, chain.NodeID(l.buf.NodeCount()+1)
	}
}

// Word implements parse.ReferredTexts.
func (l *referredTexts) Word(b []byte) uint32 {
	b[0] &^= referredMark >> 24
	word := uint32(index.InNode(l.node + uint32(l.next))) // the node that append makes
	l.next++
	return word
}

// assign gives the struct s the fields, but others, that were written for a message of their own.
func (x *Draft) assign(n int, others []schema.Ref) {
	from, s, d := x.Root(n), x.s, x.d
	for i := range d.Fields() {
		switch f := d.Field(i); {
		case slices.Contains(others, f):
		case from.HasField(f):
			s.SetValue(f, d, from.Value(f, d))
		case s.HasField(f):
			s.UnsetValue(f, d)
		}
	}
	from.Release()
}

// List begins field f of s, a list of n structs. d describes s. With apart the bytes are written
// elsewhere: the message may be used before EndList.
func (x *Draft) List(s Struct, f schema.Ref, d *schema.Struct, n int, apart bool) []byte {
	if s.m == nil {
		panic(setterOfZero())
	}
	m, t := s.m, d.FieldOf(f).Type
	checkCount(t, n)
	slotWords(t, n) // which panics if they are too many for an index
	inTail := !apart && s.k == m.openHandle && m.ix.At(s.entry(), f) == 0
	if !inTail {
		s.Changeable()
	}
	x.m, x.s, x.f, x.d, x.lead = m, s, f, d, 0
	if inTail {
		return m.buf.FreeTail()
	}
	x.mem = m.buf.NewDraft(0)
	return x.mem.Mem()
}

// EndList makes the first n bytes, with the field's header, the list.
func (x *Draft) EndList(n int) {
	s, f, d := x.s, x.f, x.d
	if x.mem.Zero() {
		s.alive()
	} else {
		s.room(n)
	}
	m, e, t := s.m, s.entry(), d.FieldOf(f).Type
	if x.referred != nil && !m.buf.RoomAfter(x.referred.segments, n+memory.MaxSlabSize) {
		x.Drop()
		panic(panicFull)
	}
	if s.k != m.openHandle || m.ix.At(e, f) != 0 {
		s.openField(f, n)
	}
	p, b := m.buf.Ahead(&x.mem, n)
	var list uint32
	if m.ix.Reuses { // entries are used again
		pr := m.beginTrusted(0)
		pr.B, pr.Base, pr.Growth, pr.Referred = b, p, parse.Growth{}, x.referred
		x.referred.Begin()
		var i int
		i, list = pr.Value(t, 0, wire.FieldHeader)
		m.p.EndTrusted(i)
	} else {
		before := m.ix.BeginValue()
		x.index(program.OfValue(t), 0, p, b, wire.FieldHeader)
		list = m.ix.EndValue(before)
	}
	x.append(p, n)
	m.ix.Put(e, f, index.Word(list))
	if d.IsUnion() {
		s.Arm(f, d)
	}
	if len(m.open) == 0 {
		m.buf.Close()
	}
}
