package nocopy

import (
	"encoding/binary"
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// For generated code. XRow writes structs all of whose fields are known, in the order of the IDL:
// whole messages, the elements of a list, or the fields of a struct.
//
// It writes after the bytes and words that the message uses, and adds them to the message when it
// is done. If a function that supplies fields panics, the message is therefore unchanged. If the
// function changes the message, XRow notices that the end of the used bytes has moved.
//
// Its methods take and return the number of bytes written in the last block. Callers pass that
// number from one method to the next, which keeps it in a register.
type XRow struct {
	m      *Message
	mem    []byte   // the block at the tail
	idx    []uint32 // the index
	base   uint32   // position of mem
	e      uint32   // entry of the struct that is being written
	next   uint32   // words of the index that are in use or written
	zeroed uint32   // words before this one that are not are zero
	spare  uint32   // a table of a wide struct that is free
	tables bool     // there are such tables
	root   uint32   // entry of the list or struct that is done in the end
	depth  int      // how many structs and lists of structs are around the struct

	promised int // segments that the texts in the message's laters will take

	// What tells whether the message has changed
	open  uint64
	used  int
	words uint32
	nth   uint32
	stamp chain.Stamp // of the message of s, if that is not m

	// Where it goes in the end. If the message of s is not m, it is copied there
	s XStruct
	f XField
	d *XDesc
}

// rowSlack is how many bytes there are room for at least before each step: enough for any field of
// fixed size.
const rowSlack = 24

// later is what can be done only when the rows are the message's.
type later struct {
	word uint32 // the word of the index to be set
	f    XField // not 0: it is that of this field in the struct of entry word
	at   uint32 // position of the value
	text []byte // the text's bytes, to be referred to
	typ  *XType // the type of a value that is to be indexed; nil: it is a text
}

func (r *XRow) begin(m *Message) {
	r.m = m
	r.mem, r.base, r.used = m.buf.Ahead()
	r.idx, r.next, r.zeroed, r.words = m.idx, m.words, m.zeroed, m.words
	r.open = m.openHandle
	m.zeroed = 0 // so that who uses the words instead makes them zero
	m.rows++
	r.nth = m.rows
	if len(m.laters) > 0 {
		m.dropLaters()
	}
}

// commit makes what was written the message's.
func (r *XRow) commit(at int) {
	m := r.m
	m.buf.Commit(at)
	m.words, m.zeroed = r.next, r.zeroed
	m.noteGrowth()
	m.hasTables = m.hasTables || r.tables
	if len(m.laters) > 0 {
		m.doLaters()
	}
}

func (m *Message) doLaters() {
	for _, l := range m.laters {
		word := uint32(0)
		if l.typ == nil {
			word = m.referText(l.at, l.text, 0)
		} else {
			word = m.indexAt(l.typ, l.at)
		}
		if l.f != 0 {
			m.put(l.word, l.f, word)
		} else {
			m.idx[l.word] = word
		}
	}
	m.dropLaters()
}

// keepLaters is the most of them for which memory waits for the next message.
const keepLaters = 1 << 10

func (m *Message) dropLaters() {
	clear(m.laters)
	if m.laters = m.laters[:0]; cap(m.laters) > keepLaters {
		m.laters = nil
	}
}

// alloc returns the first of n more words, which are zero.
func (r *XRow) alloc(n int) uint32 {
	e := r.next
	if end := int(e) + n; end > int(r.zeroed) || n < 0 {
		r.zero(end, n)
	}
	r.next = e + uint32(n)
	return e
}

// zero makes the words before end zero, and some more ahead of their use.
func (r *XRow) zero(end, n int) {
	if n < 0 {
		panic(schema.PanicUndefined)
	}
	if m := r.m; end > len(r.idx) {
		if end > maxWords {
			r.undo()
			m.growIndex(end, maxWords)
		}
		m.words = r.next // as many are copied
		m.growIndex(end, maxWords)
		m.words, r.idx = r.words, m.idx
		r.zeroed = 0
	}
	end = min(end+zeroAhead, len(r.idx))
	clear(r.idx[max(r.next, r.zeroed):end])
	r.zeroed = uint32(end)
}

// fit makes sure that there is room for n bytes, and what there has to be besides. (Like room, it
// takes at for a number of 32 bits, which is never negative.)
func (r *XRow) fit(at, n int) int {
	if uint64(uint32(at))+uint64(n)+rowSlack > uint64(len(r.mem)) {
		return r.grow(at, n)
	}
	return at
}

// panicFull is the panic's text of package chain when it has no positions left.
const panicFull = "nocopy: message larger than its address space of 2 GiB"

// fits reports whether fit has nothing to do.
func (r *XRow) fits(at, n int) bool {
	return uint64(uint32(at))+uint64(n)+rowSlack <= uint64(len(r.mem))
}

func (r *XRow) grow(at, n int) int {
	if !r.m.buf.RoomAfter(r.promised, n+2*rowSlack) {
		r.undo()
		panic(panicFull)
	}
	r.mem, r.base, at = r.m.buf.GrowAhead(at, n+rowSlack)
	r.used = at
	return at
}

// New begins a message that is a struct of type d.
func (r *XRow) New(d *XDesc, opts ...Option) int {
	flags := builtFlags(opts)
	m := fromPool(&built[pool(flags)])
	m.desc, m.flags, m.words = d, flags, firstEntry
	m.buf.Begin(flags&Recycle != 0, headroom)
	if flags&limited != 0 {
		m.limits = limitsOf(opts)
	}
	r.begin(m)
	r.e = r.alloc(d.Words())
	r.root = r.e
	at := r.fit(r.used, 0)
	r.idx[r.e+entryStart] = r.base + uint32(at)
	return at
}

// Root ends a message and returns its root.
func (r *XRow) Root(at int) XStruct {
	m := r.m
	m.root = r.root
	m.openHandle = 0
	r.commit(at)
	m.buf.Close()
	return m.handle(m.root)
}

// Into begins to write the fields of s, a struct that d describes, in place of its old ones.
func (r *XRow) Into(s XStruct, d *XDesc) int {
	if s.m == nil {
		panic(setterOfZero())
	}
	if !s.isNew(d) {
		s.changeable()
		at := r.New(d)
		r.m.untrack()
		r.s, r.d = s, d
		return at
	}
	if debugging {
		s.m.noteAllSet(s.entry())
	}
	r.begin(s.m)
	r.s, r.d, r.e, r.root = s, d, s.entry(), s.entry()
	return r.used - len(d.Template())
}

// isNew reports whether nothing was set in the struct, which d describes, since it was made, but
// fields of the template.
func (s XStruct) isNew(d *XDesc) bool {
	m, e := s.m, s.entry()
	return s.k == m.openHandle && !m.dead.compacted && m.idx[e+entryEnd] == 0 &&
		m.buf.Tail() == m.idx[e+entryStart]+uint32(len(d.Template())) && m.buf.InTail(m.idx[e+entryStart], 0)
}

// Done ends what Into began. Other fields of the struct stay as they are.
func (r *XRow) Done(at int, others ...XField) {
	if r.s.m != r.m {
		r.assign(at, others)
		return
	}
	r.commit(at)
	m := r.m
	m.open = m.open[:len(m.open)-1]
	if len(m.open) == 0 {
		m.buf.Close()
	}
	m.setOpenHandle()
}

// undo makes the struct that Into began what it was when it was made, since there is no room for
// more.
func (r *XRow) undo() {
	if s := r.s; r.f == 0 && s.m == r.m && s.m != nil {
		m, e := s.m, s.entry()
		start := m.idx[e+entryStart]
		clear(m.idx[e : e+uint32(r.d.Words())])
		copy(m.buf.At(start), r.d.Template())
		m.indexTemplate(r.d, e, start)
		m.indexWideTemplate(r.d, e, start)
	}
}

// assign gives the struct s the fields, but others, that were written into a message of their own.
func (r *XRow) assign(at int, others []XField) {
	from, s, d := r.Root(at), r.s, r.d
	for i := range d.Fields() {
		f, t := d.Field(i), d.Fields()[i].Type
		word := from.m.at(from.entry(), f)
		switch {
		case slices.Contains(others, f):
		case word != 0 && t.Kind() >= schema.Record:
			s.SetChild(f, d, from.Child(f, d))
		case word != 0 && t.Kind() == schema.Text:
			s.SetText(f, from.m.textString(word))
		case word != 0:
			copy(s.fixed(f, int(t.Size())), from.m.buf.At(word)[:t.Size()])
		case s.m.at(s.entry(), f) == 0:
		case d.Fields()[i].Req == XRequired:
			s.Reset(f, d)
		default:
			s.Unset(f)
		}
	}
	from.Release()
}

// Rows begins field f of s, a list of n structs. d describes s.
func (r *XRow) Rows(s XStruct, f XField, d *XDesc, n int) int {
	if s.m == nil {
		panic(setterOfZero())
	}
	checkCount(d.FieldOf(f).Type, n)
	m, e := s.m, s.entry()
	if s.k != m.openHandle || m.at(e, f) != 0 || d.IsUnion() || m.dead.compacted || m.flags&Lazy != 0 {
		if m, e = s.forRows(f, d), s.entry(); m != s.m {
			e = m.root
			r.stamp = s.m.buf.Stamp()
		}
	}
	r.begin(m)
	r.s, r.f, r.d, r.e = s, f, d, e
	at, c := r.list(r.used, f, d.FieldOf(f).Type, n)
	r.root = c
	return at
}

// forRows returns the message in which field f of s, which d describes, is to be written: that of
// s if it can be appended there, having made s the innermost struct; else a new one.
func (s XStruct) forRows(f XField, d *XDesc) *Message {
	s.changeable()
	m, e := s.m, s.entry()
	if m.at(e, f) == 0 && m.fieldNode(e, f) == 0 && !d.IsUnion() && !m.dead.compacted && m.flags&Lazy == 0 {
		m.openStruct(e)
		if m.openHandle == s.k {
			return m
		}
	}
	m = beginMessage(d, 0, 0).m
	m.untrack()
	return m
}

// list begins field f of the struct of entry e: a list of n structs, lists or texts of type t. It
// returns its entry, too. Elements that are structs come next.
func (r *XRow) list(at int, f XField, t *XType, n int) (int, uint32) {
	room := uint32(n)
	if t.Elem().Kind() == schema.Record {
		room = uint32(t.Elem().Struct().Words())
	}
	c := r.alloc(listWords + slotWords(t, n))
	at = r.fit(at, wire.FieldHeader+wire.ListHeader)
	binary.BigEndian.PutUint64(r.mem[at:], containerHeader(f.Header(), t.Elem().Wire(), uint32(n)))
	at += wire.FieldHeader + wire.ListHeader
	w := (*[listWords]uint32)(r.idx[c:])
	w[listStart] = r.base + uint32(at)
	w[listCount], w[listElems], w[listRoom], w[listType] = uint32(n), c+listWords, room, t.ID()
	if t.Elem().Kind() == schema.Record {
		r.e = c + listWords - room
	}
	return at, c
}

// Next begins the next element of a list, a struct whose entry has stride words.
func (r *XRow) Next(at int, stride uint32) int {
	r.e += stride
	r.idx[r.e+entryStart] = r.base + uint32(at)
	return at
}

// NextBy is Next after a user's function has run.
func (r *XRow) NextBy(at int, stride uint32) int {
	if m := r.m; m.openHandle != r.open || m.words != r.words || m.rows != r.nth || !m.buf.Unmoved(r.base, r.used) || r.s.m != m && r.changed() {
		panic("nocopy: message changed by the function that supplies the fields for it")
	}
	r.e += stride
	r.idx[r.e+entryStart] = r.base + uint32(at)
	return at
}

// changed reports whether the message of s, which is not m, has changed since Rows.
func (r *XRow) changed() bool {
	r.s.alive()
	return r.s.m.buf.Stamp() != r.stamp
}

// End ends what Rows began.
func (r *XRow) End(at int) {
	r.idx[r.root+listEnd] = r.base + uint32(at)
	r.commit(at)
	m, s := r.m, r.s
	if s.m == m {
		m.put(s.entry(), r.f, r.root)
		return
	}
	m.put(m.root, r.f, r.root)
	s.SetChild(r.f, r.d, m.handle(r.root))
	m.Release()
}

// Stop ends a struct.
func (r *XRow) Stop(at int) int {
	at = r.fit(at, 0)
	r.room(at)[0] = byte(WireStop)
	r.idx[r.e+entryEnd] = r.base + uint32(at)
	return at + 1
}

// StopOwed adds the required fields that are not set, and ends a struct, which d describes.
func (r *XRow) StopOwed(at int, d *XDesc) int {
	for _, f := range d.Owed() {
		if r.at(r.e, f.Ref()) == 0 {
			at = r.owed(at, f)
		}
	}
	return r.Stop(at)
}

func (r *XRow) owed(at int, f *schema.Field) int {
	m := r.m
	m.scratch = f.AppendDefault(m.scratch[:0])
	at = r.fit(at, wire.FieldHeader+len(m.scratch))
	b := r.mem[at:]
	wire.PutHeader(b, f.Header())
	copy(b[wire.FieldHeader:], m.scratch)
	p := r.base + uint32(at) + wire.FieldHeader
	if f.Kind() < schema.Record {
		r.set(f.Ref(), p)
	} else {
		m.laters = append(m.laters, later{word: r.e, f: f.Ref(), at: p, typ: f.Type})
		m.more = true
	}
	return at + wire.FieldHeader + len(m.scratch)
}

// Entry returns the entry of the struct that is being written, for Back and EndList.
func (r *XRow) Entry() uint32 { return r.e }

// enter notes that a nested struct, or a list of such, is begun. Values that contain themselves,
// by a pointer or a slice, would end the program otherwise: Go's stack is full then.
func (r *XRow) enter() {
	if r.depth++; r.depth > mostDepth {
		r.undo()
		panic(panicEndless)
	}
}

const panicEndless = "nocopy: values that contain themselves, or are nested too deeply"

// Struct begins field f, a struct that d describes.
func (r *XRow) Struct(at int, f XField, d *XDesc) int {
	r.enter()
	c := r.alloc(d.Words())
	at = r.fit(at, wire.FieldHeader)
	wire.PutHeader(r.mem[at:], f.Header())
	at += wire.FieldHeader
	r.set(f, c)
	r.e = c
	r.idx[c+entryStart] = r.base + uint32(at)
	return at
}

// Back continues the struct of entry e after a nested struct has ended.
func (r *XRow) Back(e uint32, at int) int {
	r.depth--
	r.e = e
	return at
}

// List begins field f, a list of n structs, of a struct that d describes.
func (r *XRow) List(at int, f XField, d *XDesc, n int) int {
	r.enter()
	t := d.FieldOf(f).Type
	e := r.e
	checkCount(t, n)
	at, c := r.list(at, f, t, n)
	r.idx[r.wordIn(e, f)] = c
	return at
}

// EndList ends the list in field f of the struct of entry e.
func (r *XRow) EndList(at int, e uint32, f XField) int {
	r.depth--
	r.e = e
	r.idx[r.at(e, f)+listEnd] = r.base + uint32(at)
	return at
}
