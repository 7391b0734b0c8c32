package parse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// pieces returns a chunk of pieces of n bytes.
func pieces(wire []byte, n int, recycle bool) memory.Chunk {
	var r memory.Receiver
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
				blocks := memory.BlocksInUse()
				s, err := engine.ParseChunk(allDesc, pieces(wire, n, recycle), engine.Limits{}, optionsOf(recycle, false))
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
				if now := memory.BlocksInUse(); now != blocks {
					t.Errorf("pieces of %d: %d blocks in use, %d before", n, now, blocks)
				}
			}
		})
	}
}

// TestScatteredHuge: no message up to 1 GiB is refused because of its cuts, nor crashes the
// program.
func TestScatteredHuge(t *testing.T) {
	if !testmode.Long || raceEnabled {
		t.Skip("takes gigabytes")
	}
	block := make([]byte, 16<<20)
	text := func(n int) []byte { return []byte("\x0b\x00\x08" + be(n)) }
	const around = 7 + 1 + 13 // beside the text: its header, the struct's end, the field that is set
	for name, sizes := range map[string][]int{
		"one of 690 MiB": {690 << 20}, "one of 1 GiB": {chain.MaxSize - around}, "texts that cross": slices.Repeat([]int{16<<20 - 100}, 63),
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

// piecesOf returns the way that gets its bytes as one chunk in pieces of n bytes, cut anywhere.
func piecesOf(n int, recycle bool) way {
	return way{Name: fmt.Sprintf("pieces of %d, recycle %t", n, recycle), Parse: func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
		return engine.ParseChunk(d, pieces(wire, n, recycle), limitsOf(opts), optionsOf(recycle, false))
	}}
}

// sprinkled returns the way that gets its bytes in blocks of n with empty blocks among them.
func sprinkled(n int) way {
	return way{Name: fmt.Sprintf("blocks of %d and empty ones", n), Parse: func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
		blocks := [][]byte{{}, nil}
		for part := range slices.Chunk(wire, n) {
			blocks = append(blocks, part, nil, part[:0])
		}
		return engine.ParseBlocks(d, blocks, opts...)
	}}
}

// scatteredWires returns messages that are difficult to parse in pieces.
func scatteredWires() map[string][]byte {
	wires := map[string][]byte{}
	sizes := []int{100, 2_281, testmode.Of(5_000, 15_000)}
	if raceEnabled { // nothing here runs at the same time
		sizes = sizes[:2]
	}
	for _, n := range sizes {
		for _, b := range bombs {
			wires[fmt.Sprintf("%s, %d bytes", b.Name, n)] = []byte(b.Make(n) + "\x00")
		}
	}
	text := strings.Repeat("abcdefghij", 30)
	one := "\x0b\x00\x07" + be(len(text)) + text + "\x05\x00\x04"
	wires["no such type"] = []byte(one)
	for name, head := range map[string]string{
		"list of texts": "\x0f\x00\x0e\x0b" + be(200), "unknown list of texts": "\x0f\x00\x64\x0b" + be(200), "set of texts": "\x0e\x00\x1d\x0b" + be(200),
		"pairs of texts": "\x0d\x00\x10\x0b\x0b" + be(100), "unknown pairs": "\x0d\x00\x64\x0b\x0b" + be(100), "too many texts": "\x0f\x00\x0e\x0b" + be(201),
	} {
		b := head
		for i := range 200 {
			b += be(i) + text[:i]
		}
		wires[name] = []byte(b + "\x00")
	}
	return wires
}

