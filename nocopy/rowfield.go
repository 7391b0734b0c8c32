package nocopy

import (
	"encoding/binary"
	"math"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// The fields that XRow writes. Those that end in Opt leave a field unset whose Opt is; those that
// take a slice, one whose slice is nil.

// Bool writes a bool.
func (r *XRow) Bool(at int, f XField, v bool) int {
	x := int8(0)
	if v {
		x = 1
	}
	return r.Int8(at, f, x)
}

// Int8 writes an i8.
func (r *XRow) Int8(at int, f XField, v int8) int {
	at = r.fit(at, 0)
	binary.BigEndian.PutUint32(r.room(at)[:], uint32(f)<<8|uint32(uint8(v)))
	r.set(f, r.base+uint32(at)+wire.FieldHeader)
	return at + wire.FieldHeader + 1
}

// Int16 writes an i16.
func (r *XRow) Int16(at int, f XField, v int16) int {
	at = r.fit(at, 0)
	binary.BigEndian.PutUint64(r.room(at)[:], uint64(f)<<40|uint64(uint16(v))<<24)
	r.set(f, r.base+uint32(at)+wire.FieldHeader)
	return at + wire.FieldHeader + 2
}

// Int32 writes an i32 or enum.
func (r *XRow) Int32(at int, f XField, v int32) int {
	at = r.fit(at, 0)
	binary.BigEndian.PutUint64(r.room(at)[:], uint64(f)<<40|uint64(uint32(v))<<8)
	r.set(f, r.base+uint32(at)+wire.FieldHeader)
	return at + wire.FieldHeader + 4
}

// Int64 writes an i64.
func (r *XRow) Int64(at int, f XField, v int64) int {
	at = r.fit(at, 0)
	b := r.room(at)
	binary.BigEndian.PutUint32(b[:], uint32(f)<<8)
	binary.BigEndian.PutUint64(b[wire.FieldHeader:], uint64(v))
	r.set(f, r.base+uint32(at)+wire.FieldHeader)
	return at + wire.FieldHeader + 8
}

// Float64 writes a double.
func (r *XRow) Float64(at int, f XField, v float64) int {
	return r.Int64(at, f, int64(math.Float64bits(v)))
}

// UUID writes a uuid.
func (r *XRow) UUID(at int, f XField, v UUID) int {
	at = r.fit(at, 0)
	wire.PutHeader(r.mem[at:], f.Header())
	copy(r.mem[at+wire.FieldHeader:], v[:])
	r.set(f, r.base+uint32(at)+wire.FieldHeader)
	return at + wire.FieldHeader + len(v)
}

// BoolOpt writes a bool that may be unset. The other methods named …Opt work alike.
func (r *XRow) BoolOpt(at int, f XField, v Opt[bool]) int {
	if !v.Set {
		return at
	}
	return r.Bool(at, f, v.Value)
}

// Int8Opt writes an i8.
func (r *XRow) Int8Opt(at int, f XField, v Opt[int8]) int {
	if !v.Set {
		return at
	}
	return r.Int8(at, f, v.Value)
}

// Int16Opt writes an i16.
func (r *XRow) Int16Opt(at int, f XField, v Opt[int16]) int {
	if !v.Set {
		return at
	}
	return r.Int16(at, f, v.Value)
}

// Int32Opt writes an i32.
func (r *XRow) Int32Opt(at int, f XField, v Opt[int32]) int {
	if !v.Set {
		return at
	}
	return r.Int32(at, f, v.Value)
}

// Int64Opt writes an i64.
func (r *XRow) Int64Opt(at int, f XField, v Opt[int64]) int {
	if !v.Set {
		return at
	}
	return r.Int64(at, f, v.Value)
}

// Float64Opt writes a double.
func (r *XRow) Float64Opt(at int, f XField, v Opt[float64]) int {
	if !v.Set {
		return at
	}
	return r.Float64(at, f, v.Value)
}

// UUIDOpt writes a uuid.
func (r *XRow) UUIDOpt(at int, f XField, v Opt[UUID]) int {
	if !v.Set {
		return at
	}
	return r.UUID(at, f, v.Value)
}

// TextOpt writes a string.
func (r *XRow) TextOpt(at int, f XField, v Opt[string]) int {
	if !v.Set {
		return at
	}
	return r.Text(at, f, v.Value)
}

// Bytes writes a binary, unless it is nil. It refers to a binary of 4 KiB or more.
func (r *XRow) Bytes(at int, f XField, v []byte) int {
	if v == nil {
		return at
	}
	n := len(v)
	if n >= referSize || !r.fits(at, n) {
		return r.longText(at, f, chain.String(v))
	}
	r.set(f, r.base+uint32(at)+wire.FieldHeader)
	binary.BigEndian.PutUint64(r.room(at)[:], uint64(f)<<40|uint64(n)<<8)
	at += wire.FieldHeader + wire.TextHeader
	return at + copy(r.mem[at:], v)
}

// longText writes a string or binary that is referred to, or for which there may be no room.
func (r *XRow) longText(at int, f XField, v string) int {
	room := len(v)
	if room >= referSize && r.mayRefer(room) {
		room = 0
	}
	at = r.fit(at, wire.FieldHeader+wire.TextHeader+room) // the header stays next to what it leads
	wire.PutHeader(r.mem[at:], f.Header())
	word, laters := r.word(f), len(r.m.laters)
	at = r.longElement(at+wire.FieldHeader, word, v)
	for i := range r.m.laters[laters:] { // one at most
		l := &r.m.laters[laters+i]
		l.word, l.f = r.e, f
	}
	return at
}

// longElement writes a text without a field header, which is referred to or for which there may be
// no room, and stores its position in a word.
func (r *XRow) longElement(at int, word uint32, v string) int {
	n := len(v)
	if n >= referSize && r.mayRefer(n) {
		at = r.fit(at, 0)
		wire.PutBE32(r.mem[at:], uint32(n))
		r.idx[word] = r.base + uint32(at) // until it is referred to
		r.m.laters = append(r.m.laters, later{word: word, at: r.base + uint32(at), text: chain.StringBytes(v)})
		r.promised += chain.Segments(n)
		r.m.more = true
		return at + wire.TextHeader
	}
	at = r.fit(at, n)
	wire.PutBE32(r.mem[at:], uint32(n))
	copy(r.mem[at+wire.TextHeader:], v)
	r.idx[word] = r.base + uint32(at)
	return at + wire.TextHeader + n
}

// mayRefer reports whether n bytes of text are referred to, and not copied. It panics if they are
// too many for a message.
func (r *XRow) mayRefer(n int) bool {
	if n > maxCount {
		r.undo()
	}
	checkLen(n)
	return r.m.mayReferAfter(r.promised, n)
}

// Texts writes a list or set of strings. Duplicates in a set are left out.
func (r *XRow) Texts(at int, f XField, d *XDesc, v []string) int {
	if v == nil {
		return at
	}
	if f.Wire() == WireSet {
		v = distinct(v, func(v string) string { return v })
	}
	at, word := r.texts(at, f, d, len(v))
	for i := 0; i < len(v); i++ {
		var n int
		at, n = r.shortElements(at, word+uint32(i), v[i:])
		if i += n; i < len(v) {
			at = r.element(at, word+uint32(i), v[i])
		}
	}
	return r.endSlots(at, f)
}

// ByteSlices writes a list or set of binaries. Duplicates in a set are left out.
func (r *XRow) ByteSlices(at int, f XField, d *XDesc, v [][]byte) int {
	if v == nil {
		return at
	}
	if f.Wire() == WireSet {
		v = distinct(v, func(v []byte) string { return string(v) })
	}
	at, word := r.texts(at, f, d, len(v))
	for i := range v {
		at = r.element(at, word+uint32(i), chain.String(v[i]))
	}
	return r.endSlots(at, f)
}

// texts writes the header of a list or set of n texts. It returns how much is written then, and
// where in the index the word of the first text is.
func (r *XRow) texts(at int, f XField, d *XDesc, n int) (int, uint32) {
	t := d.FieldOf(f).Type
	checkCount(t, n)
	at, c := r.list(at, f, t, n)
	r.set(f, c)
	return at, c + listWords
}

// FixedList writes the header of a list or set of n elements of the given size and returns where
// their bytes begin and end.
func (r *XRow) fixedList(at int, f XField, d *XDesc, n, size int) (int, int) {
	const head = wire.FieldHeader + wire.ListHeader
	t := d.FieldOf(f).Type
	checkCount(t, n)
	c := r.alloc(listWords)
	at = r.fit(at, head+n*size)
	binary.BigEndian.PutUint64(r.room(at)[:], containerHeader(f.Header(), t.Elem().Wire(), uint32(n)))
	start := at + head
	end := start + n*size
	w := (*[listWords]uint32)(r.idx[c:])
	w[listStart], w[listEnd] = r.base+uint32(start), r.base+uint32(end)
	w[listCount], w[listElems], w[listRoom], w[listType] = uint32(n), c+listWords, uint32(n), t.ID()
	r.set(f, c)
	return start, end
}

// distinct returns v without the elements whose key an earlier one has.
func distinct[T any, K comparable](v []T, key func(T) K) []T {
	if len(v) < 2 {
		return v
	}
	seen := make(map[K]bool, len(v))
	for i, x := range v {
		k := key(x)
		if seen[k] {
			return without(v, i, seen, key)
		}
		seen[k] = true
	}
	return v
}

// without returns v without the elements whose key an earlier one has: the first n have different
// ones, those that were seen.
func without[T any, K comparable](v []T, n int, seen map[K]bool, key func(T) K) []T {
	out := append(make([]T, 0, len(v)), v[:n]...)
	for _, x := range v[n:] {
		if k := key(x); !seen[k] {
			seen[k] = true
			out = append(out, x)
		}
	}
	return out
}

// For generated code. XRowPairs are pairs of a map that an XRow writes.
type XRowPairs[K, V any, KC XCodec[K], VC XCodec[V]] []Pair[K, V]

// Put writes field f, a map, of a struct that d describes. It writes nothing if v is nil.
func (v XRowPairs[K, V, KC, VC]) Put(r *XRow, at int, f XField, d *XDesc) int {
	if v == nil {
		return at
	}
	var kc KC
	var vc VC
	t := d.FieldOf(f).Type
	at, slot := r.dict(at, f, t, len(v))
	for i := range v {
		at = r.encoded(at, t.Key(), slot+pairKey, kc.encode(v[i].Key))
		at = r.encoded(at, t.Elem(), slot+pairValue, vc.encode(v[i].Value))
		slot += pairWords
	}
	return r.endSlots(at, f)
}

// TextPairs writes a map of strings to strings.
func (r *XRow) TextPairs(at int, f XField, d *XDesc, v []Pair[string, string]) int {
	if v == nil {
		return at
	}
	at, slot := r.dict(at, f, d.FieldOf(f).Type, len(v))
	for i := range v {
		at = r.element(at, slot+pairKey, v[i].Key)
		at = r.element(at, slot+pairValue, v[i].Value)
		slot += pairWords
	}
	return r.endSlots(at, f)
}

// dict writes the header of a map of n pairs and returns the slot of the first.
func (r *XRow) dict(at int, f XField, t *XType, n int) (int, uint32) {
	checkCount(t, n)
	c := r.alloc(listWords + slotWords(t, n))
	at = r.fit(at, wire.FieldHeader+wire.MapHeader)
	b := r.mem[at:]
	wire.PutHeader(b, f.Header())
	putTypes(t, b[wire.FieldHeader:])
	wire.PutBE32(b[wire.FieldHeader+2:], uint32(n))
	at += wire.FieldHeader + wire.MapHeader
	w := (*[listWords]uint32)(r.idx[c:])
	w[listStart] = r.base + uint32(at)
	w[listCount], w[listElems], w[listRoom], w[listType] = uint32(n), c+listWords, uint32(n), t.ID()
	r.set(f, c)
	return at, c + listWords
}

// endSlots ends a list of texts, or a map.
func (r *XRow) endSlots(at int, f XField) int {
	r.idx[r.at(r.e, f)+listEnd] = r.base + uint32(at)
	return at
}

// encoded writes a key or value of type t, no struct or container.
func (r *XRow) encoded(at int, t *XType, word uint32, k encoded) int {
	if t.Kind() == schema.Text {
		return r.element(at, word, chain.String(k.text))
	}
	at = r.fit(at, 0)
	copy(r.mem[at:], k.fixed[:t.Size()])
	r.idx[word] = r.base + uint32(at)
	return at + int(t.Size())
}
