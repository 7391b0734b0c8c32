package engine

import (
	"iter"
	"slices"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// This file sets and removes fields: texts, what the setters of numbers call, and what setters of
// all fields ask before they change a message. It also has the fields that generated code does not
// read: unknown ones, further arms of a union, and those that package rpc adds to requests.

// SetText sets a string field. It copies a string shorter than 4 KiB and refers to any other.
func (s Struct) SetText(f schema.Ref, v string) {
	if s.m == nil {
		panic(setterOfZero())
	}
	m := s.m
	if f.Wide() || s.k != m.openHandle || !m.buf.Fits(len(v)) || m.ix.Near(uint32(s.k), f) != 0 {
		s.setText(f, v)
		return
	}
	m.ix.PutNear(uint32(s.k), f, index.Word(m.buf.Tail()+wire.FieldHeader))
	m.buf.AppendShort(uint64(f.Header())<<40|uint64(len(v))<<8, wire.FieldHeader+wire.TextHeader, v)
}

// setText sets a string field of a wide struct, or where the text can't simply be appended.
func (s Struct) setText(f schema.Ref, v string) {
	if m := s.m; f.Wide() && s.k == m.openHandle && m.buf.Fits(len(v)) {
		if m.ix.PutNew(uint32(s.k), f, index.Word(m.buf.Tail()+wire.FieldHeader)) {
			m.buf.AppendShort(uint64(f.Header())<<40|uint64(len(v))<<8, wire.FieldHeader+wire.TextHeader, v)
			return
		}
	}
	s.replaceText(f, v)
}

// replaceText is setText for a text that may replace another one. A small received message is
// copied with it.
func (s Struct) replaceText(f schema.Ref, v string) {
	m := s.m
	if len(v) >= memory.MaxSlabSize && s.replaceable(f, len(v)) || s.room(len(v)) {
		m.setText(s.field(f, schema.TypeString), memory.StringBytes(v), true)
		return
	}
	p := uint32(m.ix.At(uint32(s.k), f))
	if end := m.rewritable(p, len(v)); end != 0 {
		copy(m.rewriteText(p, end, len(v)), v)
		return
	}
	copy(s.newText(f, len(v)), v)
}

// SetBytes sets a binary field. It copies a v shorter than 4 KiB and refers to any other, which
// must not change until the message is released.
func (s Struct) SetBytes(f schema.Ref, v []byte) { s.SetText(f, memory.TextOf(v)) }

// NewBytes sets a binary field to n zero bytes and returns them. They may be filled until the
// message is finished. In an element of a set, or a key of a map, they must be filled before the
// next lookup of an element or key.
func (s Struct) NewBytes(f schema.Ref, n int) []byte {
	s.room(n)
	b := s.newText(f, n)
	clear(b)
	s.m.buf.Lend()
	if n > 0 {
		s.m.ownSeldom()
		s.m.handouts = append(s.m.handouts, handout{s.entry(), f, s.m.ix.At(s.entry(), f), b})
		s.m.ix.More = true
	}
	return b
}

// fixed returns where the n bytes of a fixed-size field are to be stored.
func (s Struct) fixed(f schema.Ref, n int) []byte {
	if s.m == nil {
		panic(setterOfZero())
	}
	s.alive()
	if debugging {
		s.m.noteSet(uint32(s.k), f)
	}
	m := s.m
	p := uint32(m.ix.At(uint32(s.k), f))
	if p == 0 && s.k == m.openHandle && !m.needsBeforeChange {
		return s.appendField(f, n)
	}
	if !m.needsBeforeChange && m.buf.Writable(p) {
		return m.buf.At(p)[:n:n]
	}
	s.Changeable()
	if b := m.inPlace(uint32(m.ix.At(uint32(s.k), f)), n); b != nil {
		return b
	}
	return s.newField(f, n)
}

// appendField appends an unset field of n bytes to s, the innermost open struct. It returns where
// the bytes are to be stored.
func (s Struct) appendField(f schema.Ref, n int) []byte {
	p, b := s.m.buf.Extend(wire.FieldHeader + n)
	wire.PutHeader(b, f.Header())
	s.m.ix.Put(uint32(s.k), f, index.Word(p+wire.FieldHeader))
	return b[wire.FieldHeader : wire.FieldHeader+n]
}

// fewWords bounds the words of an index in which rewriteText looks for positions to move.
const fewWords = 256

// rewritable returns where the text that word p stands for ends, if rewriteText can make it one of
// n bytes; else 0. The text must be set and in no node, and the whole message received and small.
// A message that was compacted is not copied: its index may have words that look like positions
// and are none.
func (m *Message) rewritable(p uint32, n int) (end uint32) {
	if p == 0 || index.Word(p).IsNode() || m.ix.Used > fewWords || m.ix.HasTables || len(m.duplicates) > 0 || m.ix.Reuses {
		return 0
	}
	end = p + wire.TextHeader + wire.BE32(m.buf.At(p))
	if wire.TextHeader+n > m.buf.MostRewritten(p, end) {
		return 0
	}
	return end
}

// rewriteText changes the size of the text from position p to end to n bytes by copying the
// message. It returns the new bytes, to be filled.
func (m *Message) rewriteText(p, end uint32, n int) []byte {
	b, moved := m.buf.Rewrite(p, end, wire.TextHeader+n)
	m.ix.MovePositions(chain.FirstPos, p, moved, moved+p+uint32(len(b))-end)
	wire.PutBE32(b, uint32(n))
	return b[wire.TextHeader:]
}

// room panics unless the struct or container may be changed by a value of n bytes. If there are
// positions for these only then, the message is compacted first. room reports whether texts of
// together n bytes may be referred to instead of copied.
func (s Struct) room(n int) (refer bool) {
	if n < 0 || n > chain.MaxSize {
		panic("nocopy: length " + strconv.Itoa(n) + " out of range")
	}
	s.Changeable()
	if n >= memory.MaxSlabSize {
		s.positions(n)
	}
	return n >= ReferSize && s.m.mayRefer(0, n)
}

// replaceable reports whether a large text of n bytes that becomes field f gets the positions of
// the text that it replaces. Otherwise a message near the limit would be compacted again and
// again. It panics unless the struct may be changed.
func (s Struct) replaceable(f schema.Ref, n int) bool {
	s.writable()
	return s.m.exchangeable(s.m.ix.At(s.entry(), f), n)
}

// exchangeable reports whether a large text of n bytes can get the positions of the text of this
// word, which must be referred to.
func (m *Message) exchangeable(word index.Word, n int) bool {
	return word.IsNode() && m.buf.Exchangeable(word.Node(), n) && !m.ix.Full && m.buf.RoomToChange(0)
}

// positions panics unless there are positions for a change of n bytes, perhaps after compacting.
func (s Struct) positions(n int) {
	if s.m.buf.RoomToChange(n) {
		return
	}
	if n > s.m.buf.RoomOnceCompacted() {
		panic(panicFull)
	}
	s.m.compact(false)
	if s.gone() {
		panic(panicGone)
	}
}

// openField makes the bytes that are appended next, field header first, the field f. There are n
// of them at first.
func (s Struct) openField(f schema.Ref, n int) {
	s.room(n)
	if node := s.m.nodeFor(uint32(s.k), f); node != 0 {
		s.m.openNode(node)
	}
}

// Which returns the number of the field that is set in a union, or 0. If several came on the wire,
// it is the last.
func (s Struct) Which() int32 {
	if s.m == nil {
		return 0
	}
	s.alive()
	return int32(s.m.ix.ArmField(s.entry()))
}

// Arm makes f the only field of a union that is set, and removes any other, known or unknown. It
// is called after the field was set: if the setter panics, the other fields stay. The methods that
// set a field and have a parameter d call Arm themselves. d describes s.
func (s Struct) Arm(f schema.Ref, d *schema.Struct) Struct {
	s.writable() // not changeable: memory that the setter has just returned stays where it is
	m, e := s.m, s.entry()
	for i := m.ix.Next(d, e, 0); i < len(d.Fields()); i = m.ix.Next(d, e, i+1) {
		if other := d.Field(i); other.Word() != f.Word() && m.ix.At(e, other) != 0 {
			s.Unset(other)
		}
	}
	if m.ix.Arm(e).HasExtra() {
		m.unsetExtra(e)
	}
	m.ix.SetArm(e, index.Word(f.Number()))
	return s
}

// unsetExtra removes the fields of a union that no word stands for.
func (m *Message) unsetExtra(e uint32) {
	for w := m.ix.Arm(e); w.HasExtra(); {
		at, end, next := m.ix.Extra(w)
		m.buf.AddReplace(at, end)
		w = next
	}
	m.ix.FreeExtra(m.ix.Arm(e))
}

// UnsetArm removes the field f of a union.
func (s Struct) UnsetArm(f schema.Ref) {
	s.Unset(f)
	e := s.entry()
	if s.m.ix.ArmField(e) == f.Number() {
		s.m.ix.SetArmField(e, s.m.ix.LastArm(e, f.Words(), f.Wide()))
	}
}

// WireIn returns the wire bytes of s, a handle of type t, and whether they are in one piece. They
// alias the message until its next change or Release. WireIn completes the values that are being
// built in s.
func (s Struct) WireIn(t *schema.Type) ([]byte, bool) {
	s = s.orAbsent()
	if s.m.isEmpty() {
		return nil, false
	}
	s.m.closeAllUnlessSealed()
	return s.m.flat(s.entry(), t)
}

// AppendUnknown adds a field that is unknown to d, the descriptor of s, or that has another type
// there. Its wire bytes, which must be valid, are sent with the struct. In a union it does not
// become the field that is set.
func (s Struct) AppendUnknown(d *schema.Struct, id int16, v WireValue) {
	s.room(len(v.b))
	m, e := s.m, s.entry()
	m.openStruct(e)
	p, b := m.buf.Extend(wire.FieldHeader + len(v.b))
	wire.PutHeader(b, uint32(v.Type)<<16|uint32(uint16(id)))
	copy(b[wire.FieldHeader:], v.b)
	if d.IsUnion() {
		m.ix.AddExtra(m.ix.AllocRaw(index.ExtraWords), e, p, p+uint32(wire.FieldHeader+len(v.b)), m.ix.ArmField(e))
	}
}

// Clear removes everything from s, which d describes, including unknown fields and fields that
// came twice. Afterwards s lacks its required fields, which the caller must set.
func (s Struct) Clear(d *schema.Struct) {
	s.Changeable()
	m, e := s.m, s.entry()
	m.closeAll() // first, since it adds fields that are required or have a default
	for i := m.ix.Next(d, e, 0); i < len(d.Fields()); i = m.ix.Next(d, e, i+1) {
		s.Unset(d.Field(i))
	}
	if d.IsUnion() {
		if m.ix.Arm(e).HasExtra() {
			m.unsetExtra(e)
		}
		m.ix.SetArm(e, 0)
		return
	}
	b, one := m.flat(e, d.Type())
	if !one {
		if !s.anyUnknown(d) {
			return
		}
		m.compact(false)
		if b, one = m.flat(e, d.Type()); !one {
			panic("nocopy: internal error: a compacted struct in pieces")
		}
	}
	from := m.ix.StartOf(e)
	for f := range parse.Fields(b) {
		m.buf.AddReplace(from+uint32(f.From), from+uint32(f.End))
	}
}

// Unset removes the field.
func (s Struct) Unset(f schema.Ref) {
	// Not changeable: compacting would complete the struct, adding defaults that are removed then
	s.writable()
	m, e := s.m, uint32(s.k)
	if m.ix.At(e, f) != 0 {
		m.buf.SetEmpty(m.replaceField(e, f))
		m.ix.Put(e, f, 0)
		m.removeDuplicates()
	}
}

// anyUnknown reports whether s has fields that d does not have.
func (s Struct) anyUnknown(d *schema.Struct) bool {
	for range s.Unknown(d) {
		return true
	}
	return false
}

// Unknown iterates over the fields of s that its descriptor d does not have, or has with another
// type. They come with their ids, are kept, and are sent with the struct. The values alias the
// message if the struct was not edited. A wire index is not among them.
func (s Struct) Unknown(d *schema.Struct) iter.Seq2[int16, WireValue] {
	return func(yield func(int16, WireValue) bool) {
		s := s.orAbsent()
		s.alive()
		if s.m.isEmpty() {
			return
		}
		if s.m.pending&byIndex != 0 && s.m.Index() != nil {
			return
		}
		s.m.closeAllUnlessSealed()
		b, one := s.m.flat(s.entry(), someStruct)
		s.m.buf.Lend()
		if !one {
			b = s.m.rangeOf(s.entry(), someStruct).AppendTo(nil)
		}
		known := func(header uint32, at int) int {
			if !one {
				return 0
			}
			return s.m.indexed(s.entry(), d.Find(header), s.m.ix.StartOf(s.entry())+uint32(at))
		}
		for w := range parse.FieldsBy(b, known) {
			f := d.Find(w.Header)
			if (f == nil || !parse.Takes(b, f.Type, w.At)) && w.Header != wireindex.Header &&
				!yield(int16(w.Header), WireValue{wire.Type(w.Header >> 16), b[w.At:w.End:w.End]}) {
				return
			}
		}
	}
}

// ContainerWire returns the wire bytes of a list, set or map: an alias if they are in one piece,
// else a copy; nil if it is absent. Values that are being built in it are completed.
func (s Struct) ContainerWire() []byte {
	s = s.orAbsent()
	s.alive()
	if s.m.isEmpty() {
		return nil
	}
	t := s.typ()
	if s.m.pending&byIndex != 0 && !s.m.fillByIndex(s.entry()) {
		return nil
	}
	s.m.closeAllUnlessSealed()
	s.m.buf.Lend()
	return slices.Clip(s.m.wire(s.entry(), t))
}

// CarriesIndex reports whether the finished message of s has a wire index in a field of its root.
// When other fields are added for sending, the index must be left out.
func (s Struct) CarriesIndex() bool {
	return s.m != nil && s.m.pending&(carriesIndex|placedIndex) != 0
}

// FindField finishes the message of s, its root, and returns the value of the first field with
// this id, and whether there is one. It allocates nothing, however many such fields there are.
func (s Struct) FindField(id int16) (first WireValue, ok bool) {
	if s = s.finished(); s.m == nil {
		return first, false
	}
	var few [4]rootPiece
	w := rootWalk{m: s.m, pieces: appendPieces(few[:0], &s.m.buf)}
	if w.find(id) {
		first = w.value()
	}
	return first, first.Type != wire.Stop
}

// AddOpen adds the wire bytes of the message of s to a batch, without the parts in cuts and
// without the STOP; fields and a STOP may follow. The message must be finished. It must be neither
// changed nor released before the batch is written.
func (s Struct) AddOpen(b *chain.Batch, cuts []Cut) {
	m := s.m
	end, off, from := m.buf.Len()-1, 0, 0 // of the STOP, of mem, and of the next byte to add
	m.buf.Pieces(func(_ chain.Pos, mem []byte) bool {
		for n := min(off+len(mem), end); from < n; {
			to := n
			if len(cuts) > 0 {
				to = min(n, cuts[0].From)
			}
			if from < to {
				b.AddBytes(mem[from-off : to-off])
			}
			if from = to; len(cuts) > 0 && from == cuts[0].From {
				from, cuts = cuts[0].To, cuts[1:]
			}
		}
		off += len(mem)
		return true
	})
}

// HasType reports whether data is exactly one value of type t.
func HasType(t wire.Type, data []byte) bool {
	if wire.MinSize[t] == 0 {
		return false
	}
	n, err := parse.Skip(data, 0, t, parse.BudgetOf(parse.MaxDepth), 1)
	return err == nil && n == len(data)
}

// ValueOfWire returns the value of type t with these wire bytes, and refers to them.
func ValueOfWire(t wire.Type, data []byte) WireValue {
	return WireValue{t, data[:len(data):len(data)]}
}
