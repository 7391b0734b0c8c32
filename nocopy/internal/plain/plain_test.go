package plain

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// TestSlice: elements keep their contents, and the bytes of the message bound the memory.
func TestSlice(t *testing.T) {
	type large struct {
		kept []int
		_    [1000]byte
	}
	var r Reader
	v, at := Slice(&r, r.Read(make([]byte, 1<<20), nil), []large(nil), 3)
	if len(v) != 3 || at != 0 {
		t.Fatal(len(v), at)
	}
	v[1].kept, v[2].kept = []int{1}, []int{1}
	if v, at = Slice(&r, at, v, 2); len(v) != 2 || v[1].kept == nil || v[:3][2].kept != nil {
		t.Error("2 elements stay as they were, and the third is gone")
	}
	if v, at = Slice(&r, at, v, 50); len(v) != 50 || v[1].kept == nil || at != 0 {
		t.Error(len(v), at)
	}
	if none, at := Slice(&r, 0, []large(nil), 0); none == nil || at != 0 {
		t.Error("a list without elements is as if absent")
	}
	if v, at = Slice(&r, 0, []large(nil), 1<<20); v != nil || at != Failed {
		t.Errorf("a GiB for a MiB: %d elements", len(v))
	}
	if p, at := New(&r, 0, new(int)); p != nil || at != Failed {
		t.Error("what is there counts")
	}
	if p, at := New[int](&r, 0, nil); p != nil || at != Failed {
		t.Error("there is no memory left")
	}
	r.room = 8 * 3
	if v, at := Slice(&r, 0, make([]int64, 100), 2); len(v) != 2 || cap(v) > 3 || at != 0 {
		t.Error("memory for which there is no room stays")
	}
	if v, at := Slice(&r, 0, make([]int64, 2), 2); v != nil || at != Failed {
		t.Error("a slice that was there does not count")
	}
	// 4 GiB, which is 0 as an int32
	r = Reader{}
	r.Read(nil, nil)
	if v, at := Slice(&r, 0, [][1 << 10]byte(nil), 1<<22); v != nil || at != Failed || r.end() == nil {
		t.Error("4 GiB for nothing")
	}
	if r.Read(make([]byte, 40<<20), nil); r.room < 500<<20 {
		t.Errorf("%d bytes for 40 MiB", r.room)
	}
	r.room = roomFor(nil, []nocopy.Option{nocopy.Lazy, nocopy.Limits{MaxIndex: 8}})
	if p, _ := New[int64](&r, 0, nil); p == nil || r.end() != nil {
		t.Error("there are 8 bytes")
	}
	if p, _ := New[int64](&r, 0, nil); p != nil {
		t.Error("Limits.MaxIndex does not count")
	}
	if err := r.end(); !errors.Is(err, nocopy.ErrLimit) || !strings.Contains(err.Error(), "more than Limits.MaxIndex") {
		t.Error(err)
	}
}

// TestOptions: checks are not delayed, and the bytes stay the caller's.
func TestOptions(t *testing.T) {
	all := []nocopy.Option{nocopy.Lazy, nocopy.Own, nocopy.Recycle, nocopy.ByIndex, nocopy.WithIndex, nocopy.ValidUTF8, nocopy.RequireIndex, nocopy.Limits{MaxDepth: 3}}
	if got := atOnce(all); !slices.Equal(got, []nocopy.Option{nocopy.ValidUTF8, nocopy.Limits{MaxDepth: 3}}) {
		t.Errorf("%v", got)
	}
	// An index is required, unless WithIndex turns that off
	if got := atOnce([]nocopy.Option{nocopy.Lazy, nocopy.RequireIndex}); !slices.Equal(got, []nocopy.Option{nocopy.RequireIndex}) {
		t.Errorf("%v", got)
	}
	if len(all) != 8 || all[0] != nocopy.Lazy {
		t.Error("the caller's options have changed")
	}
}

// TestGrow: each method writes the same bytes for every capacity, and none beyond the slice.
func TestGrow(t *testing.T) {
	const f = Field(11<<16 | 1)
	write := func(dst []byte) []byte {
		var w Writer
		at := w.Fit(w.Append(dst))
		for range 10 {
			at = w.Int64(at, f, 1)
		}
		at = w.Text(at, f, "four")
		at = w.UUID(at, f, nocopy.UUID{1, 15: 2})
		at = w.Text(at, f, strings.Repeat("x", 300))
		at = w.Int64s(at, f, make([]int64, 20))
		at = w.Map(at, f, nocopy.WireString, nocopy.WireBool, 2)
		at = w.BoolValue(w.TextValue(at, ""), true)
		at = w.BoolValue(w.BinaryValue(at, []byte("abc")), false)
		at = w.Bools(at, f, []bool{true, false, true})
		return w.Bytes(w.Stop(at))
	}
	want := write(nil)
	for n := range len(want) + 200 {
		memory := bytes.Repeat([]byte{0xee}, n+64)
		got := write(append(memory[:0:n], "prefix"[:min(6, n)]...))
		if !bytes.Equal(got[min(6, n):], want) {
			t.Fatalf("capacity %d: other bytes", n)
		}
		if !bytes.Equal(memory[n:], bytes.Repeat([]byte{0xee}, 64)) {
			t.Fatalf("capacity %d: bytes after it have changed", n)
		}
	}
}

// TestTooLong: texts and lists that are too large for a message are refused.
func TestTooLong(t *testing.T) {
	for _, f := range []func(){
		func() {
			w := Writer{b: make([]byte, 16)}
			w.fitText(0, most+1)
		},
		func() { new(Writer).checkCount(math.MaxInt, 2) },
		func() { new(Writer).checkCount(1<<28, 8) },
		func() { w := Writer{depth: mostDepth}; w.Enter() },
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "nocopy: ") {
					t.Error(s)
				}
			}()
			f()
		}()
	}
}

// TestWriterKeepsTheRest: the bytes after the appended ones stay unchanged, as with append.
func TestWriterKeepsTheRest(t *testing.T) {
	const f = Field(1) // only the header's lowest bits matter here
	for name, write := range map[string]func(w *Writer, at int) int{
		"bool": func(w *Writer, at int) int { return w.Bool(at, f, true) },
		"i8":   func(w *Writer, at int) int { return w.Int8(at, f, -1) },
		"i16":  func(w *Writer, at int) int { return w.Int16(at, f, -1) },
		"i32":  func(w *Writer, at int) int { return w.Int32(at, f, -1) },
		"i64":  func(w *Writer, at int) int { return w.Int64(at, f, -1) },
		"uuid": func(w *Writer, at int) int { return w.UUID(at, f, nocopy.UUID{}) },
		"text": func(w *Writer, at int) int { return w.Text(at, f, "") },
		"list": func(w *Writer, at int) int { return w.Int16s(at, f, []int16{1}) },
	} {
		mem := bytes.Repeat([]byte{'z'}, 1000)
		var w Writer
		at := w.Stop(write(&w, w.Fit(w.Append(mem[:3]))))
		if &w.Bytes(at)[0] != &mem[0] || !bytes.Equal(mem[at:], bytes.Repeat([]byte{'z'}, 1000-at)) {
			t.Errorf("%s: % x after %d bytes", name, mem[at:at+8], at)
		}
	}
}
