//go:build !nounsafe

package byteorder

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// swaps returns the ways of swapping in this build.
func swaps() map[string]func(dst, src []byte, size uintptr) {
	all := map[string]func(dst, src []byte, size uintptr){"singly": swapSingly}
	if vectorised {
		all["vector"] = func(dst, src []byte, size uintptr) {
			if len(dst) >= vectorSize {
				swapVector(&dst[0], &src[0], len(dst), &orders[size/2])
			}
		}
	}
	return all
}

// eachSwap runs test on every swap function. least is the smallest number of bytes that it takes.
func eachSwap(t *testing.T, test func(t *testing.T, size, least int, swap func(dst, src []byte))) {
	for way, swap := range swaps() {
		least := 0
		if way == "vector" {
			least = vectorSize
		}
		for _, size := range []int{1, 2, 4, 8} {
			t.Run(fmt.Sprint(way, 8*size), func(t *testing.T) {
				test(t, size, least, func(dst, src []byte) { swap(dst, src, uintptr(size)) })
			})
		}
	}
}

// swapped returns the expected result, computed byte by byte.
func swapped(src []byte, size int) []byte {
	dst := bytes.Clone(src)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		return dst
	}
	for i := range dst {
		dst[i] = src[i/size*size+size-1-i%size]
	}
	return dst
}

func random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

// TestSwapLengths tries every length and every alignment of both sides. The bytes around the
// destination, and the whole source, stay unchanged.
func TestSwapLengths(t *testing.T) {
	const guard, longest = 64, 200
	eachSwap(t, func(t *testing.T, size, least int, swap func(dst, src []byte)) {
		source, around := random(longest*size+vectorSize), random(longest*size+vectorSize+2*guard)
		memory, before := make([]byte, len(around)), bytes.Clone(source)
		for n := range longest + 1 {
			if n*size < least {
				continue
			}
			// For short slices all pairs of alignments; for long ones all alignments of each side.
			for from := range vectorSize {
				for to := range vectorSize {
					if n*size > 5*vectorSize && from != 0 && to != 0 && from != to {
						continue
					}
					copy(memory, around)
					src := source[from:][: n*size : n*size]
					dst := memory[guard+to:][: n*size : n*size]
					swap(dst, src)
					if want := swapped(src, size); !bytes.Equal(dst, want) {
						t.Fatalf("%d elements from %d to %d: %x instead of %x", n, from, to, dst, want)
					}
					if !bytes.Equal(memory[:guard+to], around[:guard+to]) || !bytes.Equal(memory[guard+to+n*size:], around[guard+to+n*size:]) {
						t.Fatalf("%d elements from %d to %d: bytes around them changed", n, from, to)
					}
				}
			}
		}
		if !bytes.Equal(source, before) {
			t.Error("the source changed")
		}
	})
}

// TestSwapLarge tries sizes above the caches', and lengths around the size of an iteration.
func TestSwapLarge(t *testing.T) {
	source := random(4<<20 + 100)
	eachSwap(t, func(t *testing.T, size, _ int, swap func(dst, src []byte)) {
		for _, n := range []int{4 << 10, 64<<10 - 8, 1 << 20, 4<<20 + 96} {
			for _, from := range []int{0, 1, 4} {
				src := source[from : from+n]
				memory := bytes.Repeat([]byte{0xa5}, n+2)
				dst := memory[1 : 1+n : 1+n]
				swap(dst, src)
				if !bytes.Equal(dst, swapped(src, size)) || memory[0] != 0xa5 || memory[n+1] != 0xa5 {
					t.Errorf("%d bytes from %d are not swapped", n, from)
				}
			}
		}
	})
}

// TestSwapTwice: swapping twice restores the bytes.
func TestSwapTwice(t *testing.T) {
	src := random(1000 * 8)
	eachSwap(t, func(t *testing.T, _, _ int, swap func(dst, src []byte)) {
		once, twice := make([]byte, len(src)), make([]byte, len(src))
		swap(once, src)
		swap(twice, once)
		if !bytes.Equal(twice, src) {
			t.Error("another value")
		}
	})
}
