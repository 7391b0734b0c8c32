package nocopy

import (
	"math"

	"github.com/nocopythrift/nocopythrift/internal/entry"
)

// A far struct has 15 to 57 fields, a far union 14 to 57: an entry with a word for each would take
// more than 64 bytes, but they are too few for it to be wide. A word of its entry, awayWord, tells
// how many words further on the words of its fields are than if they followed the entry. That is
// 0, they do follow, unless the message is sparse.
//
// An empty struct in a list is one byte on the wire. The default limit of the index is 64 bytes
// for each byte of input, and a hostile message may have many such structs. So a message whose
// index would exceed its limit is parsed again, as a sparse one: far structs without a field, in a
// list, a map or a field, get an entry without words for fields, and refer to words of the message
// that are 0 for ever (noWords). The first field that is set in such a struct gives it words of
// its own, elsewhere in the index.

const (
	awayWord = entry.Away // how many words further on the words of the fields are
	farWords = entry.FarWords
)

// far reports whether the field is of a far struct.
func (f XField) far() bool { return f&entry.Far != 0 }

// near reports whether the field is of a struct that is neither far nor wide.
func (f XField) near() bool { return f&(entry.Far|entry.Wide) == 0 }

// putFar sets the word of field f of the far struct of entry e.
func (m *Message) putFar(e uint32, f XField, word uint32) {
	if word == 0 && m.hasNoWords(e) {
		return
	}
	*m.farSlot(e, f) = word
}

// farSlot returns a pointer to the word of field f of the far struct of entry e, which the caller
// sets. It first gives words to a struct that has none. The pointer is good until the index grows.
func (m *Message) farSlot(e uint32, f XField) *uint32 {
	if m.hasNoWords(e) {
		words := m.allocRaw(int(f.words()))
		m.idx[e+awayWord] = words - e
	}
	return &m.idx[e+m.idx[e+awayWord]+f.word()]
}

// hasNoWords reports whether the far struct of entry e has no words for its fields.
func (m *Message) hasNoWords(e uint32) bool {
	return m.noWords != 0 && e+m.idx[e+awayWord] == m.noWords
}

// sparseWords is how many words of the index a sparse message has for empty far structs.
const sparseWords = farWords + entry.MaxDirect

// makeSparse makes the message sparse.
func (m *Message) makeSparse() {
	m.noWords = m.alloc(sparseWords)
	m.zeroed = 0 // the parser does not update it
}

// makeSparseLike makes the message sparse if from is sparse. It is called before a value of from
// is indexed in this message, where it may need as little index as in from.
func (m *Message) makeSparseLike(from *Message) {
	if from.noWords != 0 && m.noWords == 0 {
		m.makeSparse()
	}
}

// fillWithoutWords fills the entry of an empty far struct, whose STOP is at position p.
func (m *Message) fillWithoutWords(e, p uint32) {
	w := m.idx[e:][:farWords]
	w[entryStart], w[entryEnd], w[unionWord], w[awayWord] = p, p, 0, m.noWords-e
}

// entryToFill returns the entry that the parser fills with the struct of type d that is to replace
// that of entry e. The parser needs the words of the fields after the entry: so it is e itself if
// e has them there, else another, which referTo makes e refer to when it has been filled.
func (m *Message) entryToFill(d *XDesc, e uint32) uint32 {
	switch {
	case !d.far || m.idx[e+awayWord] == 0:
		return e
	case m.hasNoWords(e):
		return m.allocRaw(d.words)
	}
	return e + m.idx[e+awayWord]
}

// freeAway frees the words of the fields of the far struct of entry e if they are its own and do
// not follow it. The struct has none then.
func (m *Message) freeAway(d *XDesc, e uint32) {
	if away := m.idx[e+awayWord]; away != 0 && !m.hasNoWords(e) {
		m.dead.freeRaw(e+away, d.span())
		m.idx[e+awayWord] = m.noWords - e
	}
}

// ownWords returns how many words the entry e of a struct has, with those of its fields only if
// they follow it.
func (m *Message) ownWords(d *XDesc, e uint32) uint32 {
	if d.far && m.idx[e+awayWord] != 0 {
		return farWords
	}
	return uint32(d.words)
}

// referTo makes entry e, of a far struct, refer to the words of the fields of entry to, which
// entryToFill returned and the parser has filled. The other words of to are copied to e. Shadows
// before this number are of other structs. If both entries are the same it does nothing.
func (m *Message) referTo(e, to uint32, shadows int) {
	if e == to {
		return
	}
	copy(m.idx[e:e+awayWord], m.idx[to:to+awayWord])
	m.idx[e+awayWord] = to - e
	for i := shadows; i < len(m.shadows.all); i++ {
		if s := &m.shadows.all[i]; s.e == to {
			s.e = e
		}
	}
}

// For generated code. XFar is the handle of a far struct, which has more than entry.MostNear words
// and at most entry.MaxDirect fields. Its getters identify a field by the number of its word.
// XStruct has all other accessors.
type XFar XStruct

// Has reports whether the field is set.
func (s XFar) Has(word uint32) bool {
	if s.m == nil {
		return false
	}
	return s.at(word) != 0
}

