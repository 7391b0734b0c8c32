package engine

import (
	"slices"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
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
	m     *Message
	mem   chain.Draft
	first []byte    // memory of the message, in which mem is at first
	far   *farTexts // nil if there are none

	// The value to set: the struct s, which d describes, or the list in its field f
	s Struct
	f schema.Ref
	d *schema.Struct
}

// farTexts are the texts that a message will refer to, in the order of their positions. The
// length on the wire has the sign until they are indexed: parsing stops there.
type farTexts struct {
	all      []farText
	segments int // how many segments they will take
	next     int // the one that the parser comes to next
	node     chain.NodeID
	buf      *chain.Buffer // of the message
}

// farText is a text and where its length is.
type farText struct {
	at   uint32
	text string
}

// farMark is the sign of a length.
const farMark = 1 << 31

// keepFar is the most texts for which memory waits for the next draft.
const keepFar = 1 << 10

var farPool = sync.Pool{New: func() any { return new(farTexts) }}

// New begins a message that is a struct of type d.
func (x *Draft) New(d *schema.Struct, opts ...Option) []byte {
	program.Of(d)
	flags := builtFlags(opts)
	m := fromPool(builtHome + pool(flags))
	m.flags = flags
	m.buf.Begin(flags&Recycle != 0, headroom)
	if flags&limited != 0 {
		m.limit(limitsOf(opts))
	}
	x.m, x.d = m, d
	return m.buf.FreeTail()
}

// Root makes the first n bytes the message, and returns its root.
func (x *Draft) Root(n int) Struct {
	m, d := x.m, x.d
	p, b := m.buf.Ahead(&x.mem, n, true)
	m.desc, m.root = d, index.First
	m.ix.Used = index.First + uint32(d.Words())
	if m.ix.Used > uint32(len(m.ix.Words)) {
		m.ix.Grow(2*int(m.ix.Used), index.MaxWords)
	}
	m.ix.Words[index.First+entry.Start] = p
	x.index(program.Of(d).Start, index.First, p, b, 0)
	x.append(p, n)
	m.buf.Close()
	x.m = nil // so that a second call can't end the message again
	return m.handle(index.First)
}

// index runs the program at pc for the entry e, over the bytes b, which are at position p, from
// byte lead on.
func (x *Draft) index(pc, e, p uint32, b []byte, lead int) {
	parse.Written(&x.m.ix, pc, e, p, b, lead, x.far)
}

// append appends the n bytes at position p, which have been indexed.
func (x *Draft) append(p uint32, n int) {
	x.m.buf.Advance(n)
	if x.far != nil {
		x.referFar(p)
	}
}

func (x *Draft) referFar(p uint32) {
	for _, l := range x.far.all {
		x.m.referText(p+l.at, chain.StringBytes(l.text), 0)
	}
	x.dropFar()
}

func (x *Draft) dropFar() {
	l := x.far
	clear(l.all)
	*l = farTexts{all: l.all[:0]}
	if cap(l.all) <= keepFar {
		farPool.Put(l)
	}
	x.far = nil
}

