//go:build nounsafe

package nocopy

import (
	"encoding/binary"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// room returns the bytes of the block at the tail from at on. fit must have made sure of them.
func (r *XRow) room(at int) *[rowSlack]byte { return (*[rowSlack]byte)(r.mem[at:]) }

// Text writes a string. It refers to a string of 4 KiB or more.
func (r *XRow) Text(at int, f XField, v string) int {
	n := len(v)
	if n >= referSize || !r.fits(at, n) {
		return r.longText(at, f, v)
	}
	r.set(f, r.base+uint32(at)+wire.FieldHeader)
	binary.BigEndian.PutUint64(r.mem[at:], uint64(f)<<40|uint64(n)<<8)
	at += wire.FieldHeader + wire.TextHeader
	return at + copy(r.mem[at:], v)
}

// element writes a text without a field header and stores its position in a word.
func (r *XRow) element(at int, word uint32, v string) int {
	n := len(v)
	if n >= referSize || !r.fits(at, n) {
		return r.longElement(at, word, v)
	}
	r.idx[word] = r.base + uint32(at)
	wire.PutBE32(r.mem[at:], uint32(n))
	at += wire.TextHeader
	return at + copy(r.mem[at:], v)
}

// shortElements writes none of the texts and returns 0 for their number: in this build nothing
// would be won.
func (r *XRow) shortElements(at int, word uint32, v []string) (int, int) { return at, 0 }
