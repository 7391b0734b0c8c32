package elements_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/support"
)

// Parts of a Batch in Thrift Binary.
const (
	sender  = "\x0b\x00\x01\x00\x00\x00\x02me"
	sum     = "\x0a\x00\x06\x00\x00\x00\x00\x00\x00\x00\x07"
	itemsOf = "\x0f\x00\x03\x0c" // and the count
	one     = "\x08\x00\x01\x00\x00\x00\x01\x00"
	innerOf = "\x0c\x00\x02"
	setOf   = "\x0e\x00\x02\x0c"
	// A list<map<string, bool>>
	unknown   = "\x0f\x00\x63\x0d\x00\x00\x00\x01\x0b\x02\x00\x00\x00\x01\x00\x00\x00\x01k\x01"
	wireIndex = "\x0b\x83\x00\x00\x00\x00\x04indx"
)

func decode(b, list string, opts ...nocopy.Option) (numbers []int, rest string, err error) {
	d := nocopy.NewElementDecoder[batch, item](strings.NewReader(b), list, opts...)
	for e, err := range d.All() {
		if err != nil {
			return numbers, "", err
		}
		numbers = append(numbers, number(e))
	}
	s, err := d.Rest()
	if err != nil {
		return numbers, "", err
	}
	defer engine.Struct(s).Release()
	return numbers, string(engine.Struct(s).Message().AppendTo(nil)), nil
}

// TestWhatComes: lists that are absent, empty, of other types, or come twice.
func TestWhatComes(t *testing.T) {
	const none = "\x00\x00\x00\x00"
	two := support.Be(2) + one + one
	otherList := "\x0f\x00\x03\x08" + support.Be(1) + support.Be(5)
	for _, c := range []struct {
		name, list, in string
		numbers        int
		rest, err      string // rest "" is in; err is a part of the error
	}{
		{"absent", "items", sender + sum + "\x00", 0, "", "Batch.items: offset 20: required field is missing"},
		{"empty", "items", sender + itemsOf + none + sum + "\x00", 0, "", ""},
		{"empty, of no type", "items", sender + "\x0f\x00\x03\x00" + none + sum + "\x00", 0, "", ""},
		{"first", "items", itemsOf + two + sender + sum + "\x00", 2, itemsOf + none + sender + sum + "\x00", ""},
		{"last", "items", sum + sender + itemsOf + two + "\x00", 2, sum + sender + itemsOf + none + "\x00", ""},
		{"twice", "items", sender + itemsOf + two + itemsOf + none + sum + "\x00", 2, "", "Batch.items: offset 33: the list, or a struct that it is in, comes again"},
		{"of numbers", "items", sender + otherList + sum + "\x00", 0, "", "Batch.items: offset 32: required field is missing"},
		{"of numbers, too", "items", sender + itemsOf + two + otherList + sum + "\x00", 2, sender + itemsOf + none + otherList + sum + "\x00", ""},
		{"a set", "items", sender + "\x0e\x00\x03\x0c" + two + sum + "\x00", 0, "", "Batch.items: offset 44: required field is missing"},
		{"unknown fields", "items", unknown + sender + itemsOf + two + unknown + sum + "\x00", 2, unknown + sender + itemsOf + none + unknown + sum + "\x00", ""},
		{"wire index", "items", sender + itemsOf + two + sum + wireIndex + "\x00", 2, sender + itemsOf + none + sum + "\x00", ""},
		{"nested", "inner.items", sender + itemsOf + none + sum + innerOf + setOf + two + "\x00\x00", 2, sender + itemsOf + none + sum + innerOf + setOf + none + "\x00\x00", ""},
		{"nested, its struct comes again", "inner.items", sender + innerOf + setOf + two + "\x00" + innerOf + setOf + none + "\x00" + itemsOf + none + sum + "\x00", 2, "", "Batch.inner: offset 37: the list, or a struct that it is in, comes again"},
		{"nested, its struct came before", "inner.items", sender + innerOf + "\x00" + innerOf + setOf + two + "\x00" + itemsOf + none + sum + "\x00", 2, "", "Batch.inner.items: offset 12: required field is missing"},
		{"nested, not there", "inner.items", sender + itemsOf + two + sum + "\x00", 0, "", ""},
	} {
		numbers, rest, err := decode(c.in, c.list)
		want := c.rest
		if want == "" {
			want = c.in
		}
		if len(numbers) != c.numbers {
			t.Errorf("%s: %d elements", c.name, len(numbers))
		}
		if c.err == "" && (err != nil || rest != want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %x, %v", c.name, rest, err)
		}
	}
}

