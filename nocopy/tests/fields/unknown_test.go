package fields_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// unknownOf lists the unknown fields of a struct, with their values' bytes.
func unknownOf(s thriftimpl.Struct, d *thriftimpl.Desc) (list []string) {
	for id, v := range s.Unknown(d) {
		list = append(list, fmt.Sprintf("%d %v %x", id, v.Type, v.Raw()))
	}
	return list
}

const unknownWire = "\x08\x00\x64\x00\x00\x00\x07" + // 100: i32 7
	"\x08\x00\x04\x00\x00\x00\x2a" + // medium
	"\x0b\x00\x65\x00\x00\x00\x02hi" + // 101: string
	"\x0b\x00\x04\x00\x00\x00\x01s" + // medium, as a string
	"\x0f\x00\x0d\x08\x00\x00\x00\x01\x00\x00\x00\x05" + // numbers, of i32
	// Matrix, of i64
	"\x0f\x00\x12\x0f\x00\x00\x00\x01\x0a\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x05" +
	"\x0c\x00\x66\x02\x00\x01\x01\x00" + // 102: struct
	"\x08\xff\xfe\x00\x00\x00\x01" + // −2
	"\x00"

// TestUnknown: unknown fields are listed, kept and sent on, edited or not, lazy or not.
func TestUnknown(t *testing.T) {
	want := []string{
		"100 i32 00000007", "101 string 000000026869", "4 string 0000000173", "13 list 080000000100000005",
		"18 list 0f000000010a000000010000000000000005", "102 struct 0200010100", "-2 i32 00000001",
	}
	for _, w := range ways(len(unknownWire)) {
		t.Run(w.Name, func(t *testing.T) {
			s, err := w.Parse(allDesc, []byte(unknownWire))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, unknownOf(s, allDesc)); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", w.Name, diff)
			}
			s.SetInt32(fieldNamed(allDesc, "medium"), 1)
			s.SetText(fieldNamed(allDesc, "text"), longText)
			s.SetInt64s(fieldNamed(allDesc, "numbers"), allDesc, []int64{1})
			if diff := cmp.Diff(want, unknownOf(s, allDesc)); diff != "" {
				t.Fatalf("%s, edited (-want +got):\n%s", w.Name, diff)
			}
			other := newStruct(allDesc)
			other.SetChild(fieldNamed(allDesc, "self"), allDesc, s)
			clone := s.Clone(allDesc)
			s.Release()
			again := mustParse(t, allDesc, other.Message().Bytes())
			for name, s := range map[string]thriftimpl.Struct{"linked": other.Child(fieldNamed(allDesc, "self"), allDesc), "forwarded": again.Child(fieldNamed(allDesc, "self"), allDesc), "cloned": clone} {
				if diff := cmp.Diff(want, unknownOf(s, allDesc)); diff != "" {
					t.Fatalf("%s, %s (-want +got):\n%s", w.Name, name, diff)
				}
				if s.Int32(fieldNamed(allDesc, "medium")) != 1 {
					t.Fatalf("%s, %s: the known field is lost", w.Name, name)
				}
			}
			for range clone.Unknown(allDesc) {
				break // the loop may stop early
			}
			other.Release()
			again.Release()
			clone.Release()
		})
	}
	s := newStruct(allDesc)
	defer s.Release()
	if got := unknownOf(s.Child(fieldNamed(allDesc, "self"), allDesc), allDesc); got != nil {
		t.Errorf("unknown fields of an absent struct: %v", got)
	}
}

