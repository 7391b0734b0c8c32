package chain_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// TestDraftBegins: a message that begins with a draft, which is adopted or copied, is sent as one
// piece. Bytes may be put before it, and a frame has its length.
func TestDraftBegins(t *testing.T) {
	for _, n := range []int{1, 16<<10 - 1, 16 << 10, 200_000} {
		for _, recycle := range []bool{false, true} {
			var b chain.Buffer
			b.Begin(recycle, 8)
			d := b.NewDraft(n + 1)
			want := bytes.Repeat([]byte{'a', 'b', 'c'}, n)[:n]
			copy(d.Mem(), want)
			if p, mem := b.Ahead(&d, n); !d.Zero() || !bytes.Equal(mem, want) || &b.At(p)[0] != &mem[0] {
				t.Fatalf("%d bytes are not where their position says", n)
			}
			b.Advance(n)
			b.AppendByte('.')
			b.Close()
			b.Seal()
			want = append(want, '.')
			if got, whole := b.Bytes(); !whole || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, recycle %t: in one piece: %t", n, recycle, whole)
			}
			copy(b.Prepend(3), "<<<")
			b.Seal()
			want = append([]byte("<<<"), want...)
			var out bytes.Buffer
			if _, err := b.WriteFrame(&out); err != nil || !bytes.Equal(out.Bytes()[4:], want) ||
				binary.BigEndian.Uint32(out.Bytes()) != uint32(len(want)) {
				t.Errorf("%d bytes, recycle %t: the frame is not as wanted, error %v", n, recycle, err)
			}
			b.Free()
		}
	}
}
