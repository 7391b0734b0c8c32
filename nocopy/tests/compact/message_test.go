package compact_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// parse parses b, an Order in the compact protocol.
func parse(t testing.TB, b string, opts ...nocopy.Option) thriftimpl.Struct {
	t.Helper()
	s, err := thriftimpl.Parse(orderDesc, []byte(b), append(opts, nocopy.Compact)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCompactBytes: values with more than one form in the compact protocol, and how they are
// written again.
func TestCompactBytes(t *testing.T) {
	price := binary.LittleEndian.AppendUint64(nil, math.Float64bits(1.5))
	for _, c := range []struct{ name, compact, binary, again string }{
		{"empty", "\x00", "\x00", "\x00"},
		{"STOP with a delta", "\x70", "\x00", "\x00"},
		{"long id", "\x06\x02\x02\x00", "\x0a\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00", "\x16\x02\x00"},
		{"long varint", "\x16\x82\x80\x00\x00", "\x0a\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00", "\x16\x02\x00"},
		{"least i64", "\x16\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", "\x0a\x00\x01\x80\x00\x00\x00\x00\x00\x00\x00\x00", "="},
		{"double", "\xb7" + string(price) + "\x00", "\x04\x00\x0b\x3f\xf8\x00\x00\x00\x00\x00\x00\x00", "="},
		{"empty map", "\x3b\x00\x00", "\x0d\x00\x03\x0b\x0a\x00\x00\x00\x00\x00", "="},
		{"empty map with a long count", "\x3b\x80\x00\x00", "\x0d\x00\x03\x0b\x0a\x00\x00\x00\x00\x00", "\x3b\x00\x00"},
		{"unknown empty map", "\xdb\x00\x00", "\x0d\x00\x0d\x00\x00\x00\x00\x00\x00\x00", "="},
		{"empty map where a list is declared", "\x2b\x00\x00", "\x0d\x00\x02\x00\x00\x00\x00\x00\x00\x00", "="},
		{"empty list of no type", "\x29\x00\x00", "\x0f\x00\x02\x00\x00\x00\x00\x00\x00", "="},
		{"list with a long count", "\xa9\xf6\x01\x02\x00", "\x0f\x00\x0a\x0a\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00", "\xa9\x16\x02\x00"},
		{"bools of type 1", "\x99\x41\x01\x02\x00\x03\x00", "\x0f\x00\x09\x02\x00\x00\x00\x04\x01\x00\x00\x00\x00", "\x99\x41\x01\x02\x02\x02\x00"},
		{"bools of type 2", "\x99\x22\x02\x01\x00", "\x0f\x00\x09\x02\x00\x00\x00\x02\x00\x01\x00", "\x99\x21\x02\x01\x00"},
		{"unknown bools", "\xc1\x12\x00", "\x02\x00\x0c\x01\x02\x00\x0d\x00\x00", "="},
		{"descending ids", "\x06\x16\x02\x16\x02\x06\x02\x04\x00", "\x0a\x00\x0b\x00\x00\x00\x00\x00\x00\x00\x01\x0a\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x01\x0a\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00", "\xb6\x02\x16\x02\x06\x02\x04\x00"},
	} {
		for _, w := range ways() {
			s, err := w.parse(orderDesc, []byte(c.compact))
			if err != nil {
				t.Errorf("%s, %s: %v", w.name, c.name, err)
				continue
			}
			if got := s.Message().Bytes(); string(got) != c.binary {
				t.Errorf("%s, %s becomes\n%x, not\n%x", w.name, c.name, got, c.binary)
			}
			again := c.again
			if again == "=" {
				again = c.compact
			}
			checkCompact(t, c.name, nocopy.Struct(s).Message(), []byte(again))
			s.Release()
		}
	}
}

// TestCompactOddBools: a bool byte of Thrift Binary that is neither 0 nor 1 is true.
func TestCompactOddBools(t *testing.T) {
	s, err := thriftimpl.Parse(orderDesc, []byte("\x0f\x00\x09\x02\x00\x00\x00\x02\x05\x00\x02\x00\x0c\xff\x00"))
	if err != nil {
		t.Fatal(err)
	}
	checkCompact(t, "odd bools", nocopy.Struct(s).Message(), []byte("\x99\x21\x01\x02\x31\x00"))
	s.Release()
}

// TestCompactRefersToNothing: the bytes that were parsed may change at once.
func TestCompactRefersToNothing(t *testing.T) {
	for _, w := range ways() {
		b := []byte("\x48\x05hello\x00")
		s, err := w.parse(orderDesc, b)
		if err != nil {
			t.Fatal(err)
		}
		clear(b)
		if got := s.Text(orderDesc.Field(3)); got != "hello" {
			t.Errorf("%s: the note is %q", w.name, got)
		}
		s.SetText(orderDesc.Field(3), "bye")
		checkCompact(t, w.name, nocopy.Struct(s).Message(), []byte("\x48\x03bye\x00"))
		s.Release()
	}
}

// TestCompactLimits: MaxBytes limits both the Thrift Binary, exactly to the byte, and the compact
// bytes. MaxDepth limits the nesting.
func TestCompactLimits(t *testing.T) {
	for name, b := range map[string]string{
		"numbers": "\xa9\xf6\x90\x4e" + strings.Repeat("\x02", 10_000) + "\x00",
		"text":    "\x48\x90\x4e" + strings.Repeat("x", 10_000) + "\x00",
		"bools":   "\x99\xf1\x90\x4e" + strings.Repeat("\x01", 10_000) + "\x00",
		"pairs":   "\x3b\x01\x86\x03abc\x02\x00",
	} {
		s := parse(t, b)
		n := s.Message().Len()
		s.Release()
		for _, most := range []int{n, n - 1, n / 2, 2} {
			for _, w := range ways() {
				s, err := w.parse(orderDesc, []byte(b), nocopy.Limits{MaxBytes: most})
				if most == n && err != nil || most < n && !errors.Is(err, nocopy.ErrLimit) {
					t.Errorf("%s, %s: %d bytes with MaxBytes = %d: %v", w.name, name, n, most, err)
				}
				s.Release()
			}
		}
	}
	padded := "\x16\x82" + strings.Repeat("\x80", 7) + "\x00\x00"
	if _, err := thriftimpl.Parse(orderDesc, []byte(padded), nocopy.Compact, nocopy.Limits{MaxBytes: len(padded) - 1}); !errors.Is(err, nocopy.ErrLimit) {
		t.Error("more compact bytes than MaxBytes:", err)
	}
	for depth, ok := range map[int]bool{3: true, 4: true, 5: false, 200: false} {
		b := strings.Repeat("\x5c", depth-1) + strings.Repeat("\x00", depth)
		s, err := thriftimpl.Parse(orderDesc, []byte(b), nocopy.Compact, nocopy.Limits{MaxDepth: 4})
		if ok && err != nil || !ok && !errors.Is(err, nocopy.ErrLimit) {
			t.Errorf("depth %d: %v", depth, err)
		}
		s.Release()
	}
	const many = 20_000
	b := strings.Repeat("\x5c", many-1) + strings.Repeat("\x00", many)
	parse(t, b, nocopy.Limits{MaxDepth: many}).Release()
}

// TestCompactMemory: memory grows with the existing bytes, not with the sizes that they claim. A
// message that would become too large is refused before it does.
func TestCompactMemory(t *testing.T) {
	for name, c := range map[string]struct {
		bytes string
		most  uint64
	}{
		"two billion numbers": {"\xa9\xf6\xff\xff\xff\xff\x07" + strings.Repeat("\x00", 1000), 1 << 20},
		"a gigabyte of text":  {"\x48\x80\x80\x80\x80\x04abc", 1 << 20},
		"nested maps":         {"\xcb" + strings.Repeat("\xff\xff\xff\x07\xbb", 1000), 1 << 20},
		"eightfold":           {"\xa9\xf6\x80\x80\x40" + strings.Repeat("\x00", 1<<20) + "\x00", 64 << 20},
		"eightfold, too much": {"\xa9\xf6\x80\x80\x80\x0a" + strings.Repeat("\x00", 20<<20) + "\x00", 450 << 20},
	} {
		for _, w := range ways()[:1] {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s, err := w.parse(orderDesc, []byte(c.bytes))
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > c.most {
				t.Errorf("%s: %d bytes of memory", name, took)
			}
			if (err == nil) != (name == "eightfold") {
				t.Errorf("%s: %v", name, err)
			}
			s.Release()
		}
	}
}

// TestCompactAllocations: the number of allocations does not depend on the message's size.
func TestCompactAllocations(t *testing.T) {
	if testmode.Instrumented {
		t.Skip("pools lose what they have, or more is allocated")
	}
	for _, n := range []int{10, 1000, 300_000} {
		s := thriftimpl.New(orderDesc)
		s.SetInt64s(orderDesc.Field(9), orderDesc, make([]int64, n))
		s.SetText(orderDesc.Field(3), strings.Repeat("x", n))
		b := (*nocopy.Message)(s.Message()).AppendCompact(nil)
		dst := make([]byte, 0, len(b))
		m := (*nocopy.Message)(s.Message())
		for what, f := range map[string]func(){
			"Parse": func() {
				s, err := thriftimpl.Parse(orderDesc, b, nocopy.Compact, nocopy.Recycle)
				if err != nil {
					t.Fatal(err)
				}
				s.Release()
			},
			"AppendCompact": func() { m.AppendCompact(dst) },
			"WriteCompact":  func() { m.WriteCompact(io.Discard) },
		} {
			if got := testing.AllocsPerRun(10, f); got > 12 {
				t.Errorf("%s of %d bytes: %v allocations", what, len(b), got)
			}
		}
		s.Release()
	}
}

// TestCompactOfPieces: an edited message in several pieces is written like a message in one piece,
// by many goroutines at once.
func TestCompactOfPieces(t *testing.T) {
	long := strings.Repeat("long ", 40_000)
	s := parse(t, "\x16\x02\x29\x2c"+line+"\x00"+line+"\x00\x18\x04note\x00")
	s.SetText(orderDesc.Field(3), long)
	s.SetBytes(orderDesc.Field(6), []byte(long))
	next := s.NewChild(orderDesc.Field(4), orderDesc, 0)
	next.SetInt64s(orderDesc.Field(9), orderDesc, []int64{1, -1, 1 << 40, math.MinInt64})
	m := (*nocopy.Message)(s.Message())
	m.Finish()
	want, _, err := toCompact(m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if !bytes.Equal(m.AppendCompact(nil), want) {
				t.Error("AppendCompact differs")
			}
			var out bytes.Buffer
			if n, err := m.WriteCompact(&out); err != nil || n != int64(len(want)) || !bytes.Equal(out.Bytes(), want) {
				t.Errorf("WriteCompact: %d, %v", n, err)
			}
		})
	}
	wg.Wait()
	s.Release()
}

