//go:build !nounsafe

package byteorder

import (
	"bytes"
	"os"
	"syscall"
	"testing"
)

// fenced returns n bytes with inaccessible memory just after them or, with front, just before
// them.
func fenced(t *testing.T, n int, front bool) []byte {
	t.Helper()
	page := os.Getpagesize()
	size := (n + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(b); err != nil {
			t.Error(err)
		}
	})
	for _, fence := range [][]byte{b[:page], b[page+size:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	if front {
		return b[page : page+n : page+n]
	}
	return b[page+size-n : page+size : page+size]
}

// TestSwapStaysInside: swapping reads and writes no memory outside the two slices.
func TestSwapStaysInside(t *testing.T) {
	const longest = 200 * 8
	for _, front := range []bool{true, false} {
		source, memory := fenced(t, longest, front), fenced(t, longest, front)
		copy(source, random(longest))
		eachSwap(t, func(t *testing.T, size, least int, swap func(dst, src []byte)) {
			for n := least; n <= longest; n += size {
				src, dst := source[longest-n:], memory[longest-n:]
				if front {
					src, dst = source[:n], memory[:n]
				}
				swap(dst, src)
				if !bytes.Equal(dst, swapped(src, size)) {
					t.Fatalf("%d bytes are not swapped", n)
				}
			}
		})
	}
}