// at returns the word of the field with this word number. It panics if the handle is stale. s must
// not be the zero handle.
func (s XFar) at(word uint32) uint32 {
	if s.k>>32 != s.m.gen {
		panic(staleUse(s))
	}
	return s.m.idx[uint32(s.k)+s.m.idx[uint32(s.k)+awayWord]+word]
}

// Bool returns a bool field, or false if it is not set.
func (s XFar) Bool(word uint32) bool { return s.Int8(word) != 0 }

// Int8 returns an i8 field, or 0 if it is not set. (This getter and the next ones are written for
// the compiler, which inlines them only just.)
func (s XFar) Int8(word uint32) int8 {
	if m := s.m; m != nil {
		if s.k>>32 != m.gen {
			panic(staleUse(s))
		}
		return int8(m.buf.Load1(m.idx[uint32(s.k)+m.idx[uint32(s.k)+awayWord]+word]))
	}
	return 0
}

// Int16 returns an i16 field, or 0 if it is not set.
func (s XFar) Int16(word uint32) int16 {
	if m := s.m; m != nil {
		if s.k>>32 != m.gen {
			panic(staleUse(s))
		}
		return int16(m.buf.Load2(m.idx[uint32(s.k)+m.idx[uint32(s.k)+awayWord]+word]))
	}
	return 0
}

// Int32 returns an i32 or enum field, or 0 if it is not set.
func (s XFar) Int32(word uint32) int32 {
	if m := s.m; m != nil {
		if s.k>>32 != m.gen {
			panic(staleUse(s))
		}
		return int32(m.buf.Load4(m.idx[uint32(s.k)+m.idx[uint32(s.k)+awayWord]+word]))
	}
	return 0
}

// Int64 returns an i64 field, or 0 if it is not set.
func (s XFar) Int64(word uint32) int64 {
	if m := s.m; m != nil {
		if s.k>>32 != m.gen {
			panic(staleUse(s))
		}
		return int64(m.buf.Load8(m.idx[uint32(s.k)+m.idx[uint32(s.k)+awayWord]+word]))
	}
	return 0
}

// Float64 returns a double field, or 0 if it is not set.
func (s XFar) Float64(word uint32) float64 {
	if m := s.m; m != nil {
		if s.k>>32 != m.gen {
			panic(staleUse(s))
		}
		return math.Float64frombits(m.buf.Load8(m.idx[uint32(s.k)+m.idx[uint32(s.k)+awayWord]+word]))
	}
	return 0
}

// UUID returns a uuid field, or zeros if it is not set.
func (s XFar) UUID(word uint32) (v UUID) {
	if s.m != nil {
		v = UUID(s.m.buf.At(s.at(word))[:16])
	}
	return
}

// BoolOr returns a bool field, or def, its IDL default, if it is not set.
func (s XFar) BoolOr(word uint32, def bool) bool {
	if !s.Has(word) {
		return def
	}
	return s.Bool(word)
}

// Int8Or returns an i8 field, or def if it is not set.
func (s XFar) Int8Or(word uint32, def int8) int8 {
	if !s.Has(word) {
		return def
	}
	return s.Int8(word)
}

// Int16Or returns an i16 field, or def if it is not set.
func (s XFar) Int16Or(word uint32, def int16) int16 {
	if !s.Has(word) {
		return def
	}
	return s.Int16(word)
}

// Int32Or returns an i32 or enum field, or def if it is not set.
func (s XFar) Int32Or(word uint32, def int32) int32 {
	if !s.Has(word) {
		return def
	}
	return s.Int32(word)
}

// Int64Or returns an i64 field, or def if it is not set.
func (s XFar) Int64Or(word uint32, def int64) int64 {
	if !s.Has(word) {
		return def
	}
	return s.Int64(word)
}

// Float64Or returns a double field, or def if it is not set.
func (s XFar) Float64Or(word uint32, def float64) float64 {
	if !s.Has(word) {
		return def
	}
	return s.Float64(word)
}

// UUIDOr returns a uuid field, or def if it is not set.
func (s XFar) UUIDOr(word uint32, def UUID) UUID {
	if !s.Has(word) {
		return def
	}
	return s.UUID(word)
}

// Text returns a string field, or "" if it is not set. The string aliases the message and stays
// valid after Release, unless the message was made with Recycle.
func (s XFar) Text(word uint32) string {
	if s.m == nil {
		return ""
	}
	return s.m.textString(s.at(word))
}

// TextOr returns a string field as Text does, or def if it is not set.
func (s XFar) TextOr(word uint32, def string) string {
	if !s.Has(word) {
		return def
	}
	return s.Text(word)
}

// Bytes returns a binary field, or nil if it is not set. It aliases the message as Text does, and
// must not be changed.
func (s XFar) Bytes(word uint32) []byte {
	if !s.Has(word) {
		return nil
	}
	s.m.buf.Lend()
	return s.m.textBytes(s.at(word))
}

// BytesOr returns a binary field as Bytes does, or a copy of def if it is not set.
func (s XFar) BytesOr(word uint32, def string) []byte {
	if !s.Has(word) {
		return []byte(def)
	}
	return s.Bytes(word)
}
