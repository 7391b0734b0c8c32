package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// No message may cost memory or time out of proportion to its size.

// allocated returns how many bytes f allocates, starting with empty pools.
func allocated(f func()) int {
	for range 2 { // what pools hold survives one collection
		runtime.GC()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// memoryBound is the most that parsing n bytes may allocate in all: twice what the index may grow
// to by default, since it grows by doubling, and the notes on fields that come more than once.
func memoryBound(n int) int { return 160*n + 2*indexFloor + 320<<10 }

// be returns n as a count on the wire.
func be(n int) string { return string(wire.AppendBE32(nil, uint32(n))) }

// bombs are messages of about n bytes, each as expensive as a message of its kind can be.
var bombs = []struct {
	name string
	make func(n int) string
}{
	{"list of empty structs with 250 fields", func(n int) string { return "\x0f\x00\x24\x0c" + be(n) + strings.Repeat("\x00", n) }},
	{"list of empty structs with 43 fields", func(n int) string { return "\x0f\x00\x18\x0c" + be(n) + strings.Repeat("\x00", n) }},
	{"list of empty structs with 2 fields", func(n int) string { return "\x0f\x00\x11\x0c" + be(n) + strings.Repeat("\x00", n) }},
	{"set of empty structs", func(n int) string { return "\x0e\x00\x23\x0c" + be(n) + strings.Repeat("\x00", n) }},
	{"list of empty unions", func(n int) string { return "\x0f\x00\x1e\x0c" + be(n) + strings.Repeat("\x00", n) }},
	{"map to empty structs", func(n int) string {
		return "\x0d\x00\x15\x08\x0c" + be(n/5) + strings.Repeat("\x00\x00\x00\x01\x00", n/5)
	}},
	{"map of empty structs", func(n int) string {
		return "\x0d\x00\x16\x0c\x0b" + be(n/5) + strings.Repeat("\x00\x00\x00\x00\x00", n/5)
	}},
	{"map of bools", func(n int) string { return "\x0d\x00\x22\x02\x02" + be(n/2) + strings.Repeat("\x00\x01", n/2) }},
	{"list of empty lists", func(n int) string { return "\x0f\x00\x12\x0f" + be(n/5) + strings.Repeat("\x08\x00\x00\x00\x00", n/5) }},
	{"list of empty maps", func(n int) string {
		return "\x0f\x00\x1f\x0d" + be(n/6) + strings.Repeat("\x03\x04\x00\x00\x00\x00", n/6)
	}},
	{"map to empty maps", func(n int) string {
		return "\x0d\x00\x1c\x0a\x0d" + be(n/14) + strings.Repeat("\x00\x00\x00\x00\x00\x00\x00\x00\x0b\x08\x00\x00\x00\x00", n/14)
	}},
	{"map of empty lists", func(n int) string {
		return "\x0d\x00\x20\x0f\x02" + be(n/6) + strings.Repeat("\x08\x00\x00\x00\x00\x01", n/6)
	}},
	{"list of empty strings", func(n int) string { return "\x0f\x00\x0e\x0b" + be(n/4) + strings.Repeat("\x00\x00\x00\x00", n/4) }},
	{"list of bools", func(n int) string { return "\x0f\x00\x19\x02" + be(n) + strings.Repeat("\x01", n) }},
	{"one long string", func(n int) string { return "\x0b\x00\x07" + be(n) + strings.Repeat("x", n) }},
	{"one bool, again and again", func(n int) string { return strings.Repeat("\x02\x00\x01\x01", n/4) }},
	{"one struct, again and again", func(n int) string { return strings.Repeat("\x0c\x00\x0b\x00", n/4) }},
	{"one big struct, again and again", func(n int) string { return strings.Repeat("\x0c\x00\x17\x00", n/4) }},
	{"one list, again and again", func(n int) string { return strings.Repeat("\x0f\x00\x0d\x0a\x00\x00\x00\x00", n/8) }},
	{"two fields in turn", func(n int) string { return strings.Repeat("\x02\x00\x01\x01\x03\x00\x02\x01", n/8) }},
	{"unknown fields", func(n int) string { return strings.Repeat("\x02\x00\x64\x01", n/4) }},
	{"unknown list of empty structs", func(n int) string { return "\x0f\x00\x64\x0c" + be(n) + strings.Repeat("\x00", n) }},
	{"list of lists of another type at the end", func(n int) string {
		return "\x0f\x00\x12\x0f" + be(n/5+1) + strings.Repeat("\x08\x00\x00\x00\x00", n/5) + "\x03\x00\x00\x00\x01\x00"
	}},
	{"children who are of another type at their end", func(n int) string {
		one := "\x0f\x00\x12\x0f" + be(21) + strings.Repeat("\x08\x00\x00\x00\x00", 20) + "\x03\x00\x00\x00\x01\x00\x00"
		return "\x0f\x00\x18\x0c" + be(n/len(one)) + strings.Repeat(one, n/len(one))
	}},
	{"lists of empty structs with 250 fields, in structs", func(n int) string {
		one := "\x0f\x00\x24\x0c" + be(1000) + strings.Repeat("\x00", 1000) + "\x00"
		return "\x0f\x00\x18\x0c" + be(n/len(one)) + strings.Repeat(one, n/len(one))
	}},
	{"forest of empty trees", func(n int) string {
		return "\x0f\x00\x27\x0f" + be(n/6) + strings.Repeat("\x0c\x00\x00\x00\x01\x00", n/6)
	}},
}

// TestBoundedMemory: accepted or not, a bomb costs memory in proportion to its bytes.
func TestBoundedMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("what the race detector allocates is counted too")
	}
	for _, bomb := range bombs {
		t.Run(bomb.name, func(t *testing.T) {
			sizes := []int{100, 10_000, 100_000}
			if !testmode.Long {
				sizes = []int{100, 20_000}
			}
			for _, n := range sizes {
				wire := []byte(bomb.make(n) + "\x00")
				ways := []way{inOnePiece, with(inOnePiece, engine.Lazy, "lazy"), cutAt(len(wire) / 2), with(cutAt(len(wire)/2), engine.Lazy, "lazy"), with(inOnePiece, engine.ValidUTF8, "utf8")}
				if !testmode.Long && n == 100 {
					ways = ways[:1]
				}
				for _, w := range ways {
					var s engine.Struct
					var err error
					got := allocated(func() {
						if s, err = w.parse(allDesc, wire); err == nil {
							touchAll(s)
						}
					})
					if err != nil && !errors.Is(err, nocopy.ErrLimit) {
						t.Errorf("%s of %d bytes, %s: %v", bomb.name, len(wire), w.name, err)
					}
					if got > memoryBound(len(wire)) {
						t.Errorf("%s of %d bytes, %s (%v): %d bytes allocated, %d times as many", bomb.name, len(wire), w.name, err, got, got/len(wire))
					}
				}
			}
		})
	}
}

