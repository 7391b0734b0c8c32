package nocopy

import "github.com/nocopythrift/nocopythrift/nocopy/internal/engine"

//go:generate go run -C ../gen/internal ./families -o ../../nocopy

// StringList is a list or set of strings. Strings from it alias the message as those of fields do.
type StringList engine.Struct

// At returns element i.
func (l StringList) At(i int) string { return engine.Struct(l).TextAt(i) }

// Set sets element i. The elements of a list made with NewX(n) may be set in any order: ascending
// order copies each element once, any other order twice. Set copies a string shorter than 4 KiB
// and refers to any other.
func (l StringList) Set(i int, v string) { engine.Struct(l).SetTextAt(i, v) }

// Append adds v at the end. It copies a v shorter than 4 KiB and refers to any other.
func (l StringList) Append(v string) { engine.Struct(l).AppendText(v) }

// Contains reports whether v is an element.
func (l StringList) Contains(v string) bool { return engine.Struct(l).ContainsText(v) }

// BytesList is a list or set of binaries. Bytes from it alias the message as those of fields do.
type BytesList engine.Struct

// At returns element i. Its bytes must not be changed.
func (l BytesList) At(i int) []byte { return engine.Struct(l).BytesAt(i) }

// Set sets element i. The elements of a list made with NewX(n) may be set in any order, see
// StringList.Set. It copies a v shorter than 4 KiB and refers to any other, which must not
// change until the message is released.
func (l BytesList) Set(i int, v []byte) { engine.Struct(l).SetBytesAt(i, v) }

// Append adds v at the end. It copies a v shorter than 4 KiB and refers to any other, which
// must not change until the message is released.
func (l BytesList) Append(v []byte) { engine.Struct(l).AppendBytes(v) }

// Contains reports whether an element equals v.
func (l BytesList) Contains(v []byte) bool { return engine.Struct(l).ContainsKey(v) }