// TestElementErrors: errors say where they are in the struct, and in which element.
func TestElementErrors(t *testing.T) {
	head := sender + itemsOf + support.Be(3) + one
	for _, c := range []struct {
		in   string
		opts []nocopy.Option
		err  string
	}{
		{head + "\x00", nil, "Batch.items[1].number: offset 25: required field is missing"},
		{head + "\x11\x00\x01", nil, "Batch.items[1]: offset 25: no such wire type: 17"},
		{head + "\x0b\x00\x02\xff\xff\xff\xff", nil, "Batch.items[1].text: offset 28: negative length"},
		{head + "\x0b\x00\x02\x7f\xff\xff\xff", nil, "Batch.items[1]: offset 28: limit exceeded: value of 2147483651 bytes"},
		{head + "\x0b\x00\x02\x00\xff\xff\xff", nil, "Batch.items[1].text: offset 32: unexpected EOF"},
		{head + "\x0b\x00\x02\x00\x00\x00\x01\xff", []nocopy.Option{nocopy.ValidUTF8}, "Batch.items[1].text: offset 32: string is not UTF-8"},
		{head + "\x0f\x00\x04\x0c" + support.Be(math.MaxInt32), nil, "Batch.items[1].items: offset 33: unexpected EOF"},
		{sender + itemsOf + support.Be(-1), nil, "Batch.items: offset 13: negative length"},
		{sender + itemsOf + support.Be(math.MaxInt32), nil, "Batch.items[0]: offset 17: unexpected EOF"},
		{sender + "\x01\x00\x01", nil, "Batch.1: offset 9: no such wire type: 1"},
		{sender + "\x0d\x00\x04\x0b\x0c" + support.Be(1) + support.Be(-5), nil, "Batch.named: offset 18: negative length"},
		{itemsOf + support.Be(0) + sum + "\x00", nil, "Batch.sender: offset 19: required field is missing"},
		{itemsOf + support.Be(2) + one + one + sum + "\x00", nil, "Batch.sender: offset 35: required field is missing"},
	} {
		for _, reader := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader} {
			d := nocopy.NewElementDecoder[batch, item](reader(strings.NewReader(c.in)), "items", c.opts...)
			_, err := d.Rest()
			if err == nil || !strings.HasPrefix(err.Error(), "nocopy: "+c.err) {
				t.Errorf("%x: %v, want %s", c.in, err, c.err)
			}
		}
	}
}

// TestElementsOfOtherFormats: the first error says if the bytes are of another format.
func TestElementsOfOtherFormats(t *testing.T) {
	s := newBatch(3)
	defer s.Release()
	b := s.Message().AppendTo(nil)
	for _, c := range []struct {
		in      []byte
		framed  bool
		compact bool
		err     string
	}{
		{append([]byte("\x80\x01\x00\x01\x00\x00\x00\x04call\x00\x00\x00\x01"), b...), false, false, "call"},
		{(*nocopy.Message)(s.Message()).AppendCompact(nil), false, false, "compact protocol"},
		{[]byte("{\"a\": 1}"), false, false, "JSON"},
	} {
		f := form{"", c.framed, c.compact}
		_, err := f.decoder(bytes.NewReader(c.in), "items").Rest()
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v, want %s", err, c.err)
		}
	}
}

// TestElementFrames: a struct has all of its frame, and no more.
func TestElementFrames(t *testing.T) {
	s := newBatch(3)
	defer s.Release()
	for _, f := range forms[1:] {
		if !f.framed {
			continue
		}
		b := f.send(s)
		for _, c := range []struct {
			length int
			reason error
		}{{len(b) - 4 - 1, io.ErrUnexpectedEOF}, {len(b) - 4 + 1, nocopy.ErrTrailing}, {-1, nocopy.ErrNegative}, {0, io.ErrUnexpectedEOF}} {
			in := append(bytes.Clone(b), 0)
			binary.BigEndian.PutUint32(in, uint32(c.length))
			for _, reader := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader} {
				_, err := f.decoder(reader(bytes.NewReader(in)), "items").Rest()
				support.CheckError(t, fmt.Sprint(f.name, c.length), err, batchDesc, len(in), c.reason)
			}
		}
	}
}

