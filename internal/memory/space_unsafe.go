//go:build !nounsafe

package memory

import (
	"encoding/binary"
	"unsafe"
)

// Load8 returns the 8 bytes at position p as a big-endian number.
func (s *Space) Load8(p Pos) uint64 {
	mem := s.segs[p>>segBits]
	p &= segMask
	// SAFETY: the last of the bytes is in mem: that is checked here. Slicing would also check the
	// first byte, and compute the length of the rest.
	return binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(unsafe.Pointer(&mem[p+7]), -7))[:])
}

// Load4 returns the 4 bytes at position p as a big-endian number.
func (s *Space) Load4(p Pos) uint32 {
	mem := s.segs[p>>segBits]
	p &= segMask
	_ = mem[p+3]
	// SAFETY: the last byte is in mem, as just checked.
	return binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(mem)), p))[:])
}

// Load2 returns the 2 bytes at position p as a big-endian number.
func (s *Space) Load2(p Pos) uint16 {
	mem := s.segs[p>>segBits]
	p &= segMask
	_ = mem[p+1]
	// SAFETY: as in Load4.
	return binary.BigEndian.Uint16((*[2]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(mem)), p))[:])
}

// Load1 returns the byte at position p.
func (s *Space) Load1(p Pos) byte { return s.segs[p>>segBits][p&segMask] }

// Take appends n contiguous bytes, contents undefined, in the block at the tail, and returns them
// with their position. ok is false if they would fill the block or do not fit.
func (s *Space) Take(n int) (p Pos, mem []byte, ok bool) {
	i := s.used
	if uint(n) >= uint(len(s.tail)-i) {
		return 0, nil, false
	}
	s.used = i + n
	// SAFETY: i+n is less than len(s.tail), as just compared, and neither is negative: used never
	// is, and a negative n would have compared as larger.
	return s.tailPos + Pos(i), unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(s.tail)), i)), n), true
}

// AppendShort appends the high lead bytes of head, at most 8, then v, at Tail. The length of v
// must Fit. AppendShort does not call memmove, which would spend most of its time on choosing how
// to copy a few bytes. A function without calls needs no stack check, either.
//
//go:noinline
func (s *Space) AppendShort(head uint64, lead int, v string) {
	i, n := s.used, len(v)
	if Debugging && !s.Fits(n) {
		panic("nocopy: internal error: text does not fit")
	}
	s.used = i + lead + n
	// SAFETY: the text Fits: i+8+n is less than len(s.tail), lead is at most 8, and none of them
	// is negative; see Take. Only the n bytes of v are read, some in the middle perhaps twice.
	at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(s.tail)), i)
	from := unsafe.Pointer(unsafe.StringData(v))
	binary.BigEndian.PutUint64((*[8]byte)(at)[:], head)
	at = unsafe.Add(at, lead)
	switch {
	case n > 32:
		for ; n > 32; n -= 32 {
			move16(at, from)
			move16(unsafe.Add(at, 16), unsafe.Add(from, 16))
			at, from = unsafe.Add(at, 32), unsafe.Add(from, 32)
		}
		move16(unsafe.Add(at, n-32), unsafe.Add(from, n-32))
		move16(unsafe.Add(at, n-16), unsafe.Add(from, n-16))
	case n > 16:
		move16(at, from)
		move16(unsafe.Add(at, n-16), unsafe.Add(from, n-16))
	case n >= 4:
		move4to16(at, from, n)
	default:
		for n--; n >= 0; n-- {
			*(*byte)(unsafe.Add(at, n)) = *(*byte)(unsafe.Add(from, n))
		}
	}
}