// Drop gives up memory that has not become part of a message.
func (x *Draft) Drop() {
	x.mem.Drop()
	if x.far != nil {
		x.dropFar()
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
	x.mem = x.m.buf.NewDraft(size)
	mem := x.mem.Mem()
	copy(mem, b[:n])
	old.Drop()
	return mem
}

// hasRoom reports whether the message has room for n bytes, besides the texts that it refers to.
func (x *Draft) hasRoom(n int) bool {
	segments := 0
	if x.far != nil {
		segments = x.far.segments
	}
	return n >= 0 && int64(n) <= 2*chain.MaxSize && x.m.buf.RoomAfter(segments, n)
}

// Refer makes the message refer to a text of ReferSize bytes or more, and reports whether it can.
// The text's length is in b[at:]; its contents are not written then.
func (x *Draft) Refer(b []byte, at int, text string) bool {
	checkLen(len(text))
	l := x.far
	if l == nil {
		l = farPool.Get().(*farTexts)
		l.buf = &x.m.buf
		x.far = l
	}
	if !x.m.mayReferAfter(l.segments, len(text)) {
		return false
	}
	l.segments += chain.Segments(len(text))
	l.all = append(l.all, farText{uint32(at), text})
	b[at] |= farMark >> 24
	return true
}

// Into begins to write the fields of s, a struct that d describes, in place of its old ones.
func (x *Draft) Into(s Struct, d *schema.Struct) []byte {
	if s.m == nil {
		panic(panicAbsent)
	}
	x.s = s
	if !s.isNew(d) {
		s.Changeable()
		b := x.New(d)
		x.m.untrack()
		return b
	}
	x.m, x.d = s.m, d
	return s.m.buf.FreeTail()
}

const panicChanged = "nocopy: struct was changed while all of its fields were set"

// isNew reports whether nothing was set in the struct, which d describes, since it was made, but
// fields of the template.
func (s Struct) isNew(d *schema.Struct) bool {
	m, e := s.m, s.entry()
	return s.k == m.openHandle && !m.ix.Reuses && m.ix.Words[e+entry.End] == 0 &&
		m.buf.Tail() == m.ix.Words[e+entry.Start]+uint32(len(d.Template())) && m.buf.InTail(m.ix.Words[e+entry.Start], 0)
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
	inTail := n
	if !x.mem.Zero() {
		inTail = 0
	}
	m.buf.Retract(len(x.d.Template()), inTail)
	p, b := m.buf.Ahead(&x.mem, n, false)
	m.ix.Words[e+entry.Start] = p
	x.index(program.Of(x.d).Start, e, p, b, 0)
	x.append(p, n)
	m.open = m.open[:len(m.open)-1]
	if len(m.open) == 0 {
		m.buf.Close()
	}
	m.setOpenHandle()
}

// Begin implements parse.FarTexts. There may be no texts, and then l is nil.
func (l *farTexts) Begin() {
	if l != nil {
		l.next, l.node = 0, chain.NodeID(l.buf.NodeCount()+1)
	}
}

// Word implements parse.FarTexts.
func (l *farTexts) Word(b []byte) uint32 {
	b[0] &^= farMark >> 24
	word := inNode | (l.node + uint32(l.next)) // the node that append makes
	l.next++
	return word
}

// assign gives the struct s the fields, but others, that were written for a message of their own.
func (x *Draft) assign(n int, others []schema.Ref) {
	from, s, d := x.Root(n), x.s, x.d
	for i := range d.Fields() {
		f, t := d.Field(i), d.Fields()[i].Type
		word := from.m.ix.At(from.entry(), f)
		switch {
		case slices.Contains(others, f):
		case word != 0 && t.Kind() >= schema.Record:
			s.SetChild(f, d, from.Child(f, d))
		case word != 0 && t.Kind() == schema.Text:
			s.SetText(f, from.m.TextString(word))
		case word != 0:
			copy(s.fixed(f, int(t.Size())), from.m.buf.At(word)[:t.Size()])
		case s.m.ix.At(s.entry(), f) == 0:
		case d.Fields()[i].Req == schema.Required:
			s.Reset(f, d)
		default:
			s.Unset(f)
		}
	}
	from.Release()
}

// SetChild sets field f to a copy of v. It links v's bytes if they are many. Later changes of
// either message do not show in the other. An absent v, or the zero handle, sets an empty value.
// In a union f becomes the only field that is set. d describes s.
func (s Struct) SetChild(f schema.Ref, d *schema.Struct, v Struct) {
	s.Changeable()
	m, e := s.m, uint32(s.k)
	t := d.FieldOf(f).Type
	src := m.source(v, t)
	s.changeableBy(src.n)
	var word uint32
	if m.ix.At(e, f) == 0 && m.fieldNode(e, f) == 0 {
		m.openStruct(e)
		word = m.appendValue(t, f.Header(), src, 0)
	} else {
		word = m.placeValue(m.replaceField(e, f), t, f.Header(), src, 0)
	}
	m.ix.Put(e, f, word)
	if d.IsUnion() {
		s.Arm(f, d)
	}
}

// Reset sets a required field, which can't be removed, to its IDL default, or to zero. d describes
// the struct s.
func (s Struct) Reset(f schema.Ref, d *schema.Struct) {
	fd := d.FieldOf(f)
	value := fd.AppendDefault(nil)
	s.changeableBy(len(value))
	s.setValue(f, fd.Type, value)
	s.m.noteFilled(uint32(s.k), fd)
}

// Child returns the struct, list, set or map in field f. If the message was parsed with Lazy and
// the field has no entry yet, Child makes one. If the field is not set, Child returns the IDL
// default or an empty value; neither can be changed. d describes the struct s.
func (s Struct) Child(f schema.Ref, d *schema.Struct) Struct {
	if s.m == nil {
		return absentOf(d.FieldOf(f))
	}
	s.alive()
	if word := s.m.ix.At(s.entry(), f); int32(word) > 0 {
		return Struct{s.m, s.k&^0xffffffff | uint64(word)}
	}
	return s.lateChild(f, d)
}

// lateChild returns the struct or container in field f, which is not set or has no entry yet: its
// entry is made, or it is the IDL default or an empty value.
func (s Struct) lateChild(f schema.Ref, d *schema.Struct) Struct {
	word := s.m.ix.At(s.entry(), f)
	if word == 0 {
		return absentOf(d.FieldOf(f))
	}
	word = s.m.indexLazily(d.FieldOf(f), s.entry())
	return Struct{s.m, s.k&^0xffffffff | uint64(word)}
}

// AppendStruct appends a copy of the struct's wire bytes to dst. Parse accepts them. An absent
// struct gives the bytes of an empty one. AppendStruct completes the values that are being built
// in the struct. d describes s. Generated code calls it as AppendTo. In a message parsed with
// ByIndex, an invalid struct counts as absent, except the root, which gives the bytes of the
// message as it arrived.
func (s Struct) AppendStruct(dst []byte, d *schema.Struct) []byte {
	s = s.orAbsent()
	s.alive()
	if s.m.isEmpty() {
		return schema.AppendZero(dst, d.Type())
	}
	s.m.closeAllUnlessSealed()
	switch e := s.entry(); {
	case e != s.m.root:
		if s.m.pending&byIndex != 0 && !s.m.validInner(e, d) {
			return schema.AppendZero(dst, d.Type())
		}
		if plain, ok := s.m.appendInner(dst, e, d.Type()); ok {
			return plain
		}
	case s.m.pending&placedIndex != 0: // finished or not, it is not among what the handle has
		if plain, ok := s.m.appendWithoutIndex(dst, e, d.Type()); ok {
			return plain
		}
	}
	return s.m.rangeOf(s.entry(), d.Type(), chain.Range{}).AppendTo(dst)
}

// Clone returns the root of a new message with the same contents in its own memory. For an absent
// struct the new message is empty. d describes s.
func (s Struct) Clone(d *schema.Struct) Struct {
	s = s.orAbsent()
	s.alive()
	m := newMessage(d, 0, usualLimits)
	src := m.source(s, d.Type())
	p, b := m.buf.Place(src.n)
	if src.from != nil {
		src.r.AppendTo(b[:0])
	}
	copy(b, src.data)
	m.buf.AddRoot(p, p+uint32(src.n))
	m.root = m.ix.Alloc(d.Words())
	m.indexRoot(d, p)
	return m.handle(m.root)
}

// linkOrClone returns the root of a new message with the contents of s, the root of a finished
// one. The new message links the bytes of the old one if they are many and none of them is in
// memory of the caller's; else it has a copy.
func (s Struct) linkOrClone(d *schema.Struct) Struct {
	r := s.m.rangeOf(s.entry(), d.Type(), chain.Range{})
	src := source{from: s.m, r: r, n: r.Len()}
	link := s.m.pending == 0 && src.n >= ReferSize && src.n <= mostLinked && (r.Count() == 1 || r.Count() <= mostLinks && !nests(d.Type()))
	r.Pieces(func(at chain.Pos, _ []byte) bool {
		link = link && !s.m.buf.Foreign(at)
		return link
	})
	if !link {
		return s.Clone(d)
	}
	m := newMessage(d, s.m.flags&Recycle, usualLimits)
	if depth := s.m.limits.MaxDepth; depth > m.limits.MaxDepth {
		m.ownSeldom()
		m.limits.MaxDepth = depth
		m.flags |= limited
	}
	p, _ := m.buf.Place(1) // the node replaces it
	m.buf.AddRoot(p, p+1)
	node := m.buf.AddReplace(p, p+1)
	m.root = m.ix.Alloc(d.Words())
	m.indexShared(node, d.Type(), src, m.root)
	m.edit(m.root).valueNode = node
	m.Finish()
	return m.handle(m.root)
}

// List begins field f of s, a list of n structs. d describes s. With aside the bytes are written
// aside: the message may be used before EndList.
func (x *Draft) List(s Struct, f schema.Ref, d *schema.Struct, n int, aside bool) []byte {
	if s.m == nil {
		panic(panicAbsent)
	}
	m, t := s.m, d.FieldOf(f).Type
	checkCount(t, n)
	slotWords(t, n) // which panics if they are too many for an index
	inTail := !aside && s.k == m.openHandle && m.ix.At(s.entry(), f) == 0
	if !inTail {
		s.Changeable()
	}
	x.m, x.s, x.f, x.d = m, s, f, d
	if inTail {
		return m.buf.FreeTail()
	}
	m.ownSeldom()
	if cap(m.copied) < firstDraft {
		m.copied = make([]byte, firstDraft)
	}
	x.first, m.copied = m.copied[:firstDraft], nil
	x.mem = chain.DraftIn(x.first)
	return x.mem.Mem()
}

// firstDraft is how much memory a message has for lists that are written aside. How many elements
// fit into it tells how much more they need.
const firstDraft = 4 << 10

// EndList makes the first n bytes, with the field's header, the list.
func (x *Draft) EndList(n int) {
	s, f, d := x.s, x.f, x.d
	if x.mem.Zero() {
		s.alive()
	} else {
		s.changeableBy(n)
	}
	m, e, t := s.m, s.entry(), d.FieldOf(f).Type
	if x.far != nil && !m.buf.RoomAfter(x.far.segments, n+chain.MaxSlabSize) {
		x.Drop()
		panic(panicFull)
	}
	if s.k != m.openHandle || m.ix.At(e, f) != 0 {
		s.placeChild(f, n)
	}
	p, b := m.buf.Ahead(&x.mem, n, false)
	if x.first != nil {
		m.copied = x.first[:0]
	}
	var word uint32
	if m.ix.Reuses { // entries are used again
		pr := m.beginTrusted(0)
		pr.B, pr.Base, pr.Growth, pr.Far = b, p, parse.Growth{}, x.far
		x.far.Begin()
		var i int
		i, word = pr.Value(t, 0, wire.FieldHeader)
		m.p.EndTrusted(i)
	} else {
		before := m.ix.Words[0] // no entry has this word: the program stores the value's entry in it
		x.index(program.OfValue(t), 0, p, b, wire.FieldHeader)
		word, m.ix.Words[0] = m.ix.Words[0], before
	}
	x.append(p, n)
	m.ix.Put(e, f, word)
	if d.IsUnion() {
		s.Arm(f, d)
	}
	if len(m.open) == 0 {
		m.buf.Close()
	}
}

// source returns the wire bytes of v, a value of type t: to be linked if they are many and of
// another message, else copied. If v is being built it is completed.
func (m *Message) source(v Struct, t *schema.Type) source {
	v = v.orAbsent()
	v.alive()
	m.ownSeldom()
	if v.m.isEmpty() {
		m.copied = schema.AppendZero(m.copied[:0], t)
		return source{n: len(m.copied), data: m.copied}
	}
	v.mustBe(t)
	v.m.closeAllUnlessSealed()
	if v.m.pending != 0 {
		if data, ok := m.sourceWithIndex(v, t); ok {
			return source{n: len(data), data: data}
		}
	}
	// Values that may be sent from there may be sent from here
	if depth := v.m.limits.MaxDepth; v.m != m && depth > m.maxNesting() {
		m.ownSeldom()
		m.limits.MaxDepth = depth
		m.flags |= limited
	}
	r := v.m.rangeOf(v.entry(), t, m.spentRange)
	m.spentRange = chain.Range{}
	if r.Count() <= keepPieces {
		m.spentRange = r.Spent() // for the next source; this one is used up before that
	}
	n := r.Len()
	if v.m != m && n >= ReferSize && m.mayRefer(n) && (r.Count() == 1 || m.mayLink(r.Count(), n, t)) {
		return source{from: v.m, r: r, n: n}
	}
	m.copied = r.AppendTo(m.copied[:0])
	m.ix.More = true
	return source{n: n, data: m.copied}
}

// sourceWithIndex checks the message of v, a value of type t, before it is copied from: there is
// an index in it. If v itself may have one, sourceWithIndex returns its wire bytes without, and
// true.
func (m *Message) sourceWithIndex(v Struct, t *schema.Type) ([]byte, bool) {
	var ok bool
	m.copied, ok = v.m.appendWithoutIndex(m.copied[:0], v.entry(), t)
	if v.m.pending&innerIndex != 0 { // maybe of structs in v
		m.pending |= innerIndex
		m.guarded = true
	}
	if !ok {
		return nil, false
	}
	m.ix.More = m.ix.More || cap(m.copied) > keepCopied
	return m.copied, true
}
