//go:build !nounsafe

package chain

import (
	"encoding/binary"
	"unsafe"
)

// String returns b as a string that aliases it.
func String(b []byte) string {
	// SAFETY: the bytes of a message that strings are taken from are not stored into afterwards: setting a
	// string again links new bytes, and slabs of which strings were taken are never used twice. Recycled blocks are the caller's own choice.
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// StringBytes returns s as bytes that alias it. Nobody may store into them.
func StringBytes(s string) []byte {
	// SAFETY: such bytes are registered as memory that is not writable.
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// TextOf is String for strings and bytes alike.
func TextOf[T string | []byte](v T) string {
	// SAFETY: as in String. Both strings and slices begin with the pointer to their bytes.
	return unsafe.String(*(**byte)(unsafe.Pointer(&v)), len(v))
}

// Text returns the string at position p that stands behind its length, a big-endian uint32. It aliases the
// memory as String does.
func (b *Buffer) Text(p Pos) string {
	mem, off := b.segs[p>>segBits], uint64(p&segMask)
	if off+4 > uint64(len(mem)) {
		panic(panicBeyond)
	}
	// SAFETY: both ends are compared with the memory's. Slicing would do so three times.
	at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(mem)), off)
	n := uint64(binary.BigEndian.Uint32((*[4]byte)(at)[:]))
	if off+4+n > uint64(len(mem)) {
		panic(panicBeyond)
	}
	if n == 0 {
		return ""
	}
	return unsafe.String((*byte)(unsafe.Add(at, 4)), n)
}

// FlatText is Text where that takes least, and says whether it does: in foreign memory or a chunk which has the first positions,
// if the text does not reach to the memory's very end. Such texts need not be lent. p may be anything.
func (b *Buffer) FlatText(p Pos) (text string, ok bool) {
	if off, size := uint64(p-segSize)+textLength, uint64(len(b.flat)); off < size {
		// SAFETY: both ends are compared with the memory's. There is a byte behind the text, so that the pointer is into the
		// same memory even if the text is empty. A string is a pointer and a length; unsafe.String would first look whether
		// they reach around the end of all addresses.
		at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.flat)), off)
		n := uint64(binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(at, -textLength))[:]))
		if off+n < size {
			s := header{at, int(n)}
			return *(*string)(unsafe.Pointer(&s)), true
		}
	}
	return
}

// header is what a string is.
type header struct {
	bytes unsafe.Pointer // SAFETY: only FlatText makes one, and turns it into a string at once
	n     int
}