// AppendTexts appends texts, each after its length, and stores their positions in at, which must
// be as long as v. It stops at a text with fewer than 4 or more than 16 bytes, or without room at
// the tail, and returns the number of texts appended.
func AppendTexts[T string | []byte](s *Space, v []T, at []Pos) int {
	at = at[:len(v)]
	used := s.used
	for i := range v {
		n := len(v[i])
		if uint(n-4) > 16-4 || n+TextLength >= len(s.tail)-used {
			s.used = used
			return i
		}
		// SAFETY: used+4+n is less than len(s.tail), as just compared, and n is 4 to 16. A string
		// and a slice both begin with the pointer to their bytes.
		mem := unsafe.Add(unsafe.Pointer(unsafe.SliceData(s.tail)), used)
		binary.BigEndian.PutUint32((*[TextLength]byte)(mem)[:], uint32(n))
		move4to16(unsafe.Add(mem, TextLength), *(*unsafe.Pointer)(unsafe.Pointer(&v[i])), n)
		at[i] = s.tailPos + Pos(used)
		used += TextLength + n
	}
	s.used = used
	return len(v)
}

// move4to16 copies n bytes, 4 to 16. It may copy bytes in the middle twice.
func move4to16(to, from unsafe.Pointer, n int) {
	// SAFETY: the callers have checked n; no move begins before to and from or ends after the n
	// bytes.
	if n >= 8 {
		move8(to, from)
		move8(unsafe.Add(to, n-8), unsafe.Add(from, n-8))
	} else {
		move4(to, from)
		move4(unsafe.Add(to, n-4), unsafe.Add(from, n-4))
	}
}

// move16, move8 and move4 copy that many bytes.
func move16(to, from unsafe.Pointer) {
	// SAFETY: the callers know that both sides have 16 bytes.
	*(*[16]byte)(to) = *(*[16]byte)(from)
}

func move8(to, from unsafe.Pointer) {
	// SAFETY: as in move16. (As an array it would go through the stack.)
	binary.LittleEndian.PutUint64((*[8]byte)(to)[:], binary.LittleEndian.Uint64((*[8]byte)(from)[:]))
}

func move4(to, from unsafe.Pointer) {
	// SAFETY: as in move8.
	binary.LittleEndian.PutUint32((*[4]byte)(to)[:], binary.LittleEndian.Uint32((*[4]byte)(from)[:]))
}

// Put8 stores v, big-endian, in the 8 bytes at position p, which must be InTail.
func (s *Space) Put8(p Pos, v uint64) { binary.BigEndian.PutUint64((*[8]byte)(s.tailAt(p))[:], v) }

// Put4 stores v, big-endian, in the 4 bytes at position p, which must be InTail.
func (s *Space) Put4(p Pos, v uint32) { binary.BigEndian.PutUint32((*[4]byte)(s.tailAt(p))[:], v) }

// Put2 stores v, big-endian, in the 2 bytes at position p, which must be InTail.
func (s *Space) Put2(p Pos, v uint16) { binary.BigEndian.PutUint16((*[2]byte)(s.tailAt(p))[:], v) }

// Put1 stores v in the byte at position p, which must be InTail.
func (s *Space) Put1(p Pos, v byte) { *(*byte)(s.tailAt(p)) = v }

// tailAt returns the address of position p, which must be InTail.
func (s *Space) tailAt(p Pos) unsafe.Pointer {
	// SAFETY: the value is InTail: it ends at used or before, and used is at most len(s.tail).
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(s.tail)), p-s.tailPos)
}

// Text returns the string at position p: its length, a big-endian uint32, precedes its bytes. It
// aliases the memory, as String does.
func (s *Space) Text(p Pos) string {
	mem, off := s.segs[p>>segBits], uint64(p&segMask)
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
func (s *Space) FlatText(p Pos) (text string, ok bool) {
	if off, size := uint64(p-segSize)+TextLength, uint64(len(s.flat)); off < size {
		// SAFETY: both ends are compared with those of the memory. There is a byte after the text,
		// which keeps the pointer inside the same memory even if the text is empty. A string is a
		// pointer and a length. unsafe.String would also check that they do not wrap around the
		// end of the address space.
		at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(s.flat)), off)
		n := uint64(binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(at, -TextLength))[:]))
		if off+n < size {
			h := header{at, int(n)}
			return *(*string)(unsafe.Pointer(&h)), true
		}
	}
	return
}

// header has the layout of a string.
type header struct {
	bytes unsafe.Pointer // SAFETY: only FlatText makes one, and turns it into a string at once
	n     int
}
