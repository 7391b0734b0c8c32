package nocopy

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// StructList is a list or set of structs. In a list that is being built, At returns the element to
// be filled.
//
// A handle from At stands for the element's place: after Set(i, v) it reads the copy of v. For
// example, take x := l.At(0): after l.Set(0, l.At(1)), the call l.Set(1, x) makes both elements
// the same; Swap exchanges them. Swap, SortFunc, Delete and DeleteFunc move elements together
// with their handles. Handles of deleted elements read the old values.
type StructList[S View] engine.Struct

// Wire returns the list's wire bytes: the type and number of its elements, then the elements. It
// returns nil if the list is absent, or invalid in a message parsed with ByIndex. Wire completes
// what is being built in the list.
//
// The bytes alias the message if they are in one piece. Otherwise, as in a message that was
// received in blocks or edited, they are a copy. They must not be changed. They are valid until
// the next change of the message and, with Recycle, until Release.
//
// Used as keys of a Go map, the bytes tell lists apart: lists of one type with the same bytes are
// equal. Equal lists may still differ in bytes, for example in the order of fields.
func (l StructList[S]) Wire() []byte { return engine.Struct(l).ContainerWire() }

// At returns a handle of the place of element i; see StructList. The elements of a list made with
// NewX(n) may be filled in any order; ascending order is cheapest.
func (l StructList[S]) At(i int) S { return S(engine.Struct(l).StructAt(i)) }

// Set sets element i to a copy of v. It links v's bytes if they are many. Later changes of v do
// not show. Older handles of the element read the new one.
func (l StructList[S]) Set(i int, v S) { engine.Struct(l).SetViewAt(i, engine.Struct(v)) }

// Append adds a copy of v at the end. It links v's bytes if they are many. Later changes of v do
// not show.
func (l StructList[S]) Append(v S) { engine.Struct(l).AppendView(engine.Struct(v)) }

// AppendNew adds an empty element at the end and returns it to be filled.
func (l StructList[S]) AppendNew() S { return S(engine.Struct(l).AppendNewView(0)) }

// All iterates over indices and elements.
func (l StructList[S]) All() iter.Seq2[int, S] { return l.each }

// each calls yield with every element. (All only returns this function. A loop body then stays a
// function of its own, and the calls in it are inlined. If the body itself were inlined into this
// loop, they would not be.)
//
//go:noinline
func (l StructList[S]) each(yield func(int, S) bool) {
	n := l.Len()
	if n == 0 {
		return
	}
	s, stride := engine.Struct(l).First()
	if stride == 0 {
		l.eachByAt(yield)
		return
	}
	for i := range n {
		if !yield(i, S(s)) {
			return
		}
		s = s.Next(stride)
	}
}

// eachByAt calls yield with every element of a list that is being built or was added to.
func (l StructList[S]) eachByAt(yield func(int, S) bool) {
	engine.Struct(l).FillByIndex()
	for i := range l.Len() {
		if i >= l.Len() || !yield(i, l.At(i)) {
			return
		}
	}
}