// TestScattered: however a message is cut, it has the values, or the error, of the message in one
// piece, and can be edited as well. In particular no cuts make the library refuse it or panic.
func TestScattered(t *testing.T) {
	var ways []way
	sizes := []int{1, 13}
	switch {
	case raceEnabled:
		sizes = []int{7, 255}
	case testmode.Long:
		sizes = []int{1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 13, 17, 64, 255, 1000, 5000, 20_000}
	}
	for _, n := range sizes {
		ways = append(ways, cutEvery(n), sprinkled(n), with(cutEvery(n), engine.Lazy, "lazy"), with(cutEvery(n), engine.Recycle, "recycle"))
		ways = append(ways, piecesOf(n, false), piecesOf(n, true))
	}
	for name, wire := range scatteredWires() {
		t.Run(name, func(t *testing.T) {
			flat, flatErr := engine.Parse(allDesc, wire)
			lazy, lazyErr := engine.Parse(allDesc, wire, engine.Lazy)
			if lazyErr == nil {
				lazy.Release()
			}
			want := render.Text(flat, allDesc)
			var edited string
			if flatErr == nil {
				edited = editScattered(flat)
				flat.Release()
			}
			for _, w := range ways {
				wantErr := flatErr
				if strings.Contains(w.Name, "lazy") {
					wantErr = lazyErr
				}
				s, err := w.Parse(allDesc, wire)
				if diff := cmp.Diff(fmt.Sprint(wantErr), fmt.Sprint(err)); diff != "" {
					t.Fatalf("%s, %s (-want +got):\n%s", name, w.Name, diff)
				}
				if err != nil {
					continue
				}
				if got := render.Text(s, allDesc); got != want {
					t.Fatalf("%s, %s:\n%.200s, not\n%.200s", name, w.Name, got, want)
				}
				if got := s.Message().AppendTo(nil); !bytes.Equal(got, wire) {
					t.Fatalf("%s, %s: goes out as %d other bytes", name, w.Name, len(got))
				}
				if got := editScattered(s); got != edited {
					t.Fatalf("%s, %s: edited it is\n%.200s, not\n%.200s", name, w.Name, got, edited)
				}
				s.Release()
			}
		})
	}
}

// limitsOf returns the Limits among the options.
func limitsOf(opts []engine.Option) engine.Limits {
	limits := engine.Limits{MaxDepth: parse.MaxDepth}
	for _, o := range opts {
		if l, ok := o.(engine.Limits); ok {
			limits = l
		}
	}
	return limits
}

// TestReadOfNegative: a message of a negative number of bytes is an error, and nothing is read.
func TestReadOfNegative(t *testing.T) {
	for _, n := range []int{-1, math.MinInt32} {
		_, err := engine.Read(allDesc, iotest.ErrReader(errors.New("read")), n)
		if !errors.Is(err, nocopy.ErrLimit) {
			t.Errorf("Read of %d bytes: %v", n, err)
		}
	}
}

// TestEmptyBlocks: blocks without bytes change nothing, wherever they come. Others are not copied.
func TestEmptyBlocks(t *testing.T) {
	b := []byte("\x0b\x00\x07\x00\x00\x00\x03abc\x0f\x00\x0d\x0a\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07\x0c\x00\x0b\x08\x00\x01\x00\x00\x00\x05\x00\x00")
	for cut := range len(b) + 1 {
		for name, blocks := range map[string][][]byte{
			"first":   {nil, b[:cut], b[cut:]},
			"between": {b[:cut], nil, {}, b[cut:]},
			"last":    {b[:cut], b[cut:], nil, nil},
		} {
			s, err := engine.ParseBlocks(allDesc, blocks)
			if err != nil {
				t.Fatalf("%s, cut at %d: %v", name, cut, err)
			}
			if got := s.Message().AppendTo(nil); !bytes.Equal(got, b) || s.Text(fieldNamed(allDesc, "text")) != "abc" {
				t.Fatalf("%s, cut at %d: %x", name, cut, got)
			}
			s.Release()
		}
	}
	const cut = 10 // after the first field
	for name, blocks := range map[string][][]byte{
		"first": {nil, b},
		"last":  {b, {}},
		"all":   {{}, b[:cut], nil, {}, b[cut:], nil},
	} {
		s, err := engine.ParseBlocks(allDesc, blocks)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		blocks = slices.DeleteFunc(blocks, func(b []byte) bool { return len(b) == 0 })
		pieces := s.Message().AppendPieces(nil)
		if !slices.EqualFunc(pieces, blocks, func(p, b []byte) bool { return &p[0] == &b[0] && len(p) == len(b) }) {
			t.Errorf("%s: %d pieces for %d blocks, or copies", name, len(pieces), len(blocks))
		}
		s.Release()
	}
	if _, err := engine.ParseBlocks(allDesc, [][]byte{nil, {}}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("empty blocks alone: %v", err)
	}
}