// TestElementLimits: limits hold for each element and for the rest, however the stream is cut, and
// MaxTotal for all of it.
func TestElementLimits(t *testing.T) {
	s := newBatch(30) // text 10 and 21 have 5,000 bytes
	defer s.Release()
	whole := len(s.Message().Bytes())
	list := s.Child(batchDesc.Field(2), batchDesc)
	after9 := whole - 1
	for i := 10; i < 30; i++ {
		after9 -= len(list.StructAt(i).AppendStruct(nil, itemDesc))
	}
	for _, f := range forms {
		for _, cut := range []int{1, 1000, 1 << 20} {
			list := "items"
			read := func(total int64, opts ...nocopy.Option) (numbers []int, err error) {
				d := f.decoder(&pieces{f.send(s), cut}, list, opts...)
				d.MaxTotal = total
				numbers, _, err = readAll(d)
				return numbers, err
			}
			check := func(what string, numbers []int, err error, want int, reason string) {
				t.Helper()
				switch {
				case reason == "" && err != nil, reason != "" && (!errors.Is(err, nocopy.ErrLimit) || !strings.Contains(err.Error(), reason)):
					t.Errorf("%s, cut %d, %s: %v", f.name, cut, what, err)
				case len(numbers) != want && !f.compact, len(numbers) > want:
					t.Errorf("%s, cut %d, %s: %d elements", f.name, cut, what, len(numbers))
				}
			}
			numbers, err := read(0, nocopy.Limits{MaxBytes: 4000})
			check("a small limit", numbers, err, 0, "MaxBytes = 4000")
			numbers, err = read(0, nocopy.Limits{MaxBytes: 20_000})
			check("a large limit", numbers, err, 30, "")
			numbers, err = read(int64(whole))
			check("all", numbers, err, 30, "")
			numbers, err = read(int64(whole - 1))
			check("all but one byte", numbers, err, 30, "MaxTotal")
			numbers, err = read(int64(after9))
			check("some", numbers, err, 10, "MaxTotal")
			numbers, err = read(int64(after9 - 1))
			check("one less", numbers, err, 9, "MaxTotal")
			numbers, err = read(0, nocopy.Limits{MaxDepth: 4})
			check("depth", numbers, err, 30, "")
			numbers, err = read(0, nocopy.Limits{MaxDepth: 3})
			check("too deep", numbers, err, 0, "MaxDepth")
			numbers, err = read(0, nocopy.Limits{MaxIndex: 1000})
			check("index", numbers, err, 30, "MaxIndex")
			list = "inner.items"
			numbers, err = read(0, nocopy.Limits{MaxBytes: 4000})
			check("a large element", numbers, err, 10, "MaxBytes = 4000")
			numbers, err = read(0, nocopy.Limits{MaxBytes: 62})
			check("an element with others", numbers, err, 1, "MaxBytes = 62")
		}
	}
}

// TestElementDepth: what is nested in an element counts from the struct's root, as in ParseX.
func TestElementDepth(t *testing.T) {
	nested := func(n int) string {
		return strings.Repeat("\x08\x00\x01\x00\x00\x00\x01\x0f\x00\x04\x0c\x00\x00\x00\x01", n) + one + strings.Repeat("\x00", n)
	}
	for _, list := range []string{"items", "inner.items"} {
		for n := 58; n < 68; n++ {
			in := sender + itemsOf + support.Be(1) + nested(n) + sum + "\x00"
			if list != "items" {
				in = sender + itemsOf + support.Be(0) + innerOf + setOf + support.Be(1) + nested(n) + "\x00" + sum + "\x00"
			}
			s, want := engine.Parse(batchDesc, []byte(in))
			s.Release()
			for _, cut := range []int{1, 1 << 20} {
				_, rest, err := readDepth(in, list, cut)
				if (err == nil) != (want == nil) || err != nil && (!errors.Is(err, nocopy.ErrLimit) || !strings.Contains(err.Error(), "MaxDepth")) {
					t.Errorf("%s, %d levels, cut %d: %v, Parse %v (%s)", list, n, cut, err, want, rest)
				}
			}
		}
	}
}

func readDepth(in, list string, cut int) (n int, rest string, err error) {
	d := nocopy.NewElementDecoder[batch, item](&pieces{[]byte(in), cut}, list)
	for _, err := range d.All() {
		if err != nil {
			return n, "", err
		}
		n++
	}
	s, err := d.Rest()
	engine.Struct(s).Release()
	return n, "", err
}

