package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// piecesOf returns the way that gets its bytes as one chunk in pieces of n bytes, cut anywhere, as
// many as there are.
func piecesOf(n int, recycle bool) way {
	return way{fmt.Sprintf("pieces of %d, recycle %t", n, recycle), func(d *schema.Struct, wire []byte, opts ...Option) (Struct, error) {
		return ParseChunk(d, pieces(wire, n, recycle), limitsOf(opts), recycle, false)
	}}
}

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

// sprinkled returns the way that gets its bytes in blocks of n with empty blocks among them.
func sprinkled(n int) way {
	return way{fmt.Sprintf("blocks of %d and empty ones", n), func(d *schema.Struct, wire []byte, opts ...Option) (Struct, error) {
		blocks := [][]byte{{}, nil}
		for part := range slices.Chunk(wire, n) {
			blocks = append(blocks, part, nil, part[:0])
		}
		return ParseBlocks(d, blocks, opts...)
	}}
}

// scatteredWires are messages that are hard on whoever gets them in pieces.
func scatteredWires() map[string][]byte {
	wires := map[string][]byte{}
	sizes := []int{100, 2_281, testmode.Of(5_000, 30_000)}
	if raceEnabled { // nothing here runs at the same time
		sizes = sizes[:2]
	}
	for _, n := range sizes {
		for _, b := range bombs {
			wires[fmt.Sprintf("%s, %d bytes", b.name, n)] = []byte(b.make(n) + "\x00")
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

// TestScattered: however a message is cut, it is what it is in one piece, or fails as it does, and
// can be edited as well. In particular nobody can cut one so that it is refused, or that the
// program panics.
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
		ways = append(ways, cutEvery(n), sprinkled(n), with(cutEvery(n), Lazy, "lazy"), with(cutEvery(n), Recycle, "recycle"))
		ways = append(ways, piecesOf(n, false), piecesOf(n, true))
	}
	for name, wire := range scatteredWires() {
		t.Run(name, func(t *testing.T) {
			flat, flatErr := Parse(allDesc, wire)
			lazy, lazyErr := Parse(allDesc, wire, Lazy)
			if lazyErr == nil {
				lazy.Release()
			}
			want := flat.Format(allDesc)
			var edited string
			if flatErr == nil {
				edited = editScattered(flat)
				flat.Release()
			}
			for _, w := range ways {
				wantErr := flatErr
				if strings.Contains(w.name, "lazy") {
					wantErr = lazyErr
				}
				s, err := w.parse(allDesc, wire)
				if diff := cmp.Diff(fmt.Sprint(wantErr), fmt.Sprint(err)); diff != "" {
					t.Fatalf("%s, %s (-want +got):\n%s", name, w.name, diff)
				}
				if err != nil {
					continue
				}
				if got := s.Format(allDesc); got != want {
					t.Fatalf("%s, %s:\n%.200s, not\n%.200s", name, w.name, got, want)
				}
				if got := s.m.AppendTo(nil); !bytes.Equal(got, wire) {
					t.Fatalf("%s, %s: goes out as %d other bytes", name, w.name, len(got))
				}
				if got := editScattered(s); got != edited {
					t.Fatalf("%s, %s: edited it is\n%.200s, not\n%.200s", name, w.name, got, edited)
				}
				s.Release()
			}
		})
	}
}

// editScattered changes a message in many places and returns what it is then.
func editScattered(s Struct) string {
	f := func(name string) schema.Ref { return fieldNamed(allDesc, name) }
	s.SetText(f("text"), strings.Repeat("edited ", 700))
	s.SetInt32(f("medium"), 7)
	words := StringList(s.Child(f("words"), allDesc))
	if !s.Has(f("words")) {
		words = StringList(s.NewChild(f("words"), allDesc, 0))
	}
	for i := range words.Len() {
		if i%10 == 0 {
			words.Set(i, "another")
		}
	}
	words.Append("one more")
	if s.Has(f("points")) {
		points := StructList[Struct](s.Child(f("points"), allDesc))
		points.At(points.Len()/2).SetInt32(pointDesc.Field(0), 5)
		points.AppendNew().SetInt32(pointDesc.Field(0), 6)
	}
	s.Unset(f("counts"))
	self := s.NewChild(f("self"), allDesc, 0)
	self.SetText(f("text"), "inside")
	wire := s.m.AppendTo(nil)
	again, err := Parse(allDesc, wire)
	if err != nil {
		return err.Error()
	}
	defer again.Release()
	return again.Format(allDesc)
}
