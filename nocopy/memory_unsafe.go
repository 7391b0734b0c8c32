//go:build !nounsafe

package nocopy

import (
	"encoding/binary"
	"unsafe"
)

// memory is what a machine works on: the window, the index, the code and the levels.
type memory struct {
	b      []byte
	idx    wordsAt
	code   codeAt
	levels unsafe.Pointer
	most   uint32 // levels
}

type (
	bytesAt = unsafe.Pointer
	wordsAt = unsafe.Pointer
	codeAt  = unsafe.Pointer
)

func (s *memory) setIndex(idx []uint32) {
	// SAFETY: nothing is stored through it but words that the machine has room for, and the entry that it begins with.
	s.idx = unsafe.Pointer(unsafe.SliceData(idx))
}

func (s *memory) setCode(cells []cell) {
	// SAFETY: all offsets come from these cells, or from programs that were compiled before.
	s.code = unsafe.Pointer(unsafe.SliceData(cells))
}

func (s *memory) setLevels(levels []level) {
	// SAFETY: a level is only made below most.
	s.levels, s.most = unsafe.Pointer(unsafe.SliceData(levels)), uint32(len(levels))
}

func (s *memory) mem() bytesAt {
	// SAFETY: every index is compared with the size before anything is read there.
	return unsafe.Pointer(unsafe.SliceData(s.b))
}

// load64 reads the 8 bytes at b[i:], little-endian, which the caller has found to be there.
func load64(b []byte, i int) uint64 {
	// SAFETY: every caller compares i+8 with len(b) first; i is never negative. The compiler can't see that and would compare again.
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))[:])
}

func load8(b bytesAt, at uint64) byte {
	// SAFETY: the caller has compared at with the size.
	return *(*byte)(unsafe.Add(b, at))
}

// load32 reads 4 bytes, little-endian.
func load32(b bytesAt, at uint64) uint32 {
	// SAFETY: the caller has compared at+4 with the size.
	x := (*[4]byte)(unsafe.Add(b, at))
	return uint32(x[0]) | uint32(x[1])<<8 | uint32(x[2])<<16 | uint32(x[3])<<24
}

// loadBE32 reads 4 bytes, big-endian.
func loadBE32(b bytesAt, at uint64) uint32 {
	// SAFETY: the caller has compared at+4 with the size.
	x := (*[4]byte)(unsafe.Add(b, at))
	return uint32(x[0])<<24 | uint32(x[1])<<16 | uint32(x[2])<<8 | uint32(x[3])
}

// opAt returns the op at an offset.
func opAt(code codeAt, pc uint64) op {
	// SAFETY: see setCode.
	return *(*op)(unsafe.Add(code, pc))
}

// toAt returns where to go from the op at an offset.
func toAt(code codeAt, pc uint64) uint64 {
	// SAFETY: see setCode.
	return (*cell)(unsafe.Add(code, pc)).to
}

// shapeAt returns what the second cell says of an op.
func shapeAt(code codeAt, pc uint64) op {
	// SAFETY: the op has two cells.
	return (*[2]cell)(unsafe.Add(code, pc))[1].op
}

// typeAt returns the other half of the second cell.
func typeAt(code codeAt, pc uint64) uint64 {
	// SAFETY: the op has two cells.
	return (*[2]cell)(unsafe.Add(code, pc))[1].to
}

// entryAt returns the words of an entry.
func entryAt(idx wordsAt, entry uint32) wordsAt {
	// SAFETY: see setIndex.
	return unsafe.Add(idx, uint64(entry)*4)
}

// number returns the number of an entry.
func (s *memory) number(w wordsAt) uint32 {
	// SAFETY: w was made of s.idx.
	return uint32((uintptr(w) - uintptr(s.idx)) / 4)
}

// wordsAfter returns the words that are n words further on.
func wordsAfter(w wordsAt, n uint32) wordsAt {
	// SAFETY: see setIndex; there are such words.
	return unsafe.Add(w, uint64(n)*4)
}

func put(w wordsAt, i, word uint32) {
	// SAFETY: see setIndex.
	*(*uint32)(unsafe.Add(w, uint64(i)*4)) = word
}

func wordAt(w wordsAt, i uint32) uint32 {
	// SAFETY: see setIndex.
	return *(*uint32)(unsafe.Add(w, uint64(i)*4))
}

func (s *memory) level(i uint32) *level {
	// SAFETY: see setLevels.
	return (*level)(unsafe.Add(s.levels, uint64(i)*uint64(unsafe.Sizeof(level{}))))
}

func (s *memory) height() uint32 { return s.most }
