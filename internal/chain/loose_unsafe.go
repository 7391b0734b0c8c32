//go:build !nounsafe

package chain

import (
	"encoding/binary"
	"unsafe"
)

// LooseText stores a text after its length in loose memory, and returns its position. It returns 0
// if the text is not short, or does not fit into the block that is being filled.
func (b *Buffer) LooseText(v []byte) Pos {
	l := b.loose
	if l == nil {
		return 0
	}
	i, n := l.used, len(v)
	if n > MaxShort-textLength || n+textLength > len(l.mem)-i {
		return 0
	}
	l.used = i + textLength + n
	// SAFETY: i+4+n is at most len(l.mem), as just compared, and none of them is negative. Only
	// the n bytes of v are read.
	at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(l.mem)), i)
	binary.BigEndian.PutUint32((*[textLength]byte)(at)[:], uint32(n))
	at = unsafe.Add(at, textLength)
	from := unsafe.Pointer(unsafe.SliceData(v))
	switch {
	case n > 16:
		moveLong(at, from, n)
	case n >= 4:
		move4to16(at, from, n)
	default:
		for n--; n >= 0; n-- {
			*(*byte)(unsafe.Add(at, n)) = *(*byte)(unsafe.Add(from, n))
		}
	}
	return l.pos + Pos(i)
}

// AppendLoose appends loose texts, given by the positions of their lengths, to the open run, and
// stores their new positions in at. Position 0 stands for an empty text. It stops at a position
// whose top bit is set, and returns the number of texts appended.
func (b *Buffer) AppendLoose(at []Pos) int {
	const nearTexts, together = 4 << 10, 32
	if len(at) <= nearTexts {
		return b.appendLoose(at)
	}
	for done := 0; ; {
		part := at[done:min(done+together, len(at))]
		if b.loadLengths(part) == 0 {
			return done
		}
		n := b.appendLoose(part)
		if done += n; n < len(part) {
			return done
		}
	}
}

// loadLengths loads the lengths of loose texts, which may be anywhere in memory, into the
// processor's caches. The processor then waits for many at once, not for one after another. It
// stops at a position whose top bit is set. It returns the sum of the lengths plus 4 for each,
// which is 0 if it has loaded none.
func (b *Buffer) loadLengths(at []Pos) (sum uint32) {
	for _, p := range at {
		if int32(p) < 0 {
			break
		}
		sum += textLength + binary.BigEndian.Uint32(b.At(p))
	}
	return sum
}

// appendLoose is AppendLoose for texts that are near each other in memory: it loads them one after
// another.
func (b *Buffer) appendLoose(at []Pos) int {
	for i, p := range at {
		if int32(p) < 0 {
			return i
		}
		from := b.At(p)
		n := textLength + int(binary.BigEndian.Uint32(from))
		used := b.used
		if n > MaxShort || n >= len(b.tail)-used {
			to, mem := b.Extend(n)
			copy(mem, from[:n])
			at[i] = to
			continue
		}
		_ = from[n-1]
		b.used = used + n
		at[i] = b.tailPos + Pos(used)
		// SAFETY: used+n is less than len(b.tail), as just compared, from has n bytes, and n is
		// at least 4.
		to, src := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.tail)), used), unsafe.Pointer(unsafe.SliceData(from))
		if n > 16 {
			moveLong(to, src, n)
		} else {
			move4to16(to, src, n)
		}
	}
	return len(at)
}

// moveLong copies n bytes, where n is more than 16. It may copy some of them twice.
func moveLong(to, from unsafe.Pointer, n int) {
	// SAFETY: the callers have checked n; no move begins before to and from or ends after the n
	// bytes.
	for ; n > 32; n -= 16 {
		move16(to, from)
		to, from = unsafe.Add(to, 16), unsafe.Add(from, 16)
	}
	move16(to, from)
	move16(unsafe.Add(to, n-16), unsafe.Add(from, n-16))
}
