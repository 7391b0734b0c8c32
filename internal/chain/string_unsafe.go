//go:build !nounsafe

package chain

import (
	"encoding/binary"
	"unsafe"
)

// String returns b as a string that aliases it.
func String(b []byte) string {
	// SAFETY: bytes that a string was made of are not stored into again: another text gets other
	// memory, and lent slabs are not used again. Programs that recycle blocks have agreed that
	// strings end with them.
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// StringBytes returns bytes that alias s. They must not be stored into.
func StringBytes(s string) []byte {
	// SAFETY: callers only read the bytes, or pass them to AddForeign as memory that is not stored
	// into.
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// TextOf returns v, a string or bytes, as a string that aliases it.
func TextOf[T string | []byte](v T) string {
	// SAFETY: as in String. A string and a slice both begin with the pointer to their bytes.
	return unsafe.String(*(**byte)(unsafe.Pointer(&v)), len(v))
}

// Text returns the string whose length, a big-endian uint32, is at position p, and whose bytes
// come after that. It aliases the memory, as String does.
func (b *Buffer) Text(p Pos) string {
	mem, off := b.segs[p>>segBits], uint64(p&segMask)
	if off+4 > uint64(len(mem)) {
		panic(panicBeyond)
	}
	// SAFETY: both ends are compared with those of the memory. Slicing would do so three times.
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

// FlatText is a faster Text for the memory at FirstPos, if that is foreign or a chunk. It returns
// false if p is not in that memory, or if the text reaches to the end of the memory. Callers need
// not call Lend. Any p is allowed.
func (b *Buffer) FlatText(p Pos) (text string, ok bool) {
	if off, size := uint64(p-segSize)+textLength, uint64(len(b.flat)); off < size {
		// SAFETY: both ends are compared with those of the memory. There is a byte after the text,
		// which keeps the pointer inside the same memory even if the text is empty. A string is a
		// pointer and a length. unsafe.String would also check that they do not wrap around the
		// end of the address space.
		at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.flat)), off)
		n := uint64(binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(at, -textLength))[:]))
		if off+n < size {
			s := header{at, int(n)}
			return *(*string)(unsafe.Pointer(&s)), true
		}
	}
	return
}

// header has the layout of a string.
type header struct {
	bytes unsafe.Pointer // SAFETY: only FlatText makes one, and turns it into a string at once
	n     int
}
