package chain

import (
	"bytes"
	"testing"
)

// TestHeadroomInRest: a message may begin in a block that is hardly larger than its headroom. It
// has all of the headroom, and is in one piece with what is put there, whether the Buffer was kept
// for it or was not.
func TestHeadroomInRest(t *testing.T) {
	const keepTail = 512 // of package memory
	begin := func(kept bool, block, headroom int) *Buffer {
		b := new(Buffer)
		b.Reset(false)
		b.OpenRoot(0)
		b.Extend(b.Left() - block)
		b.Lend()
		b.Free() // keeps the rest of the block
		b.Reset(false)
		b.OpenRoot(0)
		b.Free()
		if b.Left() != block {
			t.Fatalf("a block of %d bytes is not kept", block)
		}
		if kept {
			b.Begin(false, headroom)
		} else {
			b.Reset(false)
			b.OpenRoot(headroom)
		}
		return b
	}
	for block := keepTail; block <= keepTail+6; block++ {
		for headroom := keepTail - 8; headroom <= keepTail+6; headroom++ {
			for _, kept := range []bool{true, false} {
				b := begin(kept, block, headroom)
				if b.Left() < 0 {
					t.Fatalf("block %d, headroom %d: %d bytes are left", block, headroom, b.Left())
				}
				b.AppendByte('m')
				b.Close()
				b.Seal()
				if got, whole := b.Bytes(); !whole || string(got) != "m" || !b.framed {
					t.Errorf("block %d, headroom %d, kept %t: %q, in one piece %t, with a length %t", block, headroom, kept, got, whole, b.framed)
				}
				if b.Prepend(headroom+1) != nil {
					t.Errorf("block %d, headroom %d: there is more headroom", block, headroom)
				}
				for i := range b.Prepend(headroom) {
					b.At(b.spans[b.root.first].from)[i] = 'h'
				}
				b.Seal()
				want := append(bytes.Repeat([]byte{'h'}, headroom), 'm')
				if got, whole := b.Bytes(); !whole || !bytes.Equal(got, want) {
					t.Errorf("block %d, headroom %d, kept %t: %q, in one piece %t", block, headroom, kept, got, whole)
				}
				if b.Prepend(1) != nil {
					t.Errorf("block %d, headroom %d: there is still headroom", block, headroom)
				}
				b.Free()
			}
		}
	}
}
