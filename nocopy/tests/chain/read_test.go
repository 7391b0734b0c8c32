package chain_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// readN reads n bytes into the Buffer and returns the message.
func readN(b *chain.Buffer, r io.Reader, n int) ([]byte, error) {
	p, mem, err := b.ReadN(r, n)
	if err == nil && n > 0 && &b.At(p)[0] != &mem[0] {
		panic("the bytes are not where their position says")
	}
	return mem, err
}

func TestReadN(t *testing.T) {
	data := make([]byte, 3<<20+17)
	for i := range data {
		data[i] = byte(i * 31)
	}
	for _, n := range []int{0, 1, 100, firstRead - 1, firstRead, firstRead + 1, 200_000, 1 << 20, len(data)} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for _, recycle := range []bool{false, true} {
				for name, r := range map[string]io.Reader{
					"whole": bytes.NewReader(data), "halves": iotest.HalfReader(bytes.NewReader(data)), "last with EOF": iotest.DataErrReader(bytes.NewReader(data[:n])),
				} {
					var b chain.Buffer
					b.Reset(recycle)
					got, err := readN(&b, r, n)
					if err != nil || !bytes.Equal(got, data[:n]) {
						t.Errorf("%d bytes, %s: %d bytes, %v", n, name, len(got), err)
					}
					b.Free()
				}
			}
		})
	}
}

// TestReadPromise: memory grows with the bytes that arrive, not with n.
func TestReadPromise(t *testing.T) {
	for _, c := range []struct{ arrive, bound int }{
		{0, 256 << 10}, {1, 256 << 10}, {firstRead, 2 << 20}, {1 << 20, 40 << 20}, {10 << 20, 64 << 20},
	} {
		data := make([]byte, c.arrive)
		for _, recycle := range []bool{false, true} {
			var b chain.Buffer
			b.Reset(recycle)
			for range 3 { // empty the pools
				runtime.GC()
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := b.ReadN(bytes.NewReader(data), chain.MaxSize)
			runtime.ReadMemStats(&after)
			if err != io.ErrUnexpectedEOF {
				t.Errorf("%d bytes of 1 GiB: %v", c.arrive, err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > uint64(c.bound) {
				t.Errorf("%d bytes of 1 GiB: %d bytes allocated", c.arrive, got)
			}
			b.Free()
		}
	}
	broken := errors.New("broken")
	var b chain.Buffer
	b.Reset(false)
	if _, _, err := b.ReadN(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)), 10); err != broken {
		t.Errorf("the reader's error: %v", err)
	}
}
