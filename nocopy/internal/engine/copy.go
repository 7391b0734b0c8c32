package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// This file puts values of other messages into a message, by a copy or by a link to their memory.

// source is the wire bytes of a struct or container that is about to be copied or linked into a
// message.
type source struct {
	n    int         // bytes
	data []byte      // a copy of them; nil if they are r
	from *Message    // the message of r, which is another
	r    chain.Range // to be copied, or linked
	link bool
}

// linkPieces bounds the pieces of a value that is linked; a value in more is copied.
const linkPieces = 16

// keepPieces bounds the pieces of a value for which memory is kept for the next one.
const keepPieces = 4 << 10

// mustBe panics if s, which is not absent, can't be a value of type t: Go's types do not tell a
// list of sets from a list of lists, and any handle can be converted to any other. A list can be a
// set. Of structs only roots are known.
func (s Struct) mustBe(t *schema.Type) {
	if own := s.m.desc; own != nil && own != t.Struct() && s.entry() == s.m.root && !own.Type().Equal(t) {
		panic("nocopy: " + own.GoName() + " instead of " + t.String() + schema.Apart(own.Type(), t))
	}
	if t.Kind() == schema.Record {
		return
	}
	u := s.m.ix.TypeAt(s.entry())
	switch {
	case u == t:
		return
	case u == nil: // it is the word of a field
		panic("nocopy: a struct instead of " + t.String())
	case u.Kind() != t.Kind() || !t.Elem().Equal(u.Elem()) || t.Kind() == schema.Dict && !t.Key().Equal(u.Key()):
		panic("nocopy: " + u.String() + " instead of " + t.String() + schema.Apart(u, t))
	}
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
	e := s.entry()
	if e != s.m.root && s.m.pending&byIndex != 0 && !s.m.validInner(e, d) {
		return schema.AppendZero(dst, d.Type())
	}
	// The handle does not include an index that finishing has added. It includes one that arrived.
	if e != s.m.root || s.m.pending&placedIndex != 0 {
		if plain, ok := s.m.appendPlain(dst, e, d.Type()); ok {
			return plain
		}
	}
	if b, ok := s.m.flat(e, d.Type()); ok {
		return append(dst, b...)
	}
	return s.m.rangeOf(e, d.Type()).AppendTo(dst)
}

// AppendPlain is AppendStruct of s without a wire index, which s may have as the root of a message
// that arrived with one. It panics if the message was parsed with ByIndex and is invalid.
func AppendPlain(dst []byte, s Struct, d *schema.Struct) []byte {
	if s.CarriesIndex() {
		if plain, ok := s.m.appendWithoutIndex(dst, s.entry(), d.Type()); ok {
			return plain
		}
	}
	return s.AppendStruct(dst, d)
}

// validInner reports whether the bytes of the struct of entry e, which is not the root, are a
// valid struct of type d. Getters may have passed over the values in it by the index.
func (m *Message) validInner(e uint32, d *schema.Struct) bool {
	l := m.landing
	from, to := m.extent(e, d.Type())
	b := l.b[from-l.base : to-l.base]
	limits := m.limits
	limits.MaxIndex = 4 * int(l.mostUsed)
	if m.checkAnew(d, b, limits) != nil {
		m.misfit(int(from - l.base))
		return false
	}
	return true
}

// Clone returns the root of a new message with the same contents in its own memory. For an absent
// struct the new message is empty. d describes s.
func (s Struct) Clone(d *schema.Struct) Struct {
	s = s.orAbsent()
	s.alive()
	m := newMessage(d, 0, usualLimits)
	src := m.source(s, d.Type())
	src.link = false
	m.buf.Fit(src.n)
	c := m.setRoot(d, src)
	m.dropParser()
	return c
}

// setRoot makes src, a struct that d describes, the contents of a message that has none yet, and
// returns its root.
func (m *Message) setRoot(d *schema.Struct, src source) Struct {
	m.buf.OpenRoot(0)
	m.root = m.ix.Alloc(d.Words())
	m.setSource(place{t: d.Type(), elem: m.root}, src)
	m.buf.Close()
	m.Finish()
	return m.handle(m.root)
}

// toSend links at most so many pieces, of messages of at most so many bytes. Each piece takes up
// to 2 MiB of positions, and there are 2 GiB of them. It copies the rest.
const (
	MostLinks  = 500
	mostLinked = 512 << 20
)

