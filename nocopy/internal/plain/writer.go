package plain

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Field is the constant of a field: the header is in its lowest 24 bits.
type Field = schema.Ref

// Slack is the number of bytes for which there is room after Fit, and after each method that makes
// room. Methods without a check may write that many bytes before the next method that makes room;
// generated code counts them. Some methods store more bytes than they write.
const Slack = 128

// beyond is extra room for stores that are longer than the bytes written.
const beyond = 24

// sizes of headers in bytes
const (
	fieldHeader = 3 // type, id
	textHeader  = 4 // length
	listHeader  = 5 // element type, count
	mapHeader   = 6 // key type, value type, count
)

// most is the largest length of a text, and the largest number of elements. Together with headers
// and the slack it still fits an int32.
const most = math.MaxInt32 - 1<<10

// mostDepth is how deep structs and lists of structs may be nested. Deeper values contain
// themselves, and would overflow Go's stack.
const mostDepth = 1 << 16

// Writer appends the fields of structs to a slice, or writes them into a message.
type Writer struct {
	b     []byte // with its capacity, see use
	depth int
	refer int // the size from which on a message refers to texts

	engine.Draft          // of a message, if one is written
	element, elements int // the current element of the list in the draft, and the number of all
}

// Append makes w, which is zero, append to dst. It returns the position of the first byte. If it
// returned a Writer instead, that would take 10 to 20 ns more: the compiler stores the fields of a
// result one by one and then copies two at a time, for which the processor waits.
func (w *Writer) Append(dst []byte) int {
	w.refer = math.MaxInt
	w.use(dst)
	return len(dst)
}

// use makes w write to the capacity of b, after its length. It uses no more capacity than the
// largest text needs. Longer texts therefore always call growText, which refuses them.
func (w *Writer) use(b []byte) {
	w.b = b[:len(b)+min(cap(b)-len(b), most+2*(Slack+beyond))]
}

// Bytes returns the bytes written up to at.
func (w *Writer) Bytes(at int) []byte { return w.b[:at] }

// Fit makes room for Slack bytes at at.
func (w *Writer) Fit(at int) int {
	if len(w.b)-at < Slack+beyond {
		w.grow(at, 0)
	}
	return at
}

// fit makes room for n bytes and the slack after them.
func (w *Writer) fit(at, n int) {
	if len(w.b)-at-(Slack+beyond) < n {
		w.grow(at, n)
	}
}

//go:noinline
func (w *Writer) grow(at, n int) {
	n += Slack + beyond
	if w.refer == math.MaxInt {
		w.use(slices.Grow(w.b[:at], max(n, at, 256)))
		return
	}
	more := int64(at)
	if w.element > 0 { // as much as the previous elements suggest, within bounds
		likely := int64(at/w.element+1)*int64(w.elements-w.element) + more/16
		more = min(likely, mostLikely*max(more, leastLikely), memory.MaxSize)
	}
	w.b = w.Grow(w.b, at, at+n, at+max(n, int(more)))
}

// Memory for the remaining elements is at most mostLikely times as large as the previous elements:
// a few large elements do not reserve memory as if all were large. For this, previous elements of
// fewer than leastLikely bytes count as that many.
const (
	mostLikely  = 15
	leastLikely = 64 << 10
)

// Enter begins a nested struct, or a nested list of structs.
func (w *Writer) Enter() {
	if w.depth++; w.depth > mostDepth {
		w.fail("nocopy: values that contain themselves, or are nested too deeply")
	}
}

// fail gives up the bytes written for a message, and panics.
func (w *Writer) fail(text string) {
	w.Drop()
	panic(text)
}

// Leave ends what Enter began.
func (w *Writer) Leave() { w.depth-- }

// Stop ends a struct, without a check.
func (w *Writer) Stop(at int) int {
	w.room(at)[0] = byte(nocopy.WireStop)
	return at + 1
}

// Struct begins a field that is a struct, without a check.
func (w *Writer) Struct(at int, f Field) int {
	binary.BigEndian.PutUint32(w.room(at)[:], uint32(f)<<8)
	return at + fieldHeader
}

// longText is Text for any length, even without room.
func (w *Writer) longText(at int, f Field, v string) int {
	w.fitText(at, len(v))
	binary.BigEndian.PutUint64(w.room(at)[:], uint64(f)<<40|uint64(uint32(len(v)))<<8)
	return w.contents(at+fieldHeader+textHeader, v)
}

// longTextValue is TextValue for any length, even without room.
func (w *Writer) longTextValue(at int, v string) int {
	w.fitText(at, len(v))
	binary.BigEndian.PutUint32(w.room(at)[:], uint32(len(v)))
	return w.contents(at+textHeader, v)
}