// touchAll indexes everything that Lazy left for later.
func touchAll(s engine.Struct) {
	for i := range allDesc.Fields() {
		if f := &allDesc.Fields()[i]; f.Kind() >= schema.Record {
			touch(s.Child(allDesc.Field(i), allDesc), f.Type)
		}
	}
}

func touch(v engine.Struct, t *schema.Type) {
	switch {
	case t.Kind() == schema.Record:
		for i := range t.Struct().Fields() {
			if f := &t.Struct().Fields()[i]; f.Kind() >= schema.Record && v.HasField(t.Struct().Field(i)) {
				touch(v.Child(t.Struct().Field(i), t.Struct()), f.Type)
			}
		}
	case t.Kind() == schema.List && t.Elem().Kind() == schema.Record:
		for _, e := range nocopy.StructList[engine.Struct](v).All() {
			touch(e, t.Elem())
		}
	case t.Kind() == schema.List && t.Elem().Kind() > schema.Record:
		for _, e := range nocopy.NestedList[engine.Struct](v).All() {
			touch(e, t.Elem())
		}
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
				got := allocated(func() { _, err = w.parse(allDesc, wire) })
				checkError(t, fmt.Sprintf("%x %s", head, w.name), err, allDesc, len(wire), io.ErrUnexpectedEOF)
				if got > memoryBound(len(wire)) {
					t.Errorf("%x, %s: %d bytes allocated for %d", head, w.name, got, len(wire))
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
				s, err := w.parse(allDesc, wire, c.limits)
				switch {
				case c.reason != nil:
					checkError(t, c.name+", "+w.name, err, allDesc, len(wire), c.reason)
				case err != nil:
					t.Errorf("%s, %s: %v", c.name, w.name, err)
				default:
					s.Release()
				}
			}
		})
	}
}
