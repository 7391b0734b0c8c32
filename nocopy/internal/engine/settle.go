package engine

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/formats"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// This file has what is done before a message is changed or sent. Finish completes it and checks
// how deep its structs are nested; beforeChange prepares it for a setter. Both may have to index
// all of it, remove or add its own index, or compact it, which in turn may finish or change it:
// these are the only functions of the package that call each other in circles.

// Finish completes the values that are being built.
func (m *Message) Finish() {
	if !m.buf.Sealed() || m.ix.Used == 0 {
		if err := m.Check(); err != nil {
			panic("nocopy: message can't be finished: " + strings.TrimPrefix(err.Error(), "nocopy: "))
		}
	}
}

// Check does what Finish does, but returns an *Error if structs are nested too deeply, or if the
// message is larger than 1 GiB.
func (m *Message) Check() error {
	m.mustBeFilled()
	if m.buf.Sealed() {
		return nil
	}
	if debugging {
		m.mustHaveAll()
	}
	if len(m.open) > 0 {
		m.closeAll()
	}
	if err := m.checkNesting(); err != nil {
		return err
	}
	if !m.buf.Room(chain.MaxSize) { // else there are too few positions in use
		if err := m.checkSize(); err != nil {
			return err
		}
	}
	if m.flags&WithIndex != 0 {
		m.addWireIndex()
	}
	m.buf.Seal()
	if m.ix.More && len(m.handouts) > 0 {
		m.dropHandouts()
	}
	return nil
}

// checkSize returns an error if the message is larger than any that can be received. There are
// positions for twice as many bytes, so that large ones can be edited.
func (m *Message) checkSize() error {
	if n := m.buf.Size(); n > chain.MaxSize {
		return &wire.Error{Path: m.desc.Name(), Err: wire.LimitError("message of " + strconv.Itoa(n) + " bytes, more than 1 GiB")}
	}
	return nil
}

// checkNesting returns an error if structs are nested too deeply in the message. All of the
// message is complete. Only types that may contain themselves need a look, and only when entries
// were added since the last one.
func (m *Message) checkNesting() error {
	if m.ix.Used == m.ix.Levelled || m.desc.Nesting() <= m.maxNesting() {
		return nil
	}
	if most := m.maxNesting(); m.exceeds(m.desc.Type(), index.Word(m.root), most) {
		return &wire.Error{Path: m.desc.Name(), Err: parse.DepthError(most)}
	}
	m.ix.Levelled = m.ix.Used
	return nil
}

// exceeds reports whether more than left structs are nested in the value of entry e. Parsing has
// seen how deep values are that were left for later.
func (m *Message) exceeds(t *schema.Type, word index.Word, left int) bool {
	if t.Nesting() <= left || word.IsLazy() {
		return false
	}
	if t.Kind() == schema.Record {
		left--
	}
	if left < 0 {
		return true
	}
	for p := range m.parts(t, word.Entry()) {
		if m.exceeds(p.t, p.word, left) {
			return true
		}
	}
	return false
}

// Parse bounds how many structs may be nested. Building is bounded likewise, when the message is
// finished: by then every struct is in its place.

// maxNesting is how many structs may be nested in the message when it is finished: as many as
// Parse accepts by default, or more if it was made with such Limits.
func (m *Message) maxNesting() int { return max(m.limits.MaxDepth, parse.MaxDepth) }

// writable panics unless the struct or container may be changed, which it is about to be.
func (s Struct) writable() {
	if s.m == nil || s.k>>32 != s.m.gen || s.m.needsBeforeChange || debugging {
		s.mustBeWritable()
	}
}

// mustBeWritable does the work of writable.
func (s Struct) mustBeWritable() {
	if s.m == nil {
		panic(setterOfZero())
	}
	s.alive()
	if debugging {
		s.m.checkPart(uint32(s.k))
	}
	if s.m.needsBeforeChange {
		s.m.beforeChange(s.entry())
	}
}

// Changeable panics unless the struct or container may be changed, which may take memory. If it is
// worth it, the message is compacted first: positions known from before then mean nothing.
func (s Struct) Changeable() {
	s.writable()
	if m := s.m; m.ix.Full || m.buf.Crowded() {
		m.compactIfWorth()
		if s.gone() {
			panic(panicGone)
		}
		if !m.buf.RoomToChange(0) {
			panic(panicFull)
		}
	}
}