func TestValue(t *testing.T) {
	wire := "\x02\x00\x01\x01" + "\x03\x00\x02\xfe" + "\x06\x00\x03\xff\xfe" + "\x08\x00\x04\xff\xff\xff\xfe" + "\x0a\x00\x05\xff\xff\xff\xff\xff\xff\xff\xfe" +
		"\x04\x00\x06\x3f\xf8\x00\x00\x00\x00\x00\x00" + "\x0b\x00\x07\x00\x00\x00\x02hi" + "\x10\x00\x08\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff" +
		"\x0f\x00\x09\x02\x00\x00\x00\x03\x01\x01\x01" + "\x0d\x00\x0a\x03\x03\x00\x00\x00\x01\x01\x02" + "\x00"
	s := mustParse(t, emptyDesc, []byte(wire))
	defer s.Release()
	var got []any
	for _, v := range impl.UnknownOf(s, emptyDesc) {
		got = append(got, []any{v.Bool(), v.Int8(), v.Int16(), v.Int32(), v.Int64(), v.Float64(), v.Text(), string(v.Bytes()), v.UUID().String(), v.Len()})
	}
	const noUUID = "00000000-0000-0000-0000-000000000000"
	want := []any{
		[]any{true, int8(0), int16(0), int32(0), int64(0), 0.0, "", "", noUUID, 0},
		[]any{false, int8(-2), int16(0), int32(0), int64(0), 0.0, "", "", noUUID, 0},
		[]any{false, int8(0), int16(-2), int32(0), int64(0), 0.0, "", "", noUUID, 0},
		[]any{false, int8(0), int16(0), int32(-2), int64(0), 0.0, "", "", noUUID, 0},
		[]any{false, int8(0), int16(0), int32(0), int64(-2), 0.0, "", "", noUUID, 0},
		[]any{false, int8(0), int16(0), int32(0), int64(0), 1.5, "", "", noUUID, 0},
		[]any{false, int8(0), int16(0), int32(0), int64(0), 0.0, "hi", "hi", noUUID, 0},
		[]any{false, int8(0), int16(0), int32(0), int64(0), 0.0, "", "", "00112233-4455-6677-8899-aabbccddeeff", 0},
		[]any{false, int8(0), int16(0), int32(0), int64(0), 0.0, "", "", noUUID, 3},
		[]any{false, int8(0), int16(0), int32(0), int64(0), 0.0, "", "", noUUID, 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

const peekWire = "\x08\x00\x01\x00\x00\x00\x07" + // 1: i32 7
	"\x0c\x00\x02" + "\x0b\x00\x05\x00\x00\x00\x02hi" + "\x00" + // 2: {5: "hi"}
	// 3: [{}, {1: 9}]
	"\x0f\x00\x03\x0c\x00\x00\x00\x02" + "\x00" + "\x08\x00\x01\x00\x00\x00\x09\x00" +
	"\x0e\x00\x04\x0b\x00\x00\x00\x02" + "\x00\x00\x00\x01a" + "\x00\x00\x00\x01b" + // 4: ["a", "b"]
	"\x0d\x00\x06\x08\x08\x00\x00\x00\x00" + // 6: {}
	"\x08\xff\xff\x00\x00\x00\x08" + // −1: i32 8
	"\x08\x00\x01\x00\x00\x00\x63" + // 1 again
	"\x00"

func TestPeek(t *testing.T) {
	const wire = peekWire
	for _, c := range []struct {
		path []int
		want string // type and bytes, or the error
	}{
		{[]int{1}, "i32 00000007"},
		{[]int{-1}, "i32 00000008"},
		{[]int{2}, "struct 0b000500000002686900"},
		{[]int{2, 5}, "string 000000026869"},
		{[]int{3}, "list 0c00000002000800010000000900"},
		{[]int{3, 0}, "struct 00"},
		{[]int{3, 1, 1}, "i32 00000009"},
		{[]int{4, 1}, "string 0000000162"},
		{[]int{6}, "map 080800000000"},
		{nil, "struct " + fmt.Sprintf("%x", wire)},
		{[]int{7}, "nocopy: 7: offset 78: no such field or element"},
		{[]int{2, 6}, "nocopy: 2.6: offset 19: no such field or element"},
		{[]int{3, 2}, "nocopy: 3.2: offset 28: no such field or element"},
		{[]int{3, -1}, "nocopy: 3.-1: offset 28: no such field or element"},
		{[]int{1, 1}, "nocopy: 1.1: offset 3: no such field or element"},
		{[]int{6, 0}, "nocopy: 6.0: offset 58: no such field or element"},
		{[]int{1 << 16}, "nocopy: 65536: offset 0: no such field or element"},
	} {
		v, err := nocopy.Peek([]byte(wire), c.path...)
		got := fmt.Sprintf("%v %x", v.Type, v.Raw())
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("Peek(%v): %s, want %s", c.path, got, c.want)
		}
	}
	if _, err := nocopy.Peek([]byte(wire), 9); !errors.Is(err, nocopy.ErrNotFound) {
		t.Errorf("not found: %v", err)
	}
	// Truncation is an error only for values after it.
	for n := range len(wire) {
		v, err := nocopy.Peek([]byte(wire[:n]), 2, 5)
		var e *nocopy.Error
		switch {
		case n >= 19 && (err != nil || v.Text() != "hi"):
			t.Errorf("first %d bytes: %v", n, err)
		case n < 19 && (!errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &e) || e.Offset > n):
			t.Errorf("first %d bytes: %v", n, err)
		}
	}
	v, err := nocopy.Peek([]byte("\x0b\x00\x01\x00\x00\x00\x02hi"), 1)
	if err != nil || !bytes.Equal(append(v.Bytes(), 'x'), []byte("hix")) {
		t.Errorf("without a STOP after it: %v", err)
	}
}

// TestPeekAll: several values are found at once as Peek finds each, in whichever order they are
// asked for; the bytes up to the last of them are all that is looked at.
func TestPeekAll(t *testing.T) {
	paths := [][]int{
		{1}, {-1}, {2}, {2, 5}, {2, 6}, {3}, {3, 0}, {3, 1, 1}, {3, 1, 2}, {3, 2}, {3, -1}, {4, 0}, {4, 1}, {4, 1, 0},
		{6}, {6, 0}, {7}, {1, 1}, {1 << 16}, {2, 1 << 16}, {},
	}
	for n := range len(peekWire) + 1 {
		wire := []byte(peekWire[:n])
		for _, a := range paths {
			for _, b := range paths {
				v, aErr := nocopy.Peek(wire, a...)
				w, bErr := nocopy.Peek(wire, b...)
				kept := []nocopy.Value{{Type: nocopy.WireBool}}
				all, err := nocopy.PeekAll(kept, nil, wire, a, b)
				if ok := found(aErr) && found(bErr); !ok && (err == nil || len(all) != 1) {
					t.Fatalf("first %d bytes, %v and %v: %v, %v, not an error", n, a, b, all, err)
				} else if ok && (err != nil || len(all) != 3 || !sameValue(all[1], v) || !sameValue(all[2], w)) {
					t.Fatalf("first %d bytes, %v and %v: %v, %v, not %v and %v", n, a, b, all, err, v, w)
				}
				var e, f *nocopy.Error
				if single, _ := nocopy.PeekAll(nil, nil, wire, a); found(aErr) != (single != nil) {
					t.Fatalf("first %d bytes, %v: %v, Peek: %v", n, a, single, aErr)
				}
				if _, err := nocopy.PeekAll(nil, nil, wire, a); !found(aErr) && (!errors.As(err, &e) || !errors.As(aErr, &f) || *e != *f) {
					t.Fatalf("first %d bytes, %v: %v, Peek: %v", n, a, err, aErr)
				}
			}
		}
		if all, err := nocopy.PeekAll(nil, nil, wire, paths[:18]...); found(err) != (err == nil) || err == nil && len(all) != 18 {
			t.Fatalf("first %d bytes, all: %v, %v", n, all, err)
		}
	}
	if all, err := nocopy.PeekAll(nil, nil, nil); all != nil || err != nil {
		t.Errorf("no path: %v, %v", all, err)
	}
	wire, values := []byte(peekWire), make([]nocopy.Value, 0, 3)
	if n := testing.AllocsPerRun(10, func() {
		values, _ = nocopy.PeekAll(values[:0], allDesc, wire, []int{4, 1}, []int{-1}, []int{2, 5})
	}); n > 0 || len(values) != 3 || values[0].Text() != "b" || values[1].Int32() != 8 || values[2].Text() != "hi" {
		t.Errorf("%v, with %v allocations", values, n)
	}
}

func found(err error) bool { return err == nil || errors.Is(err, nocopy.ErrNotFound) }

func sameValue(v, w nocopy.Value) bool { return v.Type == w.Type && bytes.Equal(v.Raw(), w.Raw()) }

// TestPeekPasses: what Peek passes over on its way is bounded as in a message: structs are nested
// 64 deep at most, and counts are not negative.
func TestPeekPasses(t *testing.T) {
	const sought = "\x08\x00\x02\x00\x00\x00\x07\x00"
	for levels, fits := range map[int]bool{63: true, 64: false} {
		inner := nest(levels-1, "\x0c\x00\x09", "\x00", "\x00") // one fewer
		_, err := engine.Peek(join([]byte("\x0c\x00\x01"), inner, []byte(sought)), 2)
		if (err == nil) != fits || err != nil && !errors.Is(err, nocopy.ErrLimit) {
			t.Errorf("past %d structs in each other: %v", levels, err)
		}
	}
	_, err := engine.Peek([]byte("\x0f\x00\x01\x0c\xff\xff\xff\xff"+sought), 1, 0, 1)
	if !errors.Is(err, nocopy.ErrNegative) {
		t.Errorf("in a list of -1 elements: %v", err)
	}
}
