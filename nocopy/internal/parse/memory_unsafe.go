//go:build !nounsafe

package parse

import (
	"unsafe"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
)

// memory is the memory that a machine works on: the window, the index, the code and the levels.
type memory struct {
	// SAFETY: see set for what keeps each use within what it points to.
	b      bytesAt
	size   uint64 // of the window
	idx    wordsAt
	code   codeAt
	levels levelsAt
	most   uint64 // levels
}

type (
	// SAFETY: each is made from a memory; see the functions that take one for what they need.
	bytesAt = unsafe.Pointer
	wordsAt = unsafe.Pointer
	codeAt  = unsafe.Pointer
	// SAFETY: see levelsOf.
	levelsAt = unsafe.Pointer
)

// set gives a machine a window, an index and the code.
func (s *memory) set(b []byte, idx []uint32, code []program.Cell) {
	// SAFETY: every index in the window is compared with its size before anything is read there.
	// Nothing is stored in the index but words that the machine has room for, and the entry that it
	// begins with. All offsets in the code come from these cells, or from programs that were compiled
	// before.
	s.b, s.size = unsafe.Pointer(unsafe.SliceData(b)), uint64(len(b))
	s.idx = unsafe.Pointer(unsafe.SliceData(idx))
	s.code = unsafe.Pointer(unsafe.SliceData(code))
}

// levelsOf returns what a machine's levels and most are set to. The levels do not escape by it, as
// they would if set stored them.
func levelsOf(levels []level) (levelsAt, uint64) {
	// SAFETY: a level is only made below most.
	return unsafe.Pointer(unsafe.SliceData(levels)), uint64(len(levels))
}

// memoryOf returns the memory of a machine that only passes. Unlike set it does not make the cells
// escape.
func memoryOf(b []byte, code []program.Cell) memory {
	// SAFETY: see set.
	return memory{b: unsafe.Pointer(unsafe.SliceData(b)), size: uint64(len(b)), code: unsafe.Pointer(unsafe.SliceData(code))}
}

func (s *memory) mem() bytesAt { return s.b }

func (s *memory) window() []byte {
	// SAFETY: these are the bytes that set was given.
	return unsafe.Slice((*byte)(s.b), s.size)
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
func opAt(code codeAt, pc uint64) program.Op {
	// SAFETY: see set.
	return *(*program.Op)(unsafe.Add(code, pc))
}

// reachAt returns the reach of the op at an offset. The other half of a load costs less than a
// shift.
func reachAt(code codeAt, pc uint64) uint64 {
	// SAFETY: see set.
	return uint64((*[8]byte)(unsafe.Add(code, pc))[program.OpReach/8])
}

// toAt returns where to go from the op at an offset.
func toAt(code codeAt, pc uint64) uint64 {
	// SAFETY: see set.
	return (*program.Cell)(unsafe.Add(code, pc)).To
}

// shapeAt returns what the second cell says of an op.
func shapeAt(code codeAt, pc uint64) program.Op {
	// SAFETY: the op has two cells.
	return (*[2]program.Cell)(unsafe.Add(code, pc))[1].Op
}

// typeAt returns the other half of the second cell.
func typeAt(code codeAt, pc uint64) uint64 {
	// SAFETY: the op has two cells.
	return (*[2]program.Cell)(unsafe.Add(code, pc))[1].To
}

// entryAt returns the words of an entry.
func entryAt(idx wordsAt, entry uint32) wordsAt {
	// SAFETY: see set.
	return unsafe.Add(idx, uint64(entry)*4)
}

// number returns the number of an entry of an index.
func number(idx, w wordsAt) uint32 {
	// SAFETY: w was made of idx.
	return uint32((uintptr(w) - uintptr(idx)) / 4)
}

// wordsAfter returns the words that are n words further on.
func wordsAfter(w wordsAt, n uint32) wordsAt {
	// SAFETY: see set; there are such words.
	return unsafe.Add(w, uint64(n)*4)
}

func put(w wordsAt, i, word uint32) {
	// SAFETY: see set.
	*(*uint32)(unsafe.Add(w, uint64(i)*4)) = word
}

func wordAt(w wordsAt, i uint32) uint32 {
	// SAFETY: see set.
	return *(*uint32)(unsafe.Add(w, uint64(i)*4))
}

func (s *memory) level(i uint32) *level {
	// SAFETY: see set.
	return (*level)(unsafe.Add(s.levels, uint64(i)*uint64(unsafe.Sizeof(level{}))))
}

func (s *memory) height() uint32 { return uint32(s.most) }