// TestClaims: counts and lengths are believed only as far as bytes have arrived.
func TestClaims(t *testing.T) {
	most := support.Be(math.MaxInt32)
	for _, c := range []struct {
		in      string
		compact bool
	}{
		{sender + itemsOf + most, false},
		{sender + itemsOf + support.Be(1) + "\x0f\x00\x03\x02" + most, false},
		{sender + itemsOf + support.Be(1) + "\x0f\x00\x04\x0c" + most, false},
		{sender + itemsOf + support.Be(1) + "\x0b\x00\x02\x06\x00\x00\x00", false},
		{"\x0b\x00\x01\x06\x00\x00\x00", false},
		{"\x0f\x00\x05\x0b" + most, false},
		{"\x18\x02me\x29\xfc\xff\xff\xff\xff\x07", true},
		{"\x18\x02me\x29\x1c\x39\xf1\xff\xff\xff\xff\x07", true},
		{"\x18\x80\x80\x80\x30", true},
	} {
		for _, framed := range []bool{false, true} {
			in := []byte(c.in)
			if framed {
				in = append(binary.BigEndian.AppendUint32(nil, math.MaxInt32), in...)
			}
			f := form{"", framed, c.compact}
			var err error
			if n := support.Allocated(func() { _, err = f.decoder(bytes.NewReader(in), "items").Rest() }); n > 1<<20 || !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, nocopy.ErrLimit) {
				t.Errorf("%x, framed %v: %d bytes allocated, %v", c.in, framed, n, err)
			}
		}
	}
}

// TestElementPromises: bytes that arrive for a value that would be too large are refused, and are
// not collected.
func TestElementPromises(t *testing.T) {
	limits := nocopy.Limits{MaxBytes: 1 << 20}
	for name, c := range map[string]struct {
		in      string
		compact bool
	}{
		"a field":               {"\x0b\x00\x01\x7f\x00\x00\x00", false},
		"a field of an item":    {sender + itemsOf + support.Be(1) + "\x0b\x00\x02\x7f\x00\x00\x00", false},
		"many fields":           {strings.Repeat("\x02\x00\x63\x01", 1<<19), false},
		"a compact field":       {"\x18\x80\x80\x80\x80\x02", true},
		"a compact item's":      {"\x18\x02me\x29\x1c\x28\x80\x80\x80\x80\x02", true},
		"many items in an item": {sender + itemsOf + support.Be(1) + "\x0f\x00\x04\x0c\x7f\xff\xff\xff" + strings.Repeat(one, 1<<18), false},
	} {
		src := &endless{in: []byte(c.in)}
		d := form{"", false, c.compact}.decoder(src, "items", limits)
		if _, err := d.Rest(); !errors.Is(err, nocopy.ErrLimit) || src.read > 8<<20 {
			t.Errorf("%s: %v after %d bytes", name, err, src.read)
		}
	}
}

// endless is a Reader of bytes and then of others without end.
type endless struct {
	in   []byte
	read int
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.in)
	if e.in = e.in[n:]; n == 0 {
		n = copy(b, strings.Repeat("\x08\x00\x01\x00\x00\x00\x01\x00", len(b)/8+1))
	}
	if e.read += n; e.read > 64<<20 {
		return 0, errors.New("too much was read")
	}
	return n, nil
}

// TestElementsWithIndex: a wire index in an element is removed from it when it changes, as from
// any message, and stays in the others.
func TestElementsWithIndex(t *testing.T) {
	with := one[:len(one)-1] + wireIndex + "\x00"
	d := nocopy.NewElementDecoder[batch, item](strings.NewReader(sender+itemsOf+support.Be(9)+strings.Repeat(with, 9)+sum+"\x00"), "items")
	k := 0
	for e, err := range d.All() {
		if err != nil {
			t.Fatal(err)
		}
		s, want := engine.Struct(e), with
		if k%2 == 0 {
			s.SetInt32(itemDesc.Field(0), 1)
			want = one
		}
		if got := string(s.Message().AppendTo(nil)); got != want {
			t.Errorf("element %d is %x, not %x", k, got, want)
		}
		k++
	}
}

