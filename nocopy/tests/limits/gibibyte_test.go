package limits_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// The large values of these tests are zeros that nobody reads: they take addresses, not memory.

// largeDesc describes structs of large binaries.
var largeDesc = func() *schema.Struct {
	d := schema.NewStruct("Large")
	d.Define(
		schema.FieldDesc{ID: 1, Name: "a", Type: schema.TypeBinary, Req: schema.Optional},
		schema.FieldDesc{ID: 2, Name: "b", Type: schema.TypeBinary, Req: schema.Optional},
		schema.FieldDesc{ID: 3, Name: "c", Type: schema.TypeBinary, Req: schema.Optional},
		schema.FieldDesc{ID: 4, Name: "n", Type: schema.TypeI32, Req: schema.Optional},
	)
	return d
}()

// TestGibibyte: a message of 1 GiB can be finished and received. With one byte more, Check and
// WriteTo return an error that names the limit, and Finish panics. It can then be made smaller.
func TestGibibyte(t *testing.T) {
	if math.MaxInt == math.MaxInt32 || !testmode.InOwnProcess(t) {
		return
	}
	const overhead = 2*(wire.FieldHeader+wire.TextHeader) + 1 // of two texts in a struct
	zeros := make([]byte, chain.MaxSize)
	for _, way := range []string{"built", "edited", "set together"} {
		for _, over := range []int{-1, 0, 1, 1000, 300 << 20} {
			a, b := zeros[:700<<20], zeros[:chain.MaxSize-700<<20-overhead+over]
			s := engine.New(largeDesc)
			switch way {
			case "edited":
				s.SetBytes(largeDesc.Field(0), zeros[:5000])
				s.SetBytes(largeDesc.Field(1), b)
				s.Message().Finish()
				s.SetBytes(largeDesc.Field(0), a)
			case "set together":
				other := engine.New(largeDesc)
				other.SetBytes(largeDesc.Field(0), a)
				s.SetValue(largeDesc.Field(0), largeDesc, other.Value(largeDesc.Field(0), largeDesc))
				s.SetBytes(largeDesc.Field(1), b)
				other.Release()
			default:
				s.SetBytes(largeDesc.Field(0), a)
				s.SetBytes(largeDesc.Field(1), b)
			}
			err := s.Message().Check()
			if over <= 0 {
				if err != nil || s.Message().Len() != chain.MaxSize+over {
					t.Errorf("%s, 1 GiB and %d: %v", way, over, err)
				}
				s.Release()
				continue
			}
			_, wrote := s.Message().WriteTo(io.Discard)
			for what, err := range map[string]error{"Check": err, "Check again": s.Message().Check(), "WriteTo": wrote} {
				if !errors.Is(err, nocopy.ErrLimit) || !strings.Contains(err.Error(), "more than 1 GiB") {
					t.Errorf("%s, 1 GiB and %d: %s: %v", way, over, what, err)
				}
			}
			if text := panicOf(func() { s.Message().Finish() }); !strings.HasPrefix(text, "nocopy: message can't be finished: Large: ") {
				t.Errorf("%s, 1 GiB and %d: Finish: %s", way, over, text)
			}
			s.SetBytes(largeDesc.Field(1), []byte("short"))
			if err := s.Message().Check(); err != nil || s.Message().Len() > 800<<20 {
				t.Errorf("%s, 1 GiB and %d, made smaller: %v", way, over, err)
			}
			s.Release()
		}
	}
}

// TestGibibyteReceived: a message of 1 GiB that was built is received with Limits that allow it.
func TestGibibyteReceived(t *testing.T) {
	if !testmode.Long || math.MaxInt == math.MaxInt32 || !testmode.InOwnProcess(t) { // it takes a GiB
		return
	}
	s := engine.New(largeDesc)
	s.SetBytes(largeDesc.Field(0), make([]byte, chain.MaxSize-wire.FieldHeader-wire.TextHeader-1))
	b := s.Message().AppendTo(nil)
	for _, most := range []int{1 << 30, 1<<30 + 1, math.MaxInt} {
		r, err := engine.Parse(largeDesc, b, engine.Limits{MaxBytes: most})
		if err != nil {
			t.Error(most, err)
		}
		r.Release()
	}
	if _, err := engine.Parse(largeDesc, append(b, 0), engine.Limits{MaxBytes: math.MaxInt}); !errors.Is(err, nocopy.ErrLimit) {
		t.Error(err)
	}
}

