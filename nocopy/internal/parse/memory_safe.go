//go:build nounsafe

package parse

import (
	"encoding/binary"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
)

// memory is the memory that a machine works on: the window, the index, the code and the levels.
type memory struct {
	b      []byte
	size   uint64 // of b
	idx    []uint32
	code   codeAt
	levels levelsAt
	most   uint64 // levels
}

type (
	bytesAt  = []byte
	wordsAt  = []uint32
	codeAt   = []program.Cell
	levelsAt = []level
)

func (s *memory) set(b []byte, idx []uint32, code []program.Cell) {
	s.b, s.size, s.idx, s.code = b, uint64(len(b)), idx, code
}

func levelsOf(levels []level) (levelsAt, uint64) { return levels, uint64(len(levels)) }

func memoryOf(b []byte, code []program.Cell) memory {
	return memory{b: b, size: uint64(len(b)), code: code}
}

func (s *memory) mem() bytesAt   { return s.b }
func (s *memory) window() []byte { return s.b }

func load8(b bytesAt, at uint64) byte      { return b[at] }
func load32(b bytesAt, at uint64) uint32   { return binary.LittleEndian.Uint32(b[at:]) }
func loadBE32(b bytesAt, at uint64) uint32 { return binary.BigEndian.Uint32(b[at:]) }

func opAt(code codeAt, pc uint64) program.Op    { return code[pc/program.CellSize].Op }
func reachAt(code codeAt, pc uint64) uint64     { return code[pc/program.CellSize].Op.Reach() }
func toAt(code codeAt, pc uint64) uint64        { return code[pc/program.CellSize].To }
func shapeAt(code codeAt, pc uint64) program.Op { return code[pc/program.CellSize+1].Op }
func typeAt(code codeAt, pc uint64) uint64      { return code[pc/program.CellSize+1].To }

func entryAt(idx wordsAt, entry uint32) wordsAt { return idx[entry:] }
func number(idx, w wordsAt) uint32              { return uint32(len(idx) - len(w)) }
func wordsAfter(w wordsAt, n uint32) wordsAt    { return w[n:] }
func put(w wordsAt, i, word uint32)             { w[i] = word }
func wordAt(w wordsAt, i uint32) uint32         { return w[i] }

func (s *memory) level(i uint32) *level { return &s.levels[i] }
func (s *memory) height() uint32        { return uint32(len(s.levels)) }
