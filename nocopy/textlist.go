package nocopy

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
)

//go:generate go run -C ../gen/internal ./fixedlists -o ../../nocopy

// StringList is a list or set of strings. Strings from it alias the message as those of fields do.
type StringList engine.Struct

// Len returns the number of elements.
func (l StringList) Len() int { return engine.Struct(l).ListLen() }

// String returns the elements as compact, readable text.
func (l StringList) String() string { return render.ContainerText(engine.Struct(l), "[]") }

// Equal reports whether l and m have equal elements, as messages.Equal does without options. In
// sets the order does not matter.
func (l StringList) Equal(m StringList) bool {
	return render.EqualContainers(engine.Struct(l), engine.Struct(m))
}

// ThriftStruct returns the handle for packages that work on messages of any type.
func (l StringList) ThriftStruct() engine.Struct { return engine.Struct(l) }

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l StringList) Wire() []byte { return engine.Struct(l).ContainerWire() }

// At returns element i.
func (l StringList) At(i int) string { return engine.Struct(l).TextAt(i) }

// Set sets element i. The elements of a list made with NewX(n) may be set in any order: ascending
// order copies each element once, any other order twice. Set copies a string shorter than 4 KiB
// and refers to any other.
func (l StringList) Set(i int, v string) { engine.Struct(l).SetTextAt(i, v) }

// Append adds v at the end. It copies a v shorter than 4 KiB and refers to any other.
func (l StringList) Append(v string) { engine.Struct(l).AppendText(v) }

// Swap exchanges elements i and j.
func (l StringList) Swap(i, j int) { engine.Struct(l).Swap(i, j) }

// Delete removes the elements from i to j-1, as slices.Delete does. It copies no contents. Unless
// i is 0, it moves the elements after them in the index.
func (l StringList) Delete(i, j int) { engine.Struct(l).DeleteRange(i, j) }

// Truncate removes all elements except the first n.
func (l StringList) Truncate(n int) { engine.Struct(l).DeleteRange(n, l.Len()) }

// SortFunc sorts the elements by cmp, as slices.SortFunc does. cmp must not change the list.
func (l StringList) SortFunc(cmp func(a, b string) int) {
	engine.SortElements(engine.Struct(l), (*engine.Message).TextString, cmp)
}

// All iterates over indices and elements.
func (l StringList) All() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range l.Len() {
			if i >= l.Len() {
				return
			}
			if !yield(i, engine.Struct(l).TextOf(i)) {
				return
			}
		}
	}
}

// AppendTo appends the elements to dst. They alias the message as those of At do.
func (l StringList) AppendTo(dst []string) []string {
	for i := range l.Len() {
		dst = append(dst, l.At(i))
	}
	return dst
}

// Contains reports whether v is an element.
func (l StringList) Contains(v string) bool { return engine.Struct(l).ContainsText(v) }

// Add appends v unless it is already an element.
func (l StringList) Add(v string) {
	if !l.Contains(v) {
		l.Append(v)
	}
}

// BytesList is a list or set of binaries. Bytes from it alias the message as those of fields do.
type BytesList engine.Struct

// Len returns the number of elements.
func (l BytesList) Len() int { return engine.Struct(l).ListLen() }

// String returns the elements as compact, readable text.
func (l BytesList) String() string { return render.ContainerText(engine.Struct(l), "[]") }

// Equal reports whether l and m have equal elements, as messages.Equal does without options. In
// sets the order does not matter.
func (l BytesList) Equal(m BytesList) bool {
	return render.EqualContainers(engine.Struct(l), engine.Struct(m))
}

// ThriftStruct returns the handle for packages that work on messages of any type.
func (l BytesList) ThriftStruct() engine.Struct { return engine.Struct(l) }

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l BytesList) Wire() []byte { return engine.Struct(l).ContainerWire() }

// At returns element i. Its bytes must not be changed.
func (l BytesList) At(i int) []byte { return engine.Struct(l).BytesAt(i) }

// Set sets element i. The elements of a list made with NewX(n) may be set in any order, see
// StringList.Set. It copies a v shorter than 4 KiB and refers to any other, which must not
// change until the message is released.
func (l BytesList) Set(i int, v []byte) { engine.Struct(l).SetBytesAt(i, v) }

// Append adds v at the end. It copies a v shorter than 4 KiB and refers to any other, which
// must not change until the message is released.
func (l BytesList) Append(v []byte) { engine.Struct(l).AppendBytes(v) }

// Swap exchanges elements i and j.
func (l BytesList) Swap(i, j int) { engine.Struct(l).Swap(i, j) }

// Delete removes the elements from i to j-1, as slices.Delete does. It copies no contents. Unless
// i is 0, it moves the elements after them in the index.
func (l BytesList) Delete(i, j int) { engine.Struct(l).DeleteRange(i, j) }

// Truncate removes all elements except the first n.
func (l BytesList) Truncate(n int) { engine.Struct(l).DeleteRange(n, l.Len()) }

// SortFunc sorts the elements by cmp, as slices.SortFunc does. cmp must not change the list.
func (l BytesList) SortFunc(cmp func(a, b []byte) int) {
	engine.SortElements(engine.Struct(l), (*engine.Message).LentBytes, cmp)
}

// All iterates over indices and elements.
func (l BytesList) All() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for i := range l.Len() {
			if i >= l.Len() || !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// AppendTo appends the elements to dst. They alias the message as those of At do.
func (l BytesList) AppendTo(dst [][]byte) [][]byte {
	for i := range l.Len() {
		dst = append(dst, l.At(i))
	}
	return dst
}

// Contains reports whether an element equals v.
func (l BytesList) Contains(v []byte) bool { return engine.Struct(l).ContainsKey(v) }

// Add appends v unless an element equals it.
func (l BytesList) Add(v []byte) {
	if !l.Contains(v) {
		l.Append(v)
	}
}
