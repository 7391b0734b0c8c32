package linkbuf

import (
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

// TestStore: numbers are stored in what is being built, and nowhere else.
func TestStore(t *testing.T) {
	var b, other Buffer
	b.Reset(false)
	b.OpenRoot(0)
	p, mem := b.Extend(16)
	clear(mem)
	for _, c := range []struct {
		name  string
		store func(Pos) bool
		size  Pos
		want  []byte
	}{
		{"1", func(p Pos) bool { return b.Store1(p, 1) }, 1, []byte{1}},
		{"4", func(p Pos) bool { return b.Store4(p, 0x01020304) }, 4, []byte{1, 2, 3, 4}},
		{"8", func(p Pos) bool { return b.Store8(p, 0x0102030405060708) }, 8, []byte{1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		clear(mem)
		last := p + 16 - c.size
		if !c.store(last) {
			t.Errorf("%s: not stored at the end", c.name)
		}
		want := append(make([]byte, last-p), c.want...)
		if diff := cmp.Diff(want, mem); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		for _, no := range []Pos{0, p - 1, last + 1, p + 16, p + segSize, 1 << 30} {
			if c.store(no) {
				t.Errorf("%s: stored at %d, where nothing is", c.name, no)
			}
		}
	}
	b.Seal()
	other.Reset(false)
	other.Share(&b, p, 8)
	if b.Store1(p, 9) || b.Store4(p, 9) || b.Store8(p, 9) {
		t.Error("stored in memory that is shared")
	}
}