// beforeChange must be called before the struct or container of entry e is changed, if the
// message needsBeforeChange. It panics if that is not allowed. The elements and keys that e
// belongs to are taken out of their tables until the next lookup.
func (m *Message) beforeChange(e uint32) {
	if m.frozen {
		panic(m.notThere())
	}
	if !m.ix.HasValue(e) {
		if m.pending&byIndex != 0 { // it is absent since it is not valid
			m.mustIndex()
		}
		panic(panicGone)
	}
	if m.pending != 0 {
		m.settle()
	}
	m.keys.ChangeOwners((*owner)(m), e)
}

// settle does the pending work. It panics if the message was parsed with ByIndex and is not valid.
func (m *Message) settle() {
	if m.pending&byIndex != 0 {
		m.mustIndex()
	}
	if m.pending&placedIndex != 0 {
		m.buf.SetEmpty(m.indexNode)
	}
	carries := m.pending&carriesIndex != 0
	m.pending &= innerIndex
	if carries { // which may finish the message: not with another index
		with := m.flags & WithIndex
		m.flags &^= with
		m.handle(m.root).RemoveFields(entry.IndexID)
		m.flags |= with
	}
}

// mustIndex checks and indexes everything in a message that was parsed with ByIndex and is about
// to be changed or copied from. It panics if that fails.
func (m *Message) mustIndex() {
	if err := m.Index(); err != nil {
		panic("nocopy: message can't be changed or copied from: " + strings.TrimPrefix(err.Error(), "nocopy: "))
	}
}

// Index indexes everything that Lazy skipped, and checks a message that is read by its index.
func (m *Message) Index() error {
	if m.pending&byIndex != 0 {
		if l := m.landing; l.checked == nil {
			l.checked = m.checkOpened()
		}
		return m.landing.checked // without a scan: programs may ask for each element
	}
	if m.flags&Lazy == 0 {
		return nil
	}
	if err := m.Check(); err != nil { // it finishes the message
		return err
	}
	m.flags &^= Lazy
	m.indexAll(m.desc.Type(), m.root)
	return nil
}

// checkOpened checks all of a message that is read by its index, and indexes the values that were
// left for later. Afterwards it is an ordinary message.
func (m *Message) checkOpened() error {
	l := m.landing
	if err := m.checkAnew(m.desc, l.b, m.limits); err != nil {
		return err
	}
	if at, ok := l.x.Check(l.b, parse.SkipValid); !ok {
		return &wire.Error{Offset: at, Path: m.desc.Name(), Err: wire.ErrIndex}
	}
	l.left = math.MaxInt
	if m.indexAll(m.desc.Type(), m.root); l.err != nil { // something is or was read as absent
		return l.err
	}
	m.pending &^= byIndex
	m.ix.Levelled = m.ix.Used
	l.reset()
	return nil
}

// checkAnew returns the error in b, a struct of m that d describes, as if it were a message.
func (m *Message) checkAnew(d *schema.Struct, b []byte, limits Limits) error {
	plain := expecting(nil, d, m.flags&ValidUTF8|limited, limits)
	plain.buf.Refer(b, false, false)
	s, err := plain.parseBinary()
	if err == nil {
		s.m.Release()
	}
	return err
}

// indexAll completes the index of the struct or container of type t and entry e.
func (m *Message) indexAll(t *schema.Type, e uint32) {
	if t.Kind() != schema.Record {
		m.fillByIndex(e)
	}
	for p := range m.parts(t, e) {
		switch {
		case !p.word.IsLazy():
			m.indexAll(p.t, p.word.Entry())
		case m.pending&byIndex != 0:
			x, _ := m.parseAt(p.t, int(p.word.Pos()-m.landing.base), len(m.landing.b), 0)
			m.ix.Put(e, p.f.Ref(), index.Word(x))
		default:
			m.ix.Put(e, p.f.Ref(), m.indexAt(p.t, p.word.Pos(), 0))
		}
	}
}

// Compact rewrites the message into one piece of memory, without the values that were replaced or
// removed.
func (m *Message) Compact() {
	m.mustBeFilled()
	if m.frozen {
		panic("nocopy: Repack of an absent struct, or of a constant of the IDL")
	}
	m.closeAll()
	m.dropParser() // it takes as much memory as a message
	m.keys.FreeFilter()
	if m.pending == 0 && len(m.handouts) == 0 && len(m.duplicates) == 0 && m.buf.InOneBlock() {
		m.buf.Compact(true)
		return
	}
	m.compact(true)
}

// compactIfWorth compacts the message if enough of it is dead. If not, it does not look again
// until the message has grown much.
func (m *Message) compactIfWorth() {
	d := &m.dead
	switch {
	case d.everyChange:
	case m.ix.Full:
		if m.ix.NoteLooked(); d.isEmpty() || m.manyHandouts() {
			return
		}
	case !m.buf.Waste() || m.manyHandouts() && !m.buf.Short():
		return
	}
	m.compact(false)
}

