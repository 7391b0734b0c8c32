//go:build !nounsafe

package linkbuf

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// Extend appends n bytes to the open run and returns them with their position: contiguous, contents
// undefined, to be filled by the caller.
func (b *Buffer) Extend(n int) (Pos, []byte) {
	i := b.used
	if uint(n) >= uint(len(b.tail)-i) {
		return b.extendToEnd(n)
	}
	b.used = i + n
	// SAFETY: i+n is less than len(b.tail), as just compared, and neither is negative: used never is, and a negative n
	// would have compared as larger.
	return b.tailPos + Pos(i), unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.tail)), i)), n)
}

// AppendBehind appends the high lead bytes of head, at most 8, and v behind them. It returns the position of the first of
// them. (Short ones are copied here: for those memmove spends most of its time on finding out how.)
func (b *Buffer) AppendBehind(head uint64, lead int, v string) Pos {
	i, n := b.used, len(v)
	if uint(n)+8 >= uint(len(b.tail)-i) {
		return b.appendBehindToEnd(head, lead, v)
	}
	b.used = i + lead + n
	// SAFETY: i+8+n is less than len(b.tail), lead is at most 8, and none of them is negative; see Extend. Of v nothing is
	// read but its n bytes, those in the middle perhaps twice.
	at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.tail)), i)
	from := unsafe.Pointer(unsafe.StringData(v))
	binary.BigEndian.PutUint64((*[8]byte)(at)[:], head)
	at = unsafe.Add(at, lead)
	moved := binary.LittleEndian // any order will do; loaded as arrays they would go through the stack
	switch {
	case n > 64:
		copy(unsafe.Slice((*byte)(at), n), v)
	case n > 16:
		if n > 32 {
			*(*[16]byte)(unsafe.Add(at, 16)) = *(*[16]byte)(unsafe.Add(from, 16))
			*(*[16]byte)(unsafe.Add(at, n-32)) = *(*[16]byte)(unsafe.Add(from, n-32))
		}
		*(*[16]byte)(at) = *(*[16]byte)(from)
		*(*[16]byte)(unsafe.Add(at, n-16)) = *(*[16]byte)(unsafe.Add(from, n-16))
	case n >= 8:
		x, y := moved.Uint64((*[8]byte)(from)[:]), moved.Uint64((*[8]byte)(unsafe.Add(from, n-8))[:])
		moved.PutUint64((*[8]byte)(at)[:], x)
		moved.PutUint64((*[8]byte)(unsafe.Add(at, n-8))[:], y)
	case n >= 4:
		x, y := moved.Uint32((*[4]byte)(from)[:]), moved.Uint32((*[4]byte)(unsafe.Add(from, n-4))[:])
		moved.PutUint32((*[4]byte)(at)[:], x)
		moved.PutUint32((*[4]byte)(unsafe.Add(at, n-4))[:], y)
	default:
		for k := range n {
			*(*byte)(unsafe.Add(at, k)) = v[k]
		}
	}
	return b.tailPos + Pos(i)
}

// InTail returns the n bytes of a value at position p if they are in the block at the tail, which most of what is being built
// is, and values may be stored there; else nil.
func (b *Buffer) InTail(p Pos, n int) []byte {
	off := uint64(p - b.tailPos)
	if off+uint64(n) > uint64(b.used) || atomic.LoadUint32(&b.tailShared) != 0 {
		return nil
	}
	// SAFETY: off+n is at most used, and that at most len(b.tail), which no slice of 1<<30 bytes exceeds. (Cut from an array,
	// the slice needs no comparison when n is a constant.)
	return (*[MaxSize]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.tail)), off))[:n:n]
}
