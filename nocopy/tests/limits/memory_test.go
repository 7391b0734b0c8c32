package limits_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// No message may cost memory or time out of proportion to its size.

// memoryBound bounds what parsing n bytes may allocate in all: twice what the index may grow
// to by default, since it grows by doubling, and the notes on fields that come more than once.
func memoryBound(n int) int { return 160*n + 2*indexFloor + 320<<10 }

// TestBoundedMemory: accepted or not, a bomb costs memory in proportion to its bytes.
func TestBoundedMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("what the race detector allocates is counted too")
	}
	for _, bomb := range bombs {
		t.Run(bomb.Name, func(t *testing.T) {
			sizes := []int{100, 10_000, 100_000}
			if !testmode.Long {
				sizes = []int{100, 20_000}
			}
			for _, n := range sizes {
				wire := []byte(bomb.Make(n) + "\x00")
				ways := []way{inOnePiece, with(inOnePiece, engine.Lazy, "lazy"), cutAt(len(wire) / 2), with(cutAt(len(wire)/2), engine.Lazy, "lazy"), with(inOnePiece, engine.ValidUTF8, "utf8")}
				if !testmode.Long && n == 100 {
					ways = ways[:1]
				}
				for _, w := range ways {
					var s engine.Struct
					var err error
					got := allocated(func() {
						if s, err = w.Parse(allDesc, wire); err == nil {
							touchAll(s)
						}
					})
					if err != nil && !errors.Is(err, nocopy.ErrLimit) {
						t.Errorf("%s of %d bytes, %s: %v", bomb.Name, len(wire), w.Name, err)
					}
					if got > memoryBound(len(wire)) {
						t.Errorf("%s of %d bytes, %s (%v): %d bytes allocated, %d times as many", bomb.Name, len(wire), w.Name, err, got, got/len(wire))
					}
				}
			}
		})
	}
}

// TestPromises: counts and lengths that promise more bytes than there are cost next to nothing.
func TestPromises(t *testing.T) {
	if raceEnabled {
		t.Skip("what the race detector allocates is counted too")
	}
	for _, head := range []string{
		"\x0b\x00\x07", "\x0b\x00\x08", "\x0f\x00\x0d\x0a", "\x0f\x00\x0e\x0b", "\x0f\x00\x11\x0c", "\x0f\x00\x12\x0f", "\x0f\x00\x24\x0c",
		"\x0f\x00\x19\x02", "\x0d\x00\x10\x0b\x0a", "\x0d\x00\x22\x02\x02", "\x0d\x00\x1c\x0a\x0d", "\x0e\x00\x0f\x08", "\x0f\x00\x64\x0c", "\x0b\x00\x64",
	} {
		t.Run(head, func(t *testing.T) {
			wire := []byte(head + be(100<<20) + strings.Repeat("\x00", 16))
			for _, w := range []way{inOnePiece, with(inOnePiece, engine.Lazy, "lazy"), cutAt(12), with(cutAt(12), engine.Lazy, "lazy")} {
				var err error
				got := allocated(func() { _, err = w.Parse(allDesc, wire) })
				checkError(t, fmt.Sprintf("%x %s", head, w.Name), err, allDesc, len(wire), io.ErrUnexpectedEOF)
				if got > memoryBound(len(wire)) {
					t.Errorf("%x, %s: %d bytes allocated for %d", head, w.Name, got, len(wire))
				}
			}
			var err error
			got := allocated(func() { _, err = engine.Read(allDesc, bytes.NewReader(wire), 90<<20) })
			if err != io.ErrUnexpectedEOF || got > memoryBound(len(wire)) {
				t.Errorf("%x: reading %d of %d promised bytes: %v, %d bytes allocated", head, len(wire), 90<<20, err, got)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	wire := []byte("\x0b\x00\x07" + be(1000) + strings.Repeat("x", 1000) + "\x00")
	for _, c := range []struct {
		name   string
		limits engine.Limits
		reason error
	}{
		{"the message's size", engine.Limits{MaxBytes: len(wire)}, nil},
		{"less than the message's size", engine.Limits{MaxBytes: len(wire) - 1}, nocopy.ErrLimit},
		{"an index for the root", engine.Limits{MaxIndex: 4 * (allDesc.Words() + 1)}, nil},
		{"an index too small for the root", engine.Limits{MaxIndex: 4 * allDesc.Words()}, nocopy.ErrLimit},
		{"zero is the default", engine.Limits{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, w := range manyWays {
				s, err := w.Parse(allDesc, wire, c.limits)
				switch {
				case c.reason != nil:
					checkError(t, c.name+", "+w.Name, err, allDesc, len(wire), c.reason)
				case err != nil:
					t.Errorf("%s, %s: %v", c.name, w.Name, err)
				default:
					s.Release()
				}
			}
		})
	}
}