// TestElementsWithDuplicates: what is noted of one element does not touch the others.
func TestElementsWithDuplicates(t *testing.T) {
	again := "\x08\x00\x01\x00\x00\x00\x02\x08\x00\x01\x00\x00\x00\x03\x00"
	for _, elems := range []string{one + again + one + again, again + one + one + again} {
		d := nocopy.NewElementDecoder[batch, item](strings.NewReader(sender+itemsOf+support.Be(4)+elems+sum+"\x00"), "items")
		left := elems
		for e, err := range d.All() {
			if err != nil {
				t.Fatal(err)
			}
			s := engine.Struct(e)
			want := left[:len(one)]
			if strings.HasPrefix(left, again) {
				want = again
			}
			left = left[len(want):]
			if got := string(s.Message().AppendTo(nil)); got != want {
				t.Errorf("%x, not %x", got, want)
			}
			s.Unset(itemDesc.Field(0)) // all occurrences of the field
			s.SetInt32(itemDesc.Field(0), 9)
			alone, err := engine.Parse(itemDesc, []byte(want))
			if err != nil {
				t.Fatal(err)
			}
			alone.Unset(itemDesc.Field(0))
			alone.SetInt32(itemDesc.Field(0), 9)
			if got, want := s.Message().Nodes(), alone.Message().Nodes(); got > want {
				t.Errorf("%d nodes, %d in a message of its own", got, want)
			}
			alone.Release()
			if got := string(s.Message().AppendTo(nil)); got != "\x08\x00\x01\x00\x00\x00\x09\x00" {
				t.Errorf("%x became %x", want, got)
			}
		}
		s, err := d.Rest()
		if err != nil {
			t.Error(err)
		}
		engine.Struct(s).Release()
	}
}

// TestElementsWrongUse: mistakes of the program panic.
func TestElementsWrongUse(t *testing.T) {
	for list, text := range map[string]string{
		"":            `Batch has no field ""`,
		"item":        `Batch has no field "item"`,
		"inner.no":    `Batch has no field "inner.no"`,
		"items.text":  `Batch has no field "items.text"`,
		"sender":      "Batch.sender is a string, not a list or set of structs",
		"inner":       "Batch.inner is a Inner, not a list or set of structs",
		"words":       "Batch.words is a list<string>, not a list or set of structs",
		"named":       "Batch.named is a map<string, Item>, not a list or set of structs",
		"inner.after": "Batch.inner.after is a string, not a list or set of structs",
	} {
		panics(t, list, text, func() { nocopy.NewElementDecoder[batch, item](strings.NewReader(""), list) })
		panics(t, list, text, func() { nocopy.WriteElements[batch, item](io.Discard, batch{}, list, 0, none) })
	}
	panics(t, "another type", "the elements of Batch.items are Item, not Batch", func() {
		nocopy.NewElementDecoder[batch, batch](strings.NewReader(""), "items")
	})
	panics(t, "no Reader", "nil Reader", func() { nocopy.NewElementDecoder[batch, item](nil, "items") })
	panics(t, "zero", "not made by NewElementDecoder", func() { new(nocopy.ElementDecoder[batch, item]).Next() })
	panics(t, "nil", "not made by NewElementDecoder", func() { (*nocopy.ElementDecoder[batch, item])(nil).Head() })
	panics(t, "no Writer", "nil Writer", func() { nocopy.WriteElements[batch, item](nil, batch{}, "items", 0, none) })
	panics(t, "no iterator", "nil iterator", func() { nocopy.WriteElements[batch, item](io.Discard, batch{}, "items", 0, nil) })
}

func none(func(item, error) bool) {}

// TestElementMemory: the memory does not grow with the list.
func TestElementMemory(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	debug.SetGCPercent(100) // as programs have it
	one := newItem(3)
	size := len(engine.Struct(one).Message().Bytes())
	n := 0
	again := func(yield func(item, error) bool) {
		for i := 0; i < n && yield(one, nil); i++ {
		}
	}
	s := newBatch(0)
	for _, f := range forms {
		if f.framed {
			continue // as without, but it takes the iterator twice
		}
		for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
			switch n = 48 << 20 / size; {
			case testmode.Race:
				n /= 8
			case testmode.Long && opts != nil: // more than a message may have
				n = 1 << 30 / size
			}
			r, w := io.Pipe()
			go func() {
				_, err := f.writeTo(w, s, "items", n, again)
				w.CloseWithError(err)
			}()
			d := f.decoder(r, "items", opts...)
			elements := 0
			for e, err := range d.All() {
				if err != nil || number(e) != 3 || len(textOf(e)) < 10 {
					t.Fatal(f.name, err)
				}
				elements++
			}
			rest, err := d.Rest()
			if err != nil || elements != n {
				t.Fatalf("%s: %d elements of %d, %v", f.name, elements, n, err)
			}
			engine.Struct(rest).Release()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if m.Sys > 32<<20 && !testmode.Debug {
				t.Errorf("%s, %v: %d MiB in use after %d MiB", f.name, opts, m.Sys>>20, n*size>>20)
			}
		}
	}
}
