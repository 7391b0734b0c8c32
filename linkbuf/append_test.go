package linkbuf

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAppendBehind appends texts of all lengths that are copied in another way, behind heads of all lengths, up to the end of
// the block at the tail and beyond it. Nothing but their own bytes may change.
func TestAppendBehind(t *testing.T) {
	const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	source := strings.Repeat(alphabet, 10)
	const head = 0x0102030405060708
	for n := range 140 {
		for lead := range 9 {
			for _, left := range []int{n + lead - 1, n + lead, n + lead + 1, n + 8, n + 9, n + 10, 400} {
				if left <= 0 {
					continue
				}
				var b Buffer
				b.Reset(false)
				b.OpenRoot(0)
				b.Extend(1)
				b.Extend(len(b.tail) - b.used - left) // so much is left
				block, used := b.tail, b.used
				for i := range block {
					block[i] = '.'
				}
				v := source[7 : 7+n]
				p := b.AppendBehind(head, lead, v)
				want := string(binary.BigEndian.AppendUint64(nil, head)[:lead]) + v
				if diff := cmp.Diff(want, string(b.At(p)[:len(want)])); diff != "" {
					t.Fatalf("%d bytes behind %d, %d left (-want +got):\n%s", n, lead, left, diff)
				}
				if got := b.tailEnd(); got != p+Pos(len(want)) {
					t.Errorf("%d bytes behind %d, %d left: the next goes to %d, not %d", n, lead, left, got, p+Pos(len(want)))
				}
				if strings.Trim(string(block[:used]), ".") != "" {
					t.Fatalf("%d bytes behind %d, %d left: bytes in front of them have changed", n, lead, left)
				}
			}
		}
	}
}

// TestInTail: values may be stored in what is being built, and nowhere else.
func TestInTail(t *testing.T) {
	var b, other Buffer
	b.Reset(false)
	b.OpenRoot(0)
	p, mem := b.Extend(16)
	for _, n := range []int{1, 4, 8, 16} {
		clear(mem)
		last := p + 16 - Pos(n)
		got := b.InTail(last, n)
		if len(got) != n || cap(got) != n {
			t.Fatalf("%d bytes at the end: %d, room for %d", n, len(got), cap(got))
		}
		for i := range got {
			got[i] = 'x'
		}
		if want := append(make([]byte, 16-n), bytes.Repeat([]byte{'x'}, n)...); !bytes.Equal(mem, want) {
			t.Errorf("%d bytes at the end are at %q", n, mem)
		}
		for _, no := range []Pos{0, p - 1, last + 1, p + 16, p + segSize, 1 << 30} {
			if b.InTail(no, n) != nil {
				t.Errorf("%d bytes at %d, where nothing is", n, no)
			}
		}
	}
	b.Seal()
	other.Reset(false)
	other.Share(&b, p, 8)
	if b.InTail(p, 1) != nil {
		t.Error("memory that is shared may be stored into")
	}
}