// linkOrClone returns the root of a new message with the contents of s, the root of a finished
// one. The new message links the bytes of the old one if they are many and none of them is in
// memory of the caller; else it has a copy.
func (s Struct) linkOrClone(d *schema.Struct) Struct {
	r := s.m.rangeOf(s.entry(), d.Type())
	n := r.Len()
	link := s.m.pending == 0 && n >= ReferSize && n <= mostLinked && (r.Count() == 1 || r.Count() <= MostLinks && !d.Type().Nests())
	r.Pieces(func(at chain.Pos, _ []byte) bool {
		link = link && !s.m.buf.Foreign(at)
		return link
	})
	if !link {
		return s.Clone(d)
	}
	m := newMessage(d, s.m.flags&Recycle, usualLimits)
	m.nestAs(s.m)
	return m.setRoot(d, source{from: s.m, link: true, r: r, n: n})
}

// nestAs lets structs be nested in m as deep as in from: values that may be sent from there may be
// sent from here.
func (m *Message) nestAs(from *Message) {
	if depth := from.limits.MaxDepth; depth > m.maxNesting() {
		m.ownSeldom()
		m.limits.MaxDepth = depth
		m.flags |= limited
	}
}

// mayLink reports whether a value of n bytes and type t in several pieces is worth linking.
// There must be enough positions, also for values that lie across two pieces.
func (m *Message) mayLink(pieces, n int, t *schema.Type) bool {
	return pieces <= linkPieces && m.buf.Room(2*n+linkRoom) && !t.Nests()
}

// linkRoom is for how many bytes there must be positions besides a linked value's own.
const linkRoom = 64 << 20

// setSource puts src, a struct or container, into the place.
func (m *Message) setSource(q place, src source) {
	node := q.node
	if q.f != 0 { // its contents begin with the field's header
		node = 0
	}
	var word index.Word
	switch {
	case !src.link:
		b, p, _ := m.bytesAt(q, src.n)
		if src.from != nil {
			src.r.AppendTo(b[:0])
		}
		copy(b, src.data)
		word = m.indexAt(q.t, p, q.elem)
	case node == 0:
		_, p, _ := m.bytesAt(q, 1)
		node = m.buf.AddReplace(p, p+1)
		word = index.Word(m.indexShared(node, q.t, src, q.elem))
	default:
		m.buf.SetEmpty(node)
		word = index.Word(m.indexShared(node, q.t, src, q.elem))
	}
	if node != 0 {
		m.edit(word.Entry()).valueNode = node
	}
	m.put(q, word)
}

// indexShared adds memory of another message, src, to the node's contents, indexes it as a value
// of type t, and returns its word. e is the entry of a struct that is an element, 0 if it gets a
// new one.
func (m *Message) indexShared(node chain.NodeID, t *schema.Type, src source, e uint32) uint32 {
	m.beginTrusted(0)
	p := m.p
	p.Node = node
	src.r.Pieces(func(pos uint32, mem []byte) bool {
		p.Windows = append(p.Windows, parse.Window{Chunk: chain.Chunk{Mem: mem}, Src: &src.from.buf, Pos: pos})
		return true
	})
	p.After = src.n
	p.Enter()
	i, word := m.indexInto(t, e)
	if i >= 0 {
		p.EndWindow(i)
	}
	p.Node = 0
	p.DropWindows()
	m.p.EndTrusted(i)
	return word
}

// source returns the wire bytes of v, a value of type t. It panics unless s may be changed by
// them.
func (s Struct) source(v Struct, t *schema.Type) source {
	src := s.m.source(v, t)
	s.room(src.n)
	return src
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
	if v.m != m {
		m.nestAs(v.m)
	}
	from, to := v.m.extent(v.entry(), t)
	r := v.m.buf.RangeAgain(from, to, v.m.editOf(v.entry()).valueNode, m.spentRange)
	m.spentRange = chain.Range{}
	if r.Count() <= keepPieces {
		m.spentRange = r.Spent() // for the next source; this one is used up before that
	}
	n := r.Len()
	if v.m != m {
		link := n >= ReferSize && m.mayRefer(0, n) && (r.Count() == 1 || m.mayLink(r.Count(), n, t))
		return source{from: v.m, r: r, n: n, link: link}
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
	if !ok {
		return nil, false
	}
	m.ix.More = m.ix.More || cap(m.copied) > keepCopied
	return m.copied, true
}

// wireAs completes a struct or container of type t and returns its wire bytes: an alias if they
// are in one piece, which is good until the next change, else a copy.
func (s Struct) wireAs(t *schema.Type) []byte {
	s = s.orAbsent()
	s.alive()
	s.m.closeAllUnlessSealed()
	if b, ok := s.m.appendWithoutIndex(nil, s.entry(), t); ok {
		return b
	}
	return s.m.wire(s.entry(), t)
}

// ContainsValue reports whether an element of a list has the same wire bytes as v.
func (s Struct) ContainsValue(v Struct) bool {
	if s.ListLen() == 0 {
		return false
	}
	t := s.typ()
	key := v.wireAs(t.Elem())
	s.m.closeElements(s.entry())
	return s.m.lookup(s.entry(), t, key) >= 0
}
