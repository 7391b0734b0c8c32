package engine_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// pieces returns a chunk of pieces of n bytes.
func pieces(wire []byte, n int, recycle bool) chain.Chunk {
	var r chain.Receiver
	r.Reset(recycle)
	defer r.Free()
	for src := bytes.NewReader(wire); src.Len() > 0 || len(r.Bytes()) > n; {
		for len(r.Bytes()) > n {
			r.Cut(n)
		}
		if src.Len() > 0 {
			if err := r.Fill(src, n+1); err != nil {
				panic(err)
			}
		}
	}
	return r.Take(len(r.Bytes()))
}

// TestScatteredManyPieces: more pieces than there are positions for are copied together.
func TestScatteredManyPieces(t *testing.T) {
	wire := []byte("\x0f\x00\x11\x0c" + be(20_000) + strings.Repeat("\x08\x00\x01\x00\x00\x00\x05\x00", 20_000) + "\x00")
	for _, n := range []int{3, 10, 80, 97} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { // 160,000 bytes in 53,000 pieces or less
			for _, recycle := range []bool{false, true} {
				blocks := chain.BlocksInUse()
				s, err := engine.ParseChunk(allDesc, pieces(wire, n, recycle), engine.Limits{}, recycle, false)
				if err != nil {
					t.Fatalf("pieces of %d: %v", n, err)
				}
				points := nocopy.StructList[engine.Struct](s.Child(fieldNamed(allDesc, "points"), allDesc))
				if points.Len() != 20_000 || points.At(19_999).Int32(pointDesc.Field(0)) != 5 {
					t.Errorf("pieces of %d: read otherwise", n)
				}
				for i := range 20_000 {
					points.At(i).SetInt32(pointDesc.Field(1), 1)
				}
				if got := s.Message().Len(); got != len(wire)+20_000*7 {
					t.Errorf("pieces of %d: edited it has %d bytes", n, got)
				}
				s.Release()
				if now := chain.BlocksInUse(); now != blocks {
					t.Errorf("pieces of %d: %d blocks in use, %d before", n, now, blocks)
				}
			}
		})
	}
}

// TestScatteredHuge: no message up to 1 GiB is refused for how it is cut, nor takes the program
// down.
func TestScatteredHuge(t *testing.T) {
	if !testmode.Long || raceEnabled {
		t.Skip("takes gigabytes")
	}
	block := make([]byte, 16<<20)
	text := func(n int) []byte { return []byte("\x0b\x00\x08" + be(n)) }
	for name, sizes := range map[string][]int{
		"one of 690 MiB": {690 << 20}, "one of 1 GiB": {chain.MaxSize - 8}, "texts that cross": slices.Repeat([]int{16<<20 - 100}, 63),
	} {
		t.Run(name, func(t *testing.T) {
			var blocks [][]byte
			n := 0
			for _, size := range sizes {
				n += 7 + size
				blocks = append(blocks, text(size))
				for ; size > 0; size -= min(size, len(block)) {
					blocks = append(blocks, block[:min(size, len(block))])
				}
			}
			blocks = append(blocks, []byte{0})
			n++
			limits := engine.Limits{MaxBytes: chain.MaxSize}
			check := func(how string, s engine.Struct, err error) {
				if err != nil {
					t.Fatalf("%s, %s: %v", name, how, err)
				}
				defer s.Release()
				if got := len(s.Bytes(fieldNamed(allDesc, "blob"))); got != sizes[len(sizes)-1] {
					t.Errorf("%s, %s: %d bytes", name, how, got)
				}
				s.SetText(fieldNamed(allDesc, "text"), "edited")
				if got := s.Message().Len(); got != n+13 {
					t.Errorf("%s, %s: %d bytes in all", name, how, got)
				}
			}
			s, err := engine.ParseBlocks(allDesc, blocks, limits)
			check("in blocks", s, err)
			var readers []io.Reader
			for _, b := range blocks {
				readers = append(readers, bytes.NewReader(b))
			}
			s, err = engine.Read(allDesc, io.MultiReader(readers...), n, limits)
			check("read", s, err)
		})
	}
}