// compact does the work of Compact. The message must be alive and not frozen. With exact, it gets
// no more memory than it needs now.
func (m *Message) compact(exact bool) {
	if m.pending != 0 {
		m.settle()
	}
	m.closeAll()
	m.ownSeldom()
	m.manyHandouts()
	m.keys.DropFilter() // another map may get the entry of the map that it is for
	m.keys.ForgetOwners()
	m.removeDuplicates()
	d := &m.dead
	var onReuse func(e, words uint32)
	if debugging {
		onReuse = m.noteReused
	}
	m.ix.Reuse(onReuse)
	d.reclaim(m)
	r := rewriter{m: m, inPlace: m.keys.Iterations.Load() > 0}
	r.base, r.b = m.buf.Compact(exact)
	r.structure(m.desc, m.root, 0)
	m.edits = m.edits[:1]
	if m.liveSets != nil { // else it may be what all messages read
		m.liveSets = nil
	}
	for _, h := range r.holes {
		m.edit(h.e).dead = h.n
	}
	m.ix.NoteCompacted(len(r.b))
	m.ix.Full = d.everyChange
	d.byStruct.Clear()
	m.keepHandouts()
	m.needsBeforeChange = true // handles of removed values must be found out
}

// keepHandouts replaces the binaries that compacting has copied from handouts by the handouts,
// which may still be filled. If there are more than fewHandouts, it forgets them all.
func (m *Message) keepHandouts() {
	m.handouts = slices.DeleteFunc(m.handouts, func(h handout) bool {
		return m.ix.At(h.e, h.field) == 0 // its struct is no longer in the message
	})
	if len(m.handouts) > fewHandouts {
		m.dropHandouts()
	}
	for i := range m.handouts {
		h := &m.handouts[i]
		q := m.handle(h.e).field(h.field, schema.TypeString)
		m.setText(q, h.mem, true)
		h.word = m.ix.At(h.e, h.field)
	}
}

// addWireIndex adds a wire index at the end of the root. The message must be complete. It gets
// none if it is too small or too large, or its root is a union. Edits are compacted first.
func (m *Message) addWireIndex() {
	if m.desc.IsUnion() {
		return
	}
	if m.pending != 0 {
		m.buf.Seal() // settling looks for the old index in the finished message
		m.settle()
	}
	if m.sealedLen() < m.leastIndexed() {
		return
	}
	if m.buf.NodeCount() > 0 {
		m.compact(false) // it may be too small then: fields that came again are gone
	}
	n := m.sealedLen()
	if n < m.leastIndexed() || n > wireindex.MostIndexed {
		return
	}
	if b, ok := m.writeIndex(n); ok {
		m.placeIndex(b)
	}
}

// sealedLen seals the message, which is complete, and returns its size.
func (m *Message) sealedLen() int {
	m.buf.Seal()
	return m.buf.Len()
}

// leastIndexed returns the size from which on a message gets a wire index.
func (m *Message) leastIndexed() int {
	if m.flags&AnySize != 0 {
		return 0
	}
	return wireindex.MinIndexed
}

// writeIndex returns the bytes of a wire index of the sealed message, which has n bytes. They are
// good until the next copy. It returns false if no index can have all values.
func (m *Message) writeIndex(n int) ([]byte, bool) {
	m.ownSeldom()
	w := indexWriters.Get().(*indexWriter)
	defer indexWriters.Put(w)
	*w = indexWriter{m: m, size: n, b: m.copied[:0], pieces: w.pieces[:0], after: w.after[:0]}
	m.buf.Pieces(func(p chain.Pos, mem []byte) bool {
		w.pieces = append(w.pieces, wirePiece{uint32(p), uint32(p) + uint32(len(mem)), w.total})
		w.total += uint32(len(mem))
		return true
	})
	w.write()
	m.copied, w.m = w.b, nil
	m.ix.More = m.ix.More || cap(m.copied) > keepCopied
	return w.b, !w.lost
}

// placeIndex makes the wire index b the last field of the root.
func (m *Message) placeIndex(b []byte) {
	const head = wire.FieldHeader + wire.TextHeader
	p, field := m.buf.Place(head + len(b))
	wire.PutHeader(field, wireindex.Header)
	wire.PutBE32(field[wire.FieldHeader:], uint32(len(b)))
	copy(field[head:], b)
	m.indexNode = m.buf.AddAtStop(m.editOf(m.root).end)
	m.buf.SetPlaced(m.indexNode, p, p+uint32(len(field)))
	m.pending |= placedIndex
	m.needsBeforeChange = true
}

