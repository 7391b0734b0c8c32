package chain

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// TestAppendWithHead appends texts of all lengths for which there is special code, after heads of
// all lengths, up to the end of the block at the tail and beyond it. No other bytes may change.
func TestAppendWithHead(t *testing.T) {
	const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	source := strings.Repeat(alphabet, 10)
	const head = 0x0102030405060708
	var dots []byte
	for n := range memory.MaxShort + 40 {
		if n > 80 && n%32 > 2 && n%32 < 30 {
			continue
		}
		for lead := range 9 {
			for _, left := range []int{n + lead - 1, n + lead, n + lead + 1, n + 8, n + 9, n + 10, 400} {
				if left <= 0 {
					continue
				}
				var b Buffer
				b.Reset(false)
				b.OpenRoot(0)
				b.Extend(1)
				b.Extend(b.Left() - left) // leaves room for left bytes
				block, used := b.At(FirstPos), int(b.Tail()-FirstPos)
				if len(dots) < len(block) {
					dots = bytes.Repeat([]byte("."), len(block))
				}
				copy(block, dots)
				v := source[7 : 7+n]
				p := b.AppendWithHead(head, lead, v)
				want := string(binary.BigEndian.AppendUint64(nil, head)[:lead]) + v
				if got := string(b.At(p)[:len(want)]); got != want {
					t.Fatalf("%d bytes after %d, %d left: %q instead of %q", n, lead, left, got, want)
				}
				if got := b.Tail(); got != p+Pos(len(want)) {
					t.Errorf("%d bytes after %d, %d left: the next goes to %d, not %d", n, lead, left, got, p+Pos(len(want)))
				}
				if !bytes.Equal(block[:used], dots[:used]) {
					t.Fatalf("%d bytes after %d, %d left: bytes before them have changed", n, lead, left)
				}
			}
		}
	}
}

// TestFits: if a text Fits, the block has enough room after it for AppendShort to store whole
// words. MakeFit makes a text fit.
func TestFits(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 100, memory.MaxShort - 1, memory.MaxShort} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for left := range memory.MaxShort + 40 {
				if left == 0 {
					continue
				}
				var b Buffer
				b.Reset(false)
				b.OpenRoot(0)
				b.Extend(1)
				b.Extend(b.Left() - left)
				if fits := b.Fits(n); fits != (left >= memory.ToFit(n)) {
					t.Fatalf("%d bytes, %d left: %t", n, left, fits)
				}
				if b.MakeFit(n); !b.Fits(n) {
					t.Fatalf("%d bytes, %d left: made to fit, and don't", n, left)
				}
			}
		})
	}
	var b Buffer
	b.Reset(false)
	b.OpenRoot(0)
	if b.MakeFit(memory.MaxShort); b.Fits(memory.MaxShort + 1) {
		t.Error("more than MaxShort bytes fit")
	}
}

// TestAppendByte appends single bytes up to the end of a block and beyond it.
func TestAppendByte(t *testing.T) {
	var b Buffer
	b.Reset(false)
	b.OpenRoot(0)
	b.Extend(1)
	b.Extend(b.Left() - 3)
	for i := range 6 {
		next := b.Tail()
		p := b.AppendByte(byte('a' + i))
		if i < 3 && p != next {
			t.Errorf("byte %d is at %d, not at the tail, %d", i, p, next)
		}
		if got := b.At(p)[0]; got != byte('a'+i) {
			t.Errorf("byte %d is %q", i, got)
		}
	}
	b.Seal()
	all := b.AppendTo(nil)
	if got := string(all[len(all)-6:]); got != "abcdef" {
		t.Errorf("the message ends with %q", got)
	}
}

// TestAppendTexts appends texts of all lengths from all kinds of slices, with more and less room
// at the tail.
func TestAppendTexts(t *testing.T) {
	var texts []string
	for i := range 60 {
		texts = append(texts, strings.Repeat(string(rune('a'+i%26)), i%20))
	}
	for left := 1; left < 400; left += 3 {
		for from := range texts {
			var b Buffer
			b.Reset(false)
			b.OpenRoot(0)
			b.Extend(1)
			b.Extend(b.Left() - left)
			v, start := texts[from:], b.Tail()
			at := make([]Pos, len(v)+1)
			n := memory.AppendTexts(&b.Space, v, at)
			want := []byte(nil)
			for i, x := range v[:n] {
				if at[i] != start+Pos(len(want)) {
					t.Fatalf("text %d of %d is at %d, not %d", i, n, at[i], start+Pos(len(want)))
				}
				want = append(binary.BigEndian.AppendUint32(want, uint32(len(x))), x...)
			}
			if got := b.At(start)[:len(want)]; !bytes.Equal(got, want) || b.Tail() != start+Pos(len(want)) {
				t.Fatalf("%d left: %d bytes, %q, not %q", left, b.Tail()-start, got, want)
			}
			if n > 0 && n < len(v) && left > 100 && len(v[n]) >= 4 && len(v[n]) <= 16 && len(want)+30 < left {
				t.Fatalf("%d left, %d used: stopped at a text of %d bytes", left, len(want), len(v[n]))
			}
			if at[len(v)] != 0 {
				t.Fatal("a position after the last one was stored")
			}
		}
	}
}

// TestPut: values that are InTail can be stored into. Only bytes that are being built are InTail.
func TestPut(t *testing.T) {
	var b Buffer
	b.Reset(false)
	b.OpenRoot(0)
	p, mem := b.Extend(16)
	copy(mem, "................")
	b.Put8(p+8, 0x4142434445464748)
	b.Put4(p+1, 0x61626364)
	b.Put2(p+5, 0x3031)
	b.Put1(p, 'x')
	if string(mem) != "xabcd01.ABCDEFGH" {
		t.Errorf("%q", mem)
	}
	for _, n := range []int{1, 2, 4, 8, 16} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			last := p + 16 - Pos(n)
			if !b.InTail(p, n) || !b.InTail(last, n) {
				t.Errorf("%d bytes are not where they are", n)
			}
			for _, no := range []Pos{0, p - 2, last + 1, p + 16, p + FirstPos, 1 << 30} {
				if b.InTail(no, n) {
					t.Errorf("%d bytes at %d, where nothing is", n, no)
				}
			}
		})
	}
	b.Seal()
	var other Buffer
	other.Reset(false)
	other.ShareFrom(&b.Space, p, 8)
	if b.InTail(p, 1) {
		t.Error("memory that is shared may be stored into")
	}
}