// limited is a Writer that accepts a limited number of bytes.
type limited struct{ left int }

var errFull = errors.New("full")

func (f *limited) Write(b []byte) (int, error) {
	n := min(f.left, len(b))
	if f.left -= n; n < len(b) {
		return n, errFull
	}
	return n, nil
}

// silent is a Writer that writes half of its argument and returns no error.
type silent struct{}

func (silent) Write(b []byte) (int, error) { return len(b) / 2, nil }

// TestWriteCompactErrors: WriteCompact returns the Writer's error and the number of bytes written.
func TestWriteCompactErrors(t *testing.T) {
	s := thriftimpl.New(orderDesc)
	defer s.Release()
	s.SetText(orderDesc.Field(3), strings.Repeat("x", 100_000))
	s.SetInt64s(orderDesc.Field(9), orderDesc, make([]int64, 200_000))
	for _, most := range []int{0, 1, 5, 50_000, 100_003, 250_000} {
		if n, err := (*nocopy.Message)(s.Message()).WriteCompact(&limited{most}); n != int64(most) || err != errFull {
			t.Errorf("room for %d bytes: %d, %v", most, n, err)
		}
	}
	if _, err := (*nocopy.Message)(s.Message()).WriteCompact(silent{}); err != io.ErrShortWrite {
		t.Error("half is written:", err)
	}
	defer func() {
		if v := recover(); v != "nocopy: WriteCompact of a nil Writer" {
			t.Error(v)
		}
	}()
	(*nocopy.Message)(s.Message()).WriteCompact(nil)
}

