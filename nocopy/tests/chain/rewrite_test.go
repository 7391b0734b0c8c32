package chain_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// received has the ways to get a message into a Buffer in one piece.
var received = map[string]func(b *chain.Buffer, mem []byte, recycle bool) chain.Pos{
	"referred to": func(b *chain.Buffer, mem []byte, recycle bool) chain.Pos { return b.Refer(mem, recycle, false) },
	"read": func(b *chain.Buffer, mem []byte, recycle bool) (at chain.Pos) {
		b.Reset(recycle)
		at, _, err := b.ReadN(bytes.NewReader(mem), len(mem))
		if err != nil {
			panic(err)
		}
		b.SetRoot(at, at+chain.Pos(len(mem)))
		return at
	},
}

// TestRewrite: bytes of a small message are replaced in a copy of it, again and again, up to a
// limit.
func TestRewrite(t *testing.T) {
	for _, c := range []struct {
		size, from, to, n int
		want              bool
	}{
		{1, 0, 1, 1, true}, {1, 0, 0, 5, true}, {9, 9, 9, 3, true}, {9, 0, 9, 0, true}, {100, 20, 30, 5, true}, {100, 20, 30, 50, true},
		{adopted, 7, 9, 2, true}, {adopted, 7, 9, 3, false}, {adopted + 1, 7, 9, 1, true}, {adopted + 1, 7, 9, 2, false},
	} {
		for how, receive := range received {
			for _, recycle := range []bool{false, true} {
				mem := bytes.Repeat([]byte("abcdefghij"), c.size/10+1)[:c.size]
				before := string(mem)
				var b chain.Buffer
				b.Reset(recycle)
				at := receive(&b, mem, recycle)
				want, to := before, c.to
				for again := 0; ; again++ {
					from, end := at+chain.Pos(c.from), at+chain.Pos(to)
					if c.n > b.MostRewritten(from, end) {
						if c.want != (again > 0) {
							t.Errorf("%s, %+v: rewritten %d times", how, c, again)
						}
						break
					}
					got, moved := b.Rewrite(from, end, c.n)
					text := strings.Repeat("X", c.n)
					if n := copy(got, text); n != c.n || cap(got) != n {
						t.Fatalf("%s, %+v: %d bytes of %d", how, c, n, cap(got))
					}
					want = want[:c.from] + text + want[to:]
					at += moved
					for i := range len(want) {
						if p := at + chain.Pos(i); b.At(p)[0] != want[i] || !b.Writable(p) {
							t.Fatalf("%s, %+v: byte %d is %q at %d, writable %v", how, c, i, b.At(p)[0], p, b.Writable(p))
						}
					}
					if again > 10*adopted {
						t.Fatalf("%s, %+v: rewritten for ever", how, c)
					}
					to = c.from + c.n // replace the same bytes again
				}
				if got := b.AppendTo(nil); string(got) != want || b.Len() != len(want) || string(mem) != before {
					t.Errorf("%s, %+v: %q", how, c, got)
				}
				b.Free()
			}
		}
	}
}

// TestRewriteRefused: only received, unchanged messages in one piece are rewritten.
func TestRewriteRefused(t *testing.T) {
	for name, prepare := range map[string]func(b *chain.Buffer) chain.Pos{
		"built, with headroom": func(b *chain.Buffer) chain.Pos {
			b.Begin(false, 8)
			p, mem := b.Extend(10)
			copy(mem, "abcdefghij")
			b.Close()
			b.Seal()
			return p
		},
		"being built": func(b *chain.Buffer) chain.Pos {
			b.Begin(false, 0)
			p, mem := b.Extend(10)
			copy(mem, "abcdefghij")
			return p
		},
		"two pieces": func(b *chain.Buffer) chain.Pos {
			b.Reset(false)
			for range 2 {
				p := b.AddForeign([]byte("abcde"), false)
				b.AddRoot(p, p+5)
			}
			b.Seal()
			return chain.FirstPos
		},
		"more memory": func(b *chain.Buffer) chain.Pos {
			p := b.Refer([]byte("abcdefghij"), false, false)
			b.Stitch(5)
			b.Seal()
			return p
		},
		"a node": func(b *chain.Buffer) chain.Pos {
			p := b.Refer([]byte("abcdefghij"), false, false)
			b.SetEmpty(b.AddReplace(p, p+1))
			b.Seal()
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b chain.Buffer
			at := prepare(&b)
			if n := b.MostRewritten(at+1, at+2); n >= 0 {
				t.Errorf("%s: could be rewritten with %d bytes", name, n)
			}
		})
	}
}