// FindFields finishes the message of s, its root. It returns the value of the first field with
// this id, and the places of all fields with it, in order and including headers. Adjacent fields
// are one Cut. The value aliases the message, or is a copy if it is not in one piece.
func (s Struct) FindFields(id int16) (first WireValue, all []Cut) {
	if s = s.finished(); s.m == nil {
		return first, nil
	}
	var few [4]rootPiece
	w := rootWalk{m: s.m, pieces: appendPieces(few[:0], &s.m.buf)}
	for w.find(id) {
		if first.Type == wire.Stop {
			first = w.value()
		}
		w.pass(w.n)
		if k := len(all) - 1; k >= 0 && all[k].To == w.from {
			all[k].To = w.off
		} else {
			all = append(all, Cut{w.from, w.off})
		}
	}
	return first, all
}

// finished finishes the message of s, its root, and returns s, or a Struct without message if s is
// absent.
func (s Struct) finished() Struct {
	if s.m == nil || s.m.absent {
		return Struct{}
	}
	s.alive()
	if s.entry() != s.m.root {
		panic(panicNotRoot)
	}
	s.m.Finish()
	return s
}

// RemoveFields removes all fields with this id from s, the root of its message, and reports
// whether there were any. The type of s must have no field with that id. The rest stays in its
// place, except that a message in several pieces is compacted first.
func (s Struct) RemoveFields(id int16) bool {
	s.Changeable()
	m := s.m
	if s.entry() != m.root {
		panic(panicNotRoot)
	}
	_, all := s.FindFields(id)
	if len(all) == 0 {
		return false
	}
	if _, one := m.flat(m.root, m.desc.Type()); !one {
		m.compact(false)
		_, all = s.FindFields(id)
	}
	from := m.ix.StartOf(m.root)
	for _, cut := range all {
		m.buf.AddReplace(from+uint32(cut.From), from+uint32(cut.To))
	}
	return true
}

// parseBinary parses the message, which is in one piece, by its own index if that is asked for and
// fits, else from its beginning, unless RequireIndex was given.
func (m *Message) parseBinary() (Struct, error) {
	base, b := m.buf.Whole()
	if m.flags&ByIndex != 0 && m.openByIndex(b, base) {
		return m.handle(m.root), nil
	}
	p := m.parserOf(b, base)
	if m.flags&RequireIndex != 0 {
		return m.parsed(p, p.Fail(len(b), wire.ErrIndex))
	}
	return m.parsed(p, m.indexFrom(p))
}

// parsed ends a parse. i is the index after the root, or failed. It parses the message again
// without Lazy if with Lazy the index is too large. It returns the root's handle or the error.
func (m *Message) parsed(p *parse.Parser, i int) (Struct, error) {
	if i >= 0 && len(p.B)-i+p.After > 0 {
		i = p.Fail(i, wire.ErrTrailing)
	}
	if i < 0 && p.Lazy && p.Full() {
		b, base := p.B, p.Base
		m.unindex()
		m.flags &^= Lazy
		p = m.parserOf(b, base)
		return m.parsed(p, m.indexFrom(p))
	}
	if i < 0 {
		err := p.Finish(m.desc)
		b, size := p.FirstBytes()
		formats.Explain(err, b, size, m.desc)
		p.B = nil
		if len(p.Windows) > 0 {
			p.DropWindows()
		}
		m.release()
		return Struct{}, err
	}
	m.ix.Levelled = m.ix.Used
	if len(p.Windows) > 0 { // not in one piece
		p.EndWindow(i)
		p.DropWindows()
		m.Finish()
	}
	p.B = nil
	m.dropParser()
	if m.flags&WithIndex != 0 {
		m.addWireIndex()
		m.buf.Seal()
	}
	return m.handle(m.root), nil
}

// parserOf returns the message's parser, ready for the bytes b at position base.
func (m *Message) parserOf(b []byte, base uint32) *parse.Parser {
	p := m.resetParser(len(b))
	p.B, p.Base = b, base
	return p
}

// appendWithoutIndex appends to dst the wire bytes of the value of type t and entry e, without the
// wire index that it has as a field, and returns that and true; dst and false if it has none. If
// the message was parsed with ByIndex it first checks everything in it, see mustIndex.
func (m *Message) appendWithoutIndex(dst []byte, e uint32, t *schema.Type) ([]byte, bool) {
	if m.pending&byIndex != 0 {
		m.mustIndex()
	}
	return m.appendPlain(dst, e, t)
}