// TestCompactIndex: a wire index is not written in the compact protocol, and is made for messages
// that came in that protocol.
func TestCompactIndex(t *testing.T) {
	all := orders()
	s := parse(t, string(all[2]), nocopy.WithIndex, engine.AnySize)
	defer s.Release()
	with := bytes.Clone(s.Message().Bytes())
	if s := parse(t, string(all[2])); len(with) <= s.Message().Len() {
		t.Error("no index was made")
	}
	checkCompact(t, "with an index", nocopy.Struct(s).Message(), all[2])
	for _, opt := range []nocopy.Option{nocopy.ByIndex, nocopy.Lazy, nocopy.Own} {
		by, err := thriftimpl.Parse(orderDesc, bytes.Clone(with), opt, engine.AnySize)
		if err != nil {
			t.Fatal(err)
		}
		if opt == nocopy.ByIndex {
			checkCompact(t, "parsed by index", nocopy.Struct(by).Message(), all[2])
		}
		by.Release()
	}
	if _, err := thriftimpl.Parse(orderDesc, all[2], nocopy.Compact, nocopy.RequireIndex); !errors.Is(err, nocopy.ErrIndex) {
		t.Error("RequireIndex:", err)
	}
}

// TestCompactVariable: damaged bytes give the same error with all options that say what becomes of
// the bytes, and do not change. A Message variable can be used again after any of them.
func TestCompactVariable(t *testing.T) {
	var kept engine.Message
	for _, good := range orders() {
		good = good[:min(len(good), 400)]
		for i := range good {
			bad := bytes.Clone(good)
			bad[i] ^= byte(1 + i%255)
			_, want := thriftimpl.Parse(orderDesc, bytes.Clone(bad), nocopy.Compact)
			for _, opts := range [][]nocopy.Option{nil, {nocopy.Own}, {nocopy.Recycle}, {nocopy.Own, nocopy.Recycle}, {nocopy.Own, nocopy.Recycle, nocopy.Lazy}} {
				b := bytes.Clone(bad)
				s, err := engine.ParseInto(orderDesc, &kept, b, append(opts, nocopy.Compact))
				if (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
					t.Fatalf("byte %d, options %v: %v, want %v", i, opts, err, want)
				}
				if !bytes.Equal(b, bad) {
					t.Fatalf("byte %d, options %v: the bytes have changed", i, opts)
				}
				if err == nil {
					s.SetText(orderDesc.Field(3), "again")
				}
			}
		}
		if _, err := engine.ParseInto(orderDesc, &kept, orders()[0], []nocopy.Option{nocopy.Compact}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCompactAbsent: the message of an absent struct is an empty struct, as in Thrift Binary.
func TestCompactAbsent(t *testing.T) {
	m := nocopy.Struct{}.Message()
	if got, want := m.AppendCompact(nil), m.AppendTo(nil); !bytes.Equal(got, want) {
		t.Errorf("%x, not %x", got, want)
	}
}

// TestCompactDynamic: types that are loaded at run time support the compact protocol, too.
func TestCompactDynamic(t *testing.T) {
	schema, err := dynamic.LoadText(map[string]string{"a.thrift": "struct A { 1: i32 n, 2: map<string, i32> counts, 3: string text }"})
	if err != nil {
		t.Fatal(err)
	}
	typ, err := schema.Struct("A")
	if err != nil {
		t.Fatal(err)
	}
	const compact = "\x15\x54\x1b\x00\x18\x02hi\x00"
	for name, parse := range map[string]func() (dynamic.Message, error){
		"Parse": func() (dynamic.Message, error) { return typ.Parse([]byte(compact), nocopy.Compact) },
		"Read": func() (dynamic.Message, error) {
			return typ.Read(strings.NewReader(compact), len(compact), nocopy.Compact)
		},
	} {
		m, err := parse()
		if err != nil {
			t.Fatal(name, err)
		}
		if text := m.String(); text != `{n: 42, counts: {}, text: "hi"}` {
			t.Error(name, text)
		}
		checkCompact(t, name, m.Message(), []byte(compact))
	}
}

// TestCompactDeepError: the error for a message with many levels takes memory proportional to the
// message.
func TestCompactDeepError(t *testing.T) {
	const levels = 20_000
	b := []byte(strings.Repeat("\x5c", levels) + "\x1f") // nested Orders, then an invalid type
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := thriftimpl.Parse(orderDesc, b, nocopy.Compact, nocopy.Limits{MaxDepth: levels + 1})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%d bytes of memory", took)
	}
	var bad *nocopy.Error
	if !errors.As(err, &bad) || bad.Path != "Order"+strings.Repeat(".next", levels)+".id" {
		t.Errorf("%.100v", err)
	}
}
