package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Wide is the handle of a wide struct, which has more than entry.MaxDirect
// fields. It has the getters of one field. Struct has all other accessors.
type Wide Struct

// word returns the field's word in the index, having checked that the handle is alive. It must not
// be zero.
func (s Wide) word(f schema.Ref) uint32 { return index.TableAt(s.m.ix.Words, s.table(), f) }

// table returns the number of the struct's table, having checked that the handle is alive. It must
// not be zero.
func (s Wide) table() uint32 {
	if s.k>>32 != s.m.gen {
		panic(panicStale)
	}
	return s.m.ix.Words[uint32(s.k)+entry.Table]
}

// lacks reports whether it is certain that the field is not in table t; of a table of two levels
// it never is. Getters ask this first, since most fields are not set, and it is inlined.
func (s Wide) lacks(t uint32, f schema.Ref) bool {
	n := f.Word()
	return f.Words() <= entry.FlatWords && (t == 0 || s.m.ix.Words[t+entry.TableGroups+n>>entry.GroupLog*entry.GroupWords]>>(n&entry.GroupMask)&1 == 0)
}

// Has reports whether the field is set.
func (s Wide) Has(f schema.Ref) bool {
	if s.m == nil {
		return false
	}
	t := s.table()
	if s.lacks(t, f) {
		return false
	}
	return index.TableAt(s.m.ix.Words, t, f) != 0
}

// HasFlat is Has for a struct of at most entry.FlatWords words, whose table has one level. It is
// inlined.
func (s Wide) HasFlat(f schema.Ref) bool {
	if s.m == nil {
		return false
	}
	if s.k>>32 != s.m.gen {
		panic(panicStale)
	}
	t := s.m.ix.Words[uint32(s.k)+entry.Table]
	n := uint32(f >> entry.WordShift)
	return t != 0 && s.m.ix.Words[t+entry.TableGroups+n>>entry.GroupLog*entry.GroupWords]>>(n&entry.GroupMask)&1 != 0
}

// Text returns a string field, or "" if it is not set. The string aliases the message and stays
// valid after Release, unless the message was made with Recycle.
func (s Wide) Text(f schema.Ref) string {
	if s.m == nil {
		return ""
	}
	t := s.table()
	if s.lacks(t, f) {
		return ""
	}
	word := index.TableAt(s.m.ix.Words, t, f)
	if text, ok := s.m.buf.FlatText(word); ok {
		return text
	}
	return s.m.lendText(word)
}

// Bytes returns a binary field, or nil if it is not set. It aliases the message as Text does, and
// must not be changed.
func (s Wide) Bytes(f schema.Ref) []byte {
	if !s.Has(f) {
		return nil
	}
	s.m.buf.Lend()
	return s.m.textBytes(s.word(f))
}

// NextField returns the number of the first field from field i on that may be set in s, or
// d.NumFields(). d describes s.
func (s Struct) NextField(d *schema.Struct, i int) int {
	if s.m == nil {
		return i
	}
	s.alive()
	if d.IsWide() {
		return s.m.ix.NextWide(d, s.entry(), i)
	}
	words := s.m.ix.Words[s.entry()+d.First():][:len(d.Fields())]
	for i < len(words) && words[i] == 0 {
		i++
	}
	return i
}
