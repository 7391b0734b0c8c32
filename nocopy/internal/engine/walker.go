package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Walker is a Message as package render goes through it: by the words of its index. The word of a
// struct or container is its entry; 0 stands for an absent one.
type Walker Message

// WalkerOf returns the message of s and the word of s. It panics if the message was released.
func WalkerOf(s Struct) (*Walker, uint32) {
	if s.m == nil {
		s = Absent()
	}
	s.alive()
	return (*Walker)(s.m), s.entry()
}

// Message returns the message.
func (w *Walker) Message() *Message { return (*Message)(w) }

// Handle returns the handle of a struct or container.
func (w *Walker) Handle(e uint32) Struct { return w.Message().handle(e) }

// Next returns the number of the first field from number i on that may be set.
func (w *Walker) Next(d *schema.Struct, e uint32, i int) int {
	if !d.IsWide() {
		return i
	}
	return (*Message)(w).ix.NextWide(d, e, i)
}

// Arm returns what Word of the field that is set of a union returns; 0 if none is set.
func (w *Walker) Arm(e uint32) uint32 { return w.ix.Words[w.Message().ix.ArmWord(e)] }

// NotIndexed marks words of containers that Lazy has left for later. Field indexes them.
const NotIndexed = index.NotIndexed

// Word returns the word of a field as the index has it.
func (w *Walker) Word(e uint32, f schema.Ref) uint32 {
	if int32(f) < 0 { // as in at: written so, it is inlined
		return (*Message)(w).ix.AtWide(e, f)
	}
	return w.ix.Words[e+uint32(f>>entry.WordShift)]
}

// Field returns the word of a field, having indexed it.
func (w *Walker) Field(e uint32, f *schema.Field) uint32 {
	word := w.Word(e, f.Ref())
	if f.Kind() >= schema.Record && word&NotIndexed != 0 {
		word = w.Message().indexLazily(f, e)
	}
	return word
}

// Fixed returns the bytes that a value of fixed size begins.
func (w *Walker) Fixed(word uint32) []byte { return w.Message().fixedValue(word) }

// Text returns the bytes of a string or binary. They are good until the next change.
func (w *Walker) Text(word uint32) []byte {
	if s, ok := w.buf.FlatText(word); ok {
		return chain.StringBytes(s)
	}
	if word == 0 { // not on the wire yet
		return nil
	}
	return w.Message().textBytes(word)
}

// Wire returns the wire bytes of a struct or container. They are good until the next change.
func (w *Walker) Wire(e uint32, t *schema.Type) []byte { return w.Message().wire(e, t) }

// Len returns the number of elements of a list or set, or of pairs of a map, with those that were
// removed.
func (w *Walker) Len(e uint32) uint32 {
	if e == 0 {
		return 0
	}
	return w.ix.Words[e+listCount]
}

// Element returns the word of element i of a list or set of type t.
func (w *Walker) Element(t *schema.Type, e, i uint32) uint32 {
	if t.Elem().Kind() == schema.Fixed {
		return w.ix.Words[e+listStart] + i*uint32(t.Elem().Size())
	}
	return w.Message().elementEntry(e, t.Elem(), i)
}

// FixedElement returns the bytes from element i of a list or set on. Each element has size bytes.
func (w *Walker) FixedElement(e, i, size uint32) []byte {
	return w.buf.At(w.ix.Words[e+listStart] + i*size)
}

// TextElement returns the word of element i of a list or set of strings or binaries.
func (w *Walker) TextElement(e, i uint32) uint32 { return w.ix.Words[w.ix.Words[e+listElems]+i] }

// Pair returns the words of the key and the value of pair i of a map. The key's is 0 if the pair
// was removed.
func (w *Walker) Pair(e, i uint32) (key, value uint32) {
	slot := w.ix.Words[e+listElems] + i*pairWords
	return w.ix.Words[slot], w.ix.Words[slot+pairValue]
}

// AnyRepeated reports whether a key of a map of type t comes more than once. Keys that are structs
// or containers are not looked at.
func (w *Walker) AnyRepeated(e uint32, t *schema.Type) bool {
	return e != 0 && w.Message().repeated(e, t) > 0
}

// Repeated reports whether the key of pair i of a map of type t comes again later.
func (w *Walker) Repeated(e uint32, t *schema.Type, i uint32) bool {
	return w.Message().isRepeated(e, t, i)
}
