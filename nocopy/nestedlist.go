package nocopy

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
)

// NestedList is a list or set of lists, sets or maps; C is the type of an element. Swap, Delete
// and SortFunc move elements together with their handles. Handles of deleted or replaced elements
// read the old values.
type NestedList[C View] engine.Struct

// Len returns the number of elements.
func (l NestedList[C]) Len() int { return engine.Struct(l).ListLen() }

// String returns the elements as compact, readable text.
func (l NestedList[C]) String() string { return render.ContainerText(engine.Struct(l), "[]") }

// Equal reports whether l and m have equal elements, as messages.Equal does without options. In
// sets the order does not matter.
func (l NestedList[C]) Equal(m NestedList[C]) bool {
	return render.EqualContainers(engine.Struct(l), engine.Struct(m))
}

// ThriftStruct returns the handle for packages that work on messages of any type.
func (l NestedList[C]) ThriftStruct() engine.Struct { return engine.Struct(l) }

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l NestedList[C]) Wire() []byte { return engine.Struct(l).ContainerWire() }

// At returns element i.
func (l NestedList[C]) At(i int) C { return C(engine.Struct(l).ContainerAt(i)) }

// Set sets element i to a copy of v. It links v's bytes if they are many. Later changes of v do
// not show.
func (l NestedList[C]) Set(i int, v C) { engine.Struct(l).SetContainerAt(i, engine.Struct(v)) }

// Append adds a copy of v at the end. It links v's bytes if they are many. Later changes of v do
// not show.
func (l NestedList[C]) Append(v C) { engine.Struct(l).AppendContainer(engine.Struct(v)) }

// NewAt sets element i to an empty container of n elements (a map: with room for n pairs) and
// returns it to be filled.
func (l NestedList[C]) NewAt(i, n int) C { return C(engine.Struct(l).NewContainerAt(i, n)) }

// AppendNew adds a container of n elements (a map: with room for n pairs) at the end and
// returns it to be filled.
func (l NestedList[C]) AppendNew(n int) C { return C(engine.Struct(l).AppendNewContainer(n)) }

// Swap exchanges elements i and j without copying their contents. Handles move with their
// elements.
func (l NestedList[C]) Swap(i, j int) { engine.Struct(l).Swap(i, j) }

// Delete removes the elements from i to j-1, as slices.Delete does. It copies no contents. Unless
// i is 0, it moves the elements after them in the index.
func (l NestedList[C]) Delete(i, j int) { engine.Struct(l).DeleteRange(i, j) }

// Truncate removes all elements except the first n.
func (l NestedList[C]) Truncate(n int) { engine.Struct(l).DeleteRange(n, l.Len()) }

// SortFunc sorts the elements by cmp, as slices.SortFunc does. cmp must not change the list.
func (l NestedList[C]) SortFunc(cmp func(a, b C) int) {
	engine.SortElements(engine.Struct(l), engine.HandleOf[C], cmp)
}

// All iterates over indices and elements.
func (l NestedList[C]) All() iter.Seq2[int, C] {
	return func(yield func(int, C) bool) {
		for i := range l.Len() {
			if i >= l.Len() || !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// Contains reports whether an element has the same wire bytes as v.
func (l NestedList[C]) Contains(v C) bool { return engine.Struct(l).ContainsValue(engine.Struct(v)) }

// Add appends v unless Contains(v) is true.
func (l NestedList[C]) Add(v C) {
	if !l.Contains(v) {
		l.Append(v)
	}
}
