package chain

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// TestFreezeThenShare: a Buffer uses frozen memory again if it recycles and the memory was not
// also shared.
func TestFreezeThenShare(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		t.Run(fmt.Sprint(recycle), func(t *testing.T) {
			for _, share := range []bool{false, true} {
				src, dst := new(Buffer), new(Buffer)
				fill := func(x byte) *byte {
					src.Begin(recycle, 8)
					_, mem := src.Extend(100)
					copy(mem, bytes.Repeat([]byte{x}, 100))
					src.Close()
					src.Seal()
					return &src.At(FirstPos)[0]
				}
				first := fill(1)
				src.Freeze()
				if src.InTail(src.pieces[0].from, 8) || src.Writable(src.pieces[0].from) {
					t.Errorf("recycle %v: what is frozen may be stored into", recycle)
				}
				dst.Reset(recycle)
				shared := []byte(nil)
				if share {
					p := dst.ShareFrom(&src.Space, src.pieces[0].from, 100)
					shared = dst.At(p)[:100]
				}
				src.Free()
				second := fill(2)
				if share && !bytes.Equal(shared, bytes.Repeat([]byte{1}, 100)) {
					t.Errorf("recycle %v: what was shared has changed", recycle)
				}
				if again := first == second; again != (recycle && !share) && !memory.Debugging {
					t.Errorf("recycle %v, shared %v: the same memory again: %v", recycle, share, again)
				}
				if !src.Writable(src.pieces[0].from) || !src.InTail(src.pieces[0].from, 8) {
					t.Errorf("recycle %v, shared %v: the next message can't be stored into", recycle, share)
				}
				src.Free()
				dst.Free()
			}
		})
	}
}
