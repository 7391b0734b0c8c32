//go:build !nounsafe

package nocopy

import (
	"unsafe"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// room returns the bytes of the block at the tail from at on. fit must have made sure of them.
func (r *XRow) room(at int) *[rowSlack]byte {
	// SAFETY: fit has compared uint32(at)+rowSlack with the length of the block.
	return (*[rowSlack]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(r.mem)), uint32(at)))
}

// putShort stores head and v from at on, as chain.PutShort does. fit must have made sure of them.
func (r *XRow) putShort(at int, head uint64, lead int, v string) {
	// SAFETY: as in room; fits has added the length of v.
	chain.PutShort((*[8]byte)(r.room(at)[:]), head, lead, v)
}