// TestLargeAgain: large texts that are set again and again are not copied, although they take all
// positions but few together with those that they replace.
func TestLargeAgain(t *testing.T) {
	if !aliasing || math.MaxInt == math.MaxInt32 || !testmode.InOwnProcess(t) {
		return
	}
	zeros := make([]byte, 1000<<20)
	for _, c := range []struct {
		name   string
		sizes  []int // in MiB, by turns
		fields int
	}{
		{"one field", []int{900}, 1}, {"one field, other sizes", []int{900, 1, 899, 5}, 1}, {"two fields", []int{480}, 2},
		{"three fields", []int{330}, 3}, {"three fields, other sizes", []int{330, 300, 100}, 3},
	} {
		for _, first := range []string{"built", "complete", "received"} {
			s := engine.New(largeDesc)
			if first == "received" {
				var err error
				if s, err = engine.Parse(largeDesc, []byte("\x0b\x00\x01\x00\x00\x00\x00\x08\x00\x04\x00\x00\x00\x01\x00")); err != nil {
					t.Fatal(err)
				}
			}
			for i := range c.fields {
				s.SetBytes(largeDesc.Field(i), zeros[:c.sizes[0]<<20])
			}
			if first == "complete" {
				s.Message().Finish()
			}
			before := s.Text(largeDesc.Field(0))
			linked := engine.New(largeDesc)
			linked.SetText(largeDesc.Field(0), before)
			copied := allocated(func() {
				for i := range 40 {
					n := c.sizes[i%len(c.sizes)] << 20
					v := zeros[i : n+i : n+i]
					s.SetBytes(largeDesc.Field(i%c.fields), v)
					if got := s.Bytes(largeDesc.Field(i % c.fields)); len(got) != n || &got[0] != &v[0] {
						t.Fatalf("%s, %s, set %d: another value", c.name, first, i)
					}
				}
			})
			if copied > 40<<20 {
				t.Errorf("%s, %s: %d MiB are copied", c.name, first, copied>>20)
			}
			if err := s.Message().Check(); err != nil {
				t.Errorf("%s, %s: %v", c.name, first, err)
			}
			want := wire.FieldHeader + wire.TextHeader
			total := 1
			for i := range c.fields {
				total += want + len(s.Text(largeDesc.Field(i)))
			}
			if first == "received" {
				total += wire.FieldHeader + 4
			}
			if got := s.Message().Len(); got != total {
				t.Errorf("%s, %s: %d bytes, want %d", c.name, first, got, total)
			}
			if got := linked.Text(largeDesc.Field(0)); len(got) != len(before) || len(before) != c.sizes[0]<<20 {
				t.Errorf("%s, %s: another message has changed", c.name, first)
			}
			linked.Release()
			s.Release()
		}
	}
}

// TestTextsAgain: texts that are referred to and set again have the right values, in the message
// and in what was copied and linked from it before.
func TestTextsAgain(t *testing.T) {
	d := largeDesc
	text := func(c string, n int) []byte { return bytes.Repeat([]byte(c), n) }
	for _, sizes := range [][2]int{{5000, 5000}, {2 << 20, 2 << 20}, {3 << 20, 5000}, {5000, 3 << 20}, {2 << 20, 1<<20 - 1}, {1 << 20, 1<<20 - 1}, {5000, 10}, {2 << 20, 0}} {
		s := engine.New(d)
		values := [3][]byte{}
		set := func(i int, c string, n int) {
			values[i] = text(c, n)
			s.SetBytes(d.Field(i), values[i])
		}
		check := func(what string, s engine.Struct, values [3][]byte) {
			t.Helper()
			for i, v := range values {
				if !bytes.Equal(s.Bytes(d.Field(i)), v) {
					t.Fatalf("%v, %s: field %d is another", sizes, what, i)
				}
			}
			again, err := engine.Parse(d, s.Message().AppendTo(nil))
			if err != nil {
				t.Fatalf("%v, %s: %v", sizes, what, err)
			}
			for i, v := range values {
				if !bytes.Equal(again.Bytes(d.Field(i)), v) {
					t.Fatalf("%v, %s: field %d is sent as another", sizes, what, i)
				}
			}
			again.Release()
		}
		for i := range 3 {
			set(i, "abc"[i:i+1], sizes[0])
		}
		check("built", s, values)
		for round := range 4 {
			old := values
			clone := s.Clone(d)
			kept := s.Text(d.Field(0))
			for i := range 3 {
				set(i, "defghijklmno"[3*round+i:][:1], sizes[(round+1)%2])
			}
			check("set again", s, values)
			check("a copy", clone, old)
			if kept != string(old[0]) {
				t.Fatalf("%v: a text has changed", sizes)
			}
			clone.Release()
			switch round {
			case 1:
				s.Unset(d.Field(1))
				values[1] = nil
				check("unset", s, values)
			case 2:
				s.Message().Compact()
				check("compacted", s, values)
			}
		}
		s.Release()
	}
}

// TestPeekBeyond: a value that ends beyond 2 GiB is beyond a limit, not cut off.
func TestPeekBeyond(t *testing.T) {
	if math.MaxInt == math.MaxInt32 || !testmode.InOwnProcess(t) {
		return
	}
	large := uint64(1)<<31 - 1
	b := make([]byte, large+20)
	copy(b, "\x0f\x00\x07\x02\x7f\xff\xff\xff") // a list of 2³¹-1 bools
	for _, path := range [][]int{{7}, {7, int(large) - 1}, {8}} {
		if _, err := nocopy.Peek(b, path...); !errors.Is(err, nocopy.ErrLimit) {
			t.Errorf("%v: %v", path, err)
		}
		if _, err := nocopy.PeekAll(nil, largeDesc, b, path); !errors.Is(err, nocopy.ErrLimit) {
			t.Errorf("%v, with others: %v", path, err)
		}
	}
	if v, err := nocopy.Peek(b, 7, 1000); err != nil || len(v.Raw()) != 1 {
		t.Error(err)
	}
	for _, text := range []string{"\x0b\x00\x01\x7f\xff\xff\xff", "\x0d\x00\x01\x02\x02\x7f\xff\xff\xff", "\x0e\x00\x01\x03\x7f\xff\xff\xff"} {
		clear(b[:20])
		copy(b, text)
		if _, err := nocopy.Peek(b, 1); !errors.Is(err, nocopy.ErrLimit) {
			t.Errorf("%x: %v", text, err)
		}
		if _, err := nocopy.Peek(b[:large], 1); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, nocopy.ErrLimit) {
			t.Errorf("%x, cut off: %v", text, err)
		}
	}
	b = b[:1000]
	copy(b, "\x0f\x00\x07\x02\x7f\xff\xff\xff")
	if _, err := nocopy.Peek(b, 7); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut off: %v", err)
	}
}

// panicOf returns the text with which f panics, or "".
func panicOf(f func()) (text string) {
	defer func() { text, _ = recover().(string) }()
	f()
	return ""
}
