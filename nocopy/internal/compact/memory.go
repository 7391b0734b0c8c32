package compact

import (
	"github.com/nocopythrift/nocopythrift/internal/spare"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// PieceSize is the number of bytes of memory that a Reader or Writer keeps, and that a Writer
// passes on at once, except for texts.
const PieceSize = 64 << 10

// large keeps memory for the next large message.
var large spare.Pool[[]byte]

// takeMemory returns at least n bytes, contents undefined.
func takeMemory(n int) []byte {
	if n <= PieceSize {
		return make([]byte, n)
	}
	if i := large.Get(n, 8*n); i != nil {
		return i.Value[:cap(i.Value)]
	}
	return make([]byte, n)
}

// giveMemory gives memory back that is not used any more.
func giveMemory(w []byte) {
	if cap(w) > PieceSize {
		large.Put(&spare.Item[[]byte]{Value: w, Size: cap(w)})
	}
}

// mostLevels is the number of levels that a Reader or Writer keeps memory for.
const mostLevels = 1 << 10

// memory is what a Reader or Writer makes, and where it is in its input.
type memory struct {
	w     []byte // with its capacity
	n     int    // how many bytes of w are filled
	stack []level
}

// level is a struct or container that has not ended yet. A Reader has types of the compact
// protocol in elem and keys, a Writer those of Thrift Binary.
type level struct {
	typ   *schema.Type // of a struct; of elements and values; a Writer knows none
	key   *schema.Type // of keys; of elements, too
	left  uint32       // elements that have not come yet; of a map, keys and values
	count uint32
	last  int16 // id of a struct's last field
	kind  byte  // record, list (a set, too) or dict
	elem  byte  // type of elements or values
	keys  byte  // type of keys; of elements, too
}

// nextElement reports whether the struct that has ended is an element of a list with further
// elements. The next element then takes its level.
func (m *memory) nextElement() bool {
	k := len(m.stack) - 2
	if k < 0 || m.stack[k].kind != list || m.stack[k].left == 0 {
		return false
	}
	m.stack[k].left--
	return true
}

// fit makes n bytes of memory ready, contents undefined.
func (m *memory) fit(n int) {
	if n > cap(m.w) {
		m.n = 0
		m.grow(n)
	}
}

// grow moves the bytes that were made to n bytes of memory.
func (m *memory) grow(n int) {
	w := takeMemory(n)
	copy(w, m.w[:m.n])
	giveMemory(m.w)
	m.w = w[:cap(w)]
}

// free gives memory back that is too large to be kept.
func (m *memory) free() {
	if m.n = 0; cap(m.w) > PieceSize {
		giveMemory(m.w)
		m.w = nil
	}
	if cap(m.stack) > mostLevels {
		m.stack = nil
	}
	clear(m.stack[:cap(m.stack)]) // keeps no types alive
	m.stack = m.stack[:0]
}

// Bytes returns the bytes that were made. They are valid until the next Reset or Write.
func (m *memory) Bytes() []byte { return m.w[:m.n] }

// Take returns the bytes that were made since the last Take. They are valid until more are made.
func (m *memory) Take() []byte {
	b := m.w[:m.n]
	m.n = 0
	return b
}