// fitText makes room for a text of n bytes with its headers.
func (w *Writer) fitText(at, n int) {
	if n > most {
		w.fail("nocopy: length " + strconv.Itoa(n) + " out of range")
	}
	if n >= w.refer {
		n = 0
	}
	w.fit(at, n+fieldHeader+textHeader)
}

// contents writes a text at at, after its length, or makes the message refer to it.
func (w *Writer) contents(at int, v string) int {
	if len(v) >= w.refer {
		if w.Refer(w.b, at-textHeader, v) {
			return at
		}
		w.fit(at, len(v))
	}
	return at + copy(w.b[at:], v)
}

// Binary writes a field and makes room after it. Most binaries are longer than texts.
func (w *Writer) Binary(at int, f Field, v []byte) int {
	return w.anyText(at, f, memory.String(v))
}

// BinaryValue writes a binary without a field header and makes room after it.
func (w *Writer) BinaryValue(at int, v []byte) int { return w.anyTextValue(at, memory.String(v)) }

// List begins a list or set of n elements and makes room after its header.
func (w *Writer) List(at int, f Field, elem nocopy.WireType, n int) int {
	if w.lacks(at, n, 0) {
		w.fitList(at, n, 0)
	}
	return w.listHeader(at, f, elem, n)
}

// lacks reports whether fitList must make room for a list or set of n elements of this size, and
// after them. This and listHeader are inlined into the methods for lists of numbers: a call would
// take a tenth of the time of a short one.
func (w *Writer) lacks(at, n, size int) bool {
	return uint(n) > few || len(w.b)-at-(fieldHeader+listHeader+Slack+beyond) < n*size
}

// listHeader writes the header of a list or set without a check.
func (w *Writer) listHeader(at int, f Field, elem nocopy.WireType, n int) int {
	binary.BigEndian.PutUint64(w.room(at)[:], uint64(f)<<40|uint64(elem)<<32|uint64(uint32(n)))
	return at + fieldHeader + listHeader
}

// few is a number of elements of fixed size that always fit in a message.
const few = 1 << 20

func (w *Writer) fitList(at, n, size int) {
	w.checkCount(n, size)
	w.fit(at, fieldHeader+listHeader+n*size)
}

// Map begins a map of n pairs and makes room after its header.
func (w *Writer) Map(at int, f Field, key, elem nocopy.WireType, n int) int {
	if uint(n) > few {
		w.checkCount(n, 0)
	}
	at = w.Fit(at)
	b := w.room(at)
	binary.BigEndian.PutUint32(b[:], uint32(f)<<8|uint32(key))
	b[fieldHeader+1] = byte(elem)
	binary.BigEndian.PutUint32(b[fieldHeader+2:], uint32(n))
	return at + fieldHeader + mapHeader
}

func (w *Writer) checkCount(n, size int) {
	if n > most || uint64(n)*uint64(size) > most {
		w.fail("nocopy: " + strconv.Itoa(n) + " elements are more than a message can have")
	}
}

// Texts writes a list or set and makes room after it.
func (w *Writer) Texts(at int, f Field, v []string) int {
	at = w.List(at, f, nocopy.WireString, len(v))
	for _, x := range v {
		at = w.TextValue(at, x)
	}
	return at
}

func (w *Writer) ByteSlices(at int, f Field, v [][]byte) int {
	at = w.List(at, f, nocopy.WireString, len(v))
	for _, x := range v {
		at = w.BinaryValue(at, x)
	}
	return at
}

// Default writes field f of a struct that d describes with the IDL's default, or an empty value,
// and makes room after it.
func (w *Writer) Default(at int, d *schema.Struct, f Field) int {
	n := len(d.AppendDefault(w.b[:at:len(w.b)], f)) - at
	if len(w.b)-at-(Slack+beyond) < n {
		w.grow(at, n) // gives up memory that may contain the default
		d.AppendDefault(w.b[:at:len(w.b)], f)
	}
	return at + n
}

// Distinct returns v without elements that equal an earlier one, for a set.
func Distinct[T comparable](v []T) []T {
	return distinct(v, func(x T) T { return x })
}

// DistinctFloat64s is Distinct for doubles. Doubles are equal if their bits are.
func DistinctFloat64s(v []float64) []float64 { return distinct(v, math.Float64bits) }

// DistinctSlices is Distinct for binaries.
func DistinctSlices(v [][]byte) [][]byte {
	return distinct(v, func(x []byte) string { return string(x) })
}

func distinct[T any, K comparable](v []T, key func(T) K) []T {
	seen := make(map[K]bool, len(v))
	again := func(x T) bool {
		n := len(seen)
		seen[key(x)] = true
		return len(seen) == n
	}
	i := slices.IndexFunc(v, again)
	if i < 0 {
		return v
	}
	v = slices.Clone(v) // it is the caller's
	return append(v[:i], slices.DeleteFunc(v[i+1:], again)...)
}
