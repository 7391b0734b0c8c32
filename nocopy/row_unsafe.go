//go:build !nounsafe

package nocopy

import (
	"encoding/binary"
	"unsafe"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// room returns the bytes of the block at the tail from at on. fit must have made sure of them.
func (r *XRow) room(at int) *[rowSlack]byte {
	// SAFETY: fit has compared uint32(at)+rowSlack with the length of the block.
	return (*[rowSlack]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(r.mem)), uint32(at)))
}

// Text writes a string. It refers to a string of 4 KiB or more.
func (r *XRow) Text(at int, f XField, v string) int {
	const lead = wire.FieldHeader + wire.TextHeader
	n := len(v)
	if n >= referSize || !r.fits(at, n) {
		return r.longText(at, f, v)
	}
	r.set(f, r.base+uint32(at)+wire.FieldHeader)
	to := r.room(at)
	binary.BigEndian.PutUint64(to[:], uint64(f)<<40|uint64(n)<<8)
	if uint(n-4) > 32-4 {
		return at + lead + copy(r.mem[at+lead:], v)
	}
	move4to32(&to[lead], v)
	return at + lead + n
}

// element writes a text without a field header and stores its position in a word.
func (r *XRow) element(at int, word uint32, v string) int {
	n := len(v)
	if n >= referSize || !r.fits(at, n) {
		return r.longElement(at, word, v)
	}
	r.idx[word] = r.base + uint32(at)
	to := r.room(at)
	binary.BigEndian.PutUint32(to[:], uint32(n))
	if uint(n-4) > 32-4 {
		return at + wire.TextHeader + copy(r.mem[at+wire.TextHeader:], v)
	}
	move4to32(&to[wire.TextHeader], v)
	return at + wire.TextHeader + n
}

// shortElements writes texts of 4 to 32 bytes without field headers and stores their positions in
// the words from this one on, up to the first text that is shorter or longer, or for which there
// may be no room. It returns how many it has written, too.
func (r *XRow) shortElements(at int, word uint32, v []string) (int, int) {
	words := r.idx[word:][:len(v)]
	for i, v := range v {
		n := len(v)
		if uint(n-4) > 32-4 || !r.fits(at, n) {
			return at, i
		}
		words[i] = r.base + uint32(at)
		to := r.room(at)
		binary.BigEndian.PutUint32(to[:], uint32(n))
		move4to32(&to[wire.TextHeader], v)
		at += wire.TextHeader + n
	}
	return at, len(v)
}

// move4to32 copies v, of 4 to 32 bytes, to begin at *dst; bytes in the middle perhaps twice.
func move4to32(dst *byte, v string) {
	n := len(v)
	// SAFETY: its callers have compared n with 4 and 32. There is room for n bytes at dst, since fits
	// has compared their end, and for what comes before them, with that of the block. Nothing is
	// read or stored before dst and v or after their n bytes.
	to, from := unsafe.Pointer(dst), unsafe.Pointer(unsafe.StringData(v))
	switch {
	case n > 16:
		*(*[16]byte)(to) = *(*[16]byte)(from)
		*(*[16]byte)(unsafe.Add(to, n-16)) = *(*[16]byte)(unsafe.Add(from, n-16))
	case n >= 8:
		*(*[8]byte)(to) = *(*[8]byte)(from)
		*(*[8]byte)(unsafe.Add(to, n-8)) = *(*[8]byte)(unsafe.Add(from, n-8))
	default:
		*(*[4]byte)(to) = *(*[4]byte)(from)
		*(*[4]byte)(unsafe.Add(to, n-4)) = *(*[4]byte)(unsafe.Add(from, n-4))
	}
}
