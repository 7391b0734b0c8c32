package nocopy

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

//go:generate go run -C ../gen/internal ./fixedlists -o ../../nocopy

// StringList is a list or set of strings. Strings from it alias the message as those of fields do.
type StringList Struct

// Len returns the number of elements.
func (l StringList) Len() int { return XStruct(l).count() }

// String returns the elements as compact, readable text.
func (l StringList) String() string { return XStruct(l).formatContainer("[]") }

// Equal reports whether l and m have equal elements, as messages.Equal does without options. In
// sets the order does not matter.
func (l StringList) Equal(m StringList) bool { return XStruct(l).equalContainer(XStruct(m)) }

// For generated code. ThriftStruct returns the handle as an XStruct.
func (l StringList) ThriftStruct() XStruct { return XStruct(l) }

// At returns element i.
func (l StringList) At(i int) string {
	slot := XStruct(l).elemSlot(i)
	word := l.m.idx[slot]
	if text, ok := l.m.buf.FlatText(word); ok {
		return text
	}
	return l.m.lendText(word)
}

// Set sets element i. The elements of a list made with NewX(n) may be set in any order: ascending
// order copies each element once, any other order twice. Set copies a string shorter than 4 KiB
// and refers to any other.
func (l StringList) Set(i int, v string) { XStruct(l).setTextAt(i, chain.StringBytes(v)) }

// Append adds v at the end. It copies a v shorter than 4 KiB and refers to any other.
func (l StringList) Append(v string) { XStruct(l).appendText(chain.StringBytes(v)) }

// Swap exchanges elements i and j.
func (l StringList) Swap(i, j int) { XStruct(l).swap(i, j) }

// Delete removes the elements from i to j-1, as slices.Delete does. It copies no contents. Unless
// i is 0, it moves the elements after them in the index.
func (l StringList) Delete(i, j int) { XStruct(l).deleteRange(i, j) }

// Truncate removes all elements except the first n.
func (l StringList) Truncate(n int) { XStruct(l).deleteRange(n, l.Len()) }

// SortFunc sorts the elements by cmp, as slices.SortFunc does. cmp must not change the list.
func (l StringList) SortFunc(cmp func(a, b string) int) {
	sortElements(XStruct(l), (*Message).textString, cmp)
}

// All iterates over indices and elements.
func (l StringList) All() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range l.Len() {
			if i >= l.Len() {
				return
			}
			word := l.m.idx[l.m.idx[uint32(l.k)+listElems]+uint32(i)]
			if !yield(i, l.m.textString(word)) {
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
func (l StringList) Contains(v string) bool { return XStruct(l).containsKey(chain.StringBytes(v)) }

// Add appends v unless it is already an element.
func (l StringList) Add(v string) {
	if !l.Contains(v) {
		l.Append(v)
	}
}

// BytesList is a list or set of binaries. Bytes from it alias the message as those of fields do.
type BytesList Struct

// Len returns the number of elements.
func (l BytesList) Len() int { return XStruct(l).count() }

// String returns the elements as compact, readable text.
func (l BytesList) String() string { return XStruct(l).formatContainer("[]") }

// Equal reports whether l and m have equal elements, as messages.Equal does without options. In
// sets the order does not matter.
func (l BytesList) Equal(m BytesList) bool { return XStruct(l).equalContainer(XStruct(m)) }

// For generated code. ThriftStruct returns the handle as an XStruct.
func (l BytesList) ThriftStruct() XStruct { return XStruct(l) }

// At returns element i. Its bytes must not be changed.
func (l BytesList) At(i int) []byte { return XStruct(l).textAt(i) }

// Set sets element i. The elements of a list made with NewX(n) may be set in any order, see
// StringList.Set. It copies a v shorter than 4 KiB and refers to any other, which must not
// change until the message is released.
func (l BytesList) Set(i int, v []byte) { XStruct(l).setTextAt(i, v) }

// Append adds v at the end. It copies a v shorter than 4 KiB and refers to any other, which
// must not change until the message is released.
func (l BytesList) Append(v []byte) { XStruct(l).appendText(v) }

// Swap exchanges elements i and j.
func (l BytesList) Swap(i, j int) { XStruct(l).swap(i, j) }

// Delete removes the elements from i to j-1, as slices.Delete does. It copies no contents. Unless
// i is 0, it moves the elements after them in the index.
func (l BytesList) Delete(i, j int) { XStruct(l).deleteRange(i, j) }

// Truncate removes all elements except the first n.
func (l BytesList) Truncate(n int) { XStruct(l).deleteRange(n, l.Len()) }

// SortFunc sorts the elements by cmp, as slices.SortFunc does. cmp must not change the list.
func (l BytesList) SortFunc(cmp func(a, b []byte) int) {
	sortElements(XStruct(l), (*Message).lentBytes, cmp)
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
func (l BytesList) Contains(v []byte) bool { return XStruct(l).containsKey(v) }

// Add appends v unless an element equals it.
func (l BytesList) Add(v []byte) {
	if !l.Contains(v) {
		l.Append(v)
	}
}

// lentBytes returns the bytes of a binary, which the caller may keep.
func (m *Message) lentBytes(word uint32) []byte {
	m.buf.Lend()
	return m.textBytes(word)
}
