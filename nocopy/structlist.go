package nocopy

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
)

// StructList is a list or set of structs. In a list that is being built, At returns the element to
// be filled.
//
// A handle from At stands for the element's place: after Set(i, v) it reads the copy of v. For
// example, take x := l.At(0): after l.Set(0, l.At(1)), the call l.Set(1, x) makes both elements
// the same; Swap exchanges them. Swap, SortFunc and Delete move elements together with their
// handles. Handles of deleted elements read the old values.
type StructList[S View] engine.Struct

// Len returns the number of elements.
func (l StructList[S]) Len() int { return engine.Struct(l).ListLen() }

// String returns the elements as compact, readable text.
func (l StructList[S]) String() string { return render.ContainerText(engine.Struct(l), "[]") }

// Equal reports whether l and m have equal elements, as messages.Equal does without options. In
// sets the order does not matter.
func (l StructList[S]) Equal(m StructList[S]) bool {
	return render.EqualContainers(engine.Struct(l), engine.Struct(m))
}

// ThriftStruct returns the handle for packages that work on messages of any type.
func (l StructList[S]) ThriftStruct() engine.Struct { return engine.Struct(l) }

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
func (l StructList[S]) Set(i int, v S) { engine.Struct(l).SetStructAt(i, engine.Struct(v)) }

// Append adds a copy of v at the end. It links v's bytes if they are many. Later changes of v do
// not show.
func (l StructList[S]) Append(v S) { engine.Struct(l).AppendStructOf(engine.Struct(v)) }

// AppendNew adds an empty element at the end and returns it to be filled.
func (l StructList[S]) AppendNew() S { return S(engine.Struct(l).AppendNewStruct()) }

// Swap exchanges elements i and j without copying their contents. Handles move with their
// elements.
func (l StructList[S]) Swap(i, j int) { engine.Struct(l).Swap(i, j) }

// Delete removes the elements from i to j-1, as slices.Delete does. It copies no contents. Unless
// i is 0, it moves the elements after them in the index.
func (l StructList[S]) Delete(i, j int) { engine.Struct(l).DeleteRange(i, j) }

// Truncate removes all elements except the first n.
func (l StructList[S]) Truncate(n int) { engine.Struct(l).DeleteRange(n, l.Len()) }

// SortFunc sorts the elements by cmp, as slices.SortFunc does. cmp must not change the list.
func (l StructList[S]) SortFunc(cmp func(a, b S) int) {
	engine.SortElements(engine.Struct(l), engine.HandleOf[S], cmp)
}

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

// Contains reports whether an element has the same wire bytes as v.
func (l StructList[S]) Contains(v S) bool { return engine.Struct(l).ContainsValue(engine.Struct(v)) }

// Add appends v unless Contains(v) is true.
func (l StructList[S]) Add(v S) {
	if !l.Contains(v) {
		l.Append(v)
	}
}
