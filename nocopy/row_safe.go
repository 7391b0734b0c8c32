//go:build nounsafe

package nocopy

import "encoding/binary"

// room returns the bytes of the block at the tail from at on. fit must have made sure of them.
func (r *XRow) room(at int) *[rowSlack]byte { return (*[rowSlack]byte)(r.mem[at:]) }

// putShort stores the high bytes of head, lead of them, and v from at on. fit must have made sure
// of them.
func (r *XRow) putShort(at int, head uint64, lead int, v string) {
	binary.BigEndian.PutUint64(r.mem[at:], head)
	copy(r.mem[at+lead:], v)
}
