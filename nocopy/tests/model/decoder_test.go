package model_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// decoded is a handle of the type that decodedDesc currently describes.
type decoded nocopy.Struct

var decodedDesc *thriftimpl.Desc

func (decoded) ThriftDesc() *thriftimpl.Desc { return decodedDesc }

// stream returns the messages one after another, each in a frame if framed, and where each begins.
func stream(wires [][]byte, framed bool) (all []byte, starts []int) {
	for _, w := range wires {
		starts = append(starts, len(all))
		if framed {
			all = binary.BigEndian.AppendUint32(all, uint32(len(w)))
		}
		all = append(all, w...)
	}
	return all, starts
}

func newDecoder(r io.Reader, framed bool, opts ...nocopy.Option) *nocopy.Decoder[decoded] {
	if framed {
		return nocopy.NewFrameDecoder[decoded](r, opts...)
	}
	return nocopy.NewDecoder[decoded](r, opts...)
}

// readers has the ways in which a stream arrives.
var readers = map[string]func([]byte) io.Reader{
	"at once":     func(b []byte) io.Reader { return bytes.NewReader(b) },
	"byte-wise":   func(b []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(b)) },
	"by halves":   func(b []byte) io.Reader { return iotest.HalfReader(bytes.NewReader(b)) },
	"with an EOF": func(b []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(b)) },
}

// TestDecoder: a Decoder reads the messages of Apache's library, one after another, with the same
// values.
func TestDecoder(t *testing.T) {
	sc := newSchema(referee.Everything())
	g := newGen(11)
	for _, b := range sc.structs {
		decodedDesc = b.desc
		var records []*referee.Record
		var wires [][]byte
		for range testmode.Of(1, 4) {
			rec := g.Record(b.Struct, 4)
			g.Noise(rec)
			wires = append(wires, referee.Write(rec, rand.New(rand.NewPCG(uint64(g.Intn(1<<30)), 2))))
			referee.Normal(rec)
			records = append(records, rec)
		}
		for _, framed := range []bool{false, true} {
			all, starts := stream(wires, framed)
			for how, reader := range readers {
				for _, opts := range [][]nocopy.Option{nil, {nocopy.Lazy}, {nocopy.Recycle}, {nocopy.Lazy, nocopy.Recycle}, {nocopy.Own}} {
					where := fmt.Sprintf("%s, framed %v, %s, %v", b.Name, framed, how, opts)
					d := newDecoder(reader(all), framed, opts...)
					var kept []decoded
					for i := range wires {
						if d.Offset() != int64(starts[i]) {
							t.Fatalf("%s: message %d is at %d, not %d", where, i, d.Offset(), starts[i])
						}
						s, err := d.Next()
						if err != nil {
							t.Fatalf("%s: message %d: %v", where, i, err)
						}
						kept = append(kept, s)
					}
					if _, err := d.Next(); err != io.EOF {
						t.Fatalf("%s: %v at the end", where, err)
					}
					for i, s := range kept { // all messages together: they must not share memory
						sc.sameByGetters(t, b, handle(s), records[i])
						if got := nocopy.Struct(s).Message().Bytes(); !bytes.Equal(got, wires[i]) {
							t.Fatalf("%s: message %d is\n%x, not\n%x", where, i, got, wires[i])
						}
						nocopy.Struct(s).Release()
					}
				}
			}
		}
	}
}

// item is a struct of a text and a list of texts.
var itemDesc = thriftimpl.NewDesc("Item")

const (
	itemText  thriftimpl.Field = 2<<48 | 5<<32 | 11<<16 | 1
	itemTexts thriftimpl.Field = 3<<48 | 5<<32 | 15<<16 | 2
	itemInner thriftimpl.Field = 4<<48 | 5<<32 | 12<<16 | 3
)

func init() {
	itemDesc.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "text", Type: thriftimpl.TypeString},
		thriftimpl.FieldDesc{ID: 2, Name: "texts", Type: thriftimpl.ListOf(thriftimpl.TypeString)},
		thriftimpl.FieldDesc{ID: 3, Name: "inner", Type: thriftimpl.StructOf(itemDesc)},
	)
}

// itemOf returns the bytes of an Item with texts of about n bytes.
func itemOf(n int) []byte {
	s := thriftimpl.New(itemDesc)
	defer s.Release()
	s.SetText(itemText, strings.Repeat("t", n/3))
	texts := make([]string, n/60)
	for i := range texts {
		texts[i] = strings.Repeat("e", 30)
	}
	s.SetTexts(itemTexts, itemDesc, texts)
	return s.Message().AppendTo(nil)
}

// TestDecoderMany: thousands of messages of all sizes, each released before the next one or later.
func TestDecoderMany(t *testing.T) {
	decodedDesc = itemDesc
	var wires [][]byte
	messages := 3000
	if testmode.Race {
		messages = 400
	}
	for i := range messages {
		n := i % 300
		if i%100 == 99 {
			n = i * 100 // up to 300 KB: in many blocks
		}
		wires = append(wires, itemOf(n))
	}
	for _, framed := range []bool{false, true} {
		all, _ := stream(wires, framed)
		for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}, {nocopy.Recycle, nocopy.Lazy}} {
			i := 0
			var kept []decoded
			for s, err := range newDecoder(iotest.HalfReader(bytes.NewReader(all)), framed, opts...).All() {
				if err != nil {
					t.Fatal(err)
				}
				if got := nocopy.Struct(s).Message().Bytes(); !bytes.Equal(got, wires[i]) {
					t.Fatalf("framed %v, %v: message %d of %d bytes is not what it was", framed, opts, i, len(wires[i]))
				}
				if i++; i%7 != 0 {
					nocopy.Struct(s).Release()
				} else {
					kept = append(kept, s)
				}
			}
			if i != len(wires) {
				t.Fatalf("framed %v, %v: %d messages of %d", framed, opts, i, len(wires))
			}
			for k, s := range kept {
				if got := nocopy.Struct(s).Message().Bytes(); !bytes.Equal(got, wires[7*k+6]) {
					t.Fatalf("framed %v, %v: message %d changed", framed, opts, 7*k+6)
				}
				nocopy.Struct(s).Release()
			}
		}
	}
}

// TestDecoderEnds: a stream that ends at any place inside a message, or with an error.
func TestDecoderEnds(t *testing.T) {
	decodedDesc = itemDesc
	wires := [][]byte{itemOf(100), itemOf(0), itemOf(700)}
	broken := errors.New("broken")
	for _, framed := range []bool{false, true} {
		all, starts := stream(wires, framed)
		starts = append(starts, len(all))
		for n := range len(all) + 1 {
			whole := 0
			for starts[whole+1] <= n {
				if whole++; whole == len(wires) {
					break
				}
			}
			for how, reader := range readers {
				for _, end := range []error{nil, broken} {
					want := error(io.EOF)
					r := reader(all[:n])
					switch {
					case end != nil:
						r, want = io.MultiReader(r, iotest.ErrReader(end)), end
					case n != starts[whole]:
						want = io.ErrUnexpectedEOF
					}
					d := newDecoder(r, framed)
					for i := range whole {
						s, err := d.Next()
						if err != nil {
							t.Fatalf("framed %v, %d bytes, %s: message %d: %v", framed, n, how, i, err)
						}
						nocopy.Struct(s).Release()
					}
					for range 3 {
						if s, err := d.Next(); err != want || nocopy.Struct(s).Valid() {
							t.Fatalf("framed %v, %d bytes, %s: %v, not %v", framed, n, how, err, want)
						}
					}
					if d.Offset() != int64(starts[whole]) {
						t.Fatalf("framed %v, %d bytes: offset %d, not %d", framed, n, d.Offset(), starts[whole])
					}
				}
			}
		}
	}
}

// TestDecoderWrong: an invalid message gives an error with its reason and place, which ends the
// Decoder for good. Claimed sizes take no memory.
func TestDecoderWrong(t *testing.T) {
	decodedDesc = itemDesc
	good := itemOf(90)
	deep := bytes.Repeat([]byte{12, 0, 3}, 70)
	deep = append(deep, make([]byte, 71)...)
	for name, c := range map[string]struct {
		wire   []byte
		framed bool
		opt    nocopy.Option
		want   error
		offset int
	}{
		"wire type":             {[]byte{99, 0, 1}, false, nil, nocopy.ErrType, 0},
		"wire type, framed":     {[]byte{0, 0, 0, 3, 99, 0, 1}, true, nil, nocopy.ErrType, 0},
		"negative length":       {[]byte{11, 0, 1, 0xff, 0, 0, 0}, false, nil, nocopy.ErrNegative, 3},
		"negative count":        {[]byte{15, 0, 2, 11, 0xff, 0, 0, 0}, false, nil, nocopy.ErrNegative, 4},
		"negative frame":        {[]byte{0x80, 0, 0, 0, 0}, true, nil, nocopy.ErrNegative, 0},
		"empty frame":           {[]byte{0, 0, 0, 0}, true, nil, io.ErrUnexpectedEOF, 0},
		"short frame":           {[]byte{0, 0, 0, 3, 3, 0, 9}, true, nil, io.ErrUnexpectedEOF, 3},
		"long frame":            {[]byte{0, 0, 0, 2, 0, 0}, true, nil, nocopy.ErrTrailing, 1},
		"huge frame":            {[]byte{0x7f, 0xff, 0xff, 0xff, 0}, true, nil, nocopy.ErrLimit, 0},
		"huge text":             {[]byte{11, 0, 1, 0x7f, 0xff, 0xff, 0xff}, false, nil, nocopy.ErrLimit, 3},
		"huge list":             {[]byte{15, 0, 9, 10, 0x7f, 0xff, 0xff, 0xff}, false, nil, nocopy.ErrLimit, 8},
		"text over the limit":   {[]byte{11, 0, 1, 0, 0, 1, 0}, false, nocopy.Limits{MaxBytes: 200}, nocopy.ErrLimit, 0},
		"frame over the limit":  {[]byte{0, 0, 0, 201, 11}, true, nocopy.Limits{MaxBytes: 200}, nocopy.ErrLimit, 0},
		"too deep":              {deep, false, nil, nocopy.ErrLimit, 64 * 3},
		"less deep":             {deep, false, nocopy.Limits{MaxDepth: 10}, nocopy.ErrLimit, 10 * 3},
		"not UTF-8":             {[]byte{11, 0, 1, 0, 0, 0, 1, 0xff, 0}, false, nocopy.ValidUTF8, nocopy.ErrUTF8, 7},
		"a promise, not kept":   {[]byte{0, 0x60, 0, 0, 11}, true, nocopy.Limits{MaxBytes: math.MaxInt}, io.ErrUnexpectedEOF, -1},
		"a promise, not framed": {[]byte{11, 0, 1, 0, 0x60, 0, 0}, false, nocopy.Limits{MaxBytes: math.MaxInt}, io.ErrUnexpectedEOF, -1},
		"text of 90 MiB":        {[]byte{11, 0, 1, 5, 0xa0, 0, 0}, false, nil, io.ErrUnexpectedEOF, -1},
	} {
		all, starts := stream([][]byte{good, good}, c.framed)
		all, starts = append(all, c.wire...), append(starts, len(all))
		var opts []nocopy.Option
		if c.opt != nil {
			opts = append(opts, c.opt)
		}
		for how, reader := range readers {
			d := newDecoder(reader(all), c.framed, opts...)
			var err error
			n := 0
			for s, e := range d.All() {
				if err = e; e == nil {
					n++
					nocopy.Struct(s).Release()
				}
			}
			var bad *nocopy.Error
			switch {
			case n != 2 || !errors.Is(err, c.want):
				t.Errorf("%s, %s: after %d messages %v, not %v", name, how, n, err, c.want)
			case d.Offset() != int64(starts[2]):
				t.Errorf("%s, %s: offset %d, not %d", name, how, d.Offset(), starts[2])
			case c.offset >= 0 && !errors.As(err, &bad):
				t.Errorf("%s, %s: %v is not an *Error", name, how, err)
			case c.offset >= 0 && (bad.Offset != c.offset || !strings.HasPrefix(bad.Path, "Item")):
				t.Errorf("%s, %s: %v, not at %d of an Item", name, how, err, c.offset)
			}
			if _, again := d.Next(); again != err {
				t.Errorf("%s, %s: then %v", name, how, again)
			}
		}
	}
}

// counting is a Reader that counts the bytes read.
type counting struct {
	io.Reader
	n int
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += n
	return n, err
}

// TestDecoderAhead: a Decoder reads at most 64 KiB ahead of small messages.
func TestDecoderAhead(t *testing.T) {
	decodedDesc = itemDesc
	var wires [][]byte
	for range 5000 {
		wires = append(wires, itemOf(200))
	}
	for _, framed := range []bool{false, true} {
		all, _ := stream(wires, framed)
		c := &counting{Reader: bytes.NewReader(all)}
		d := newDecoder(c, framed, nocopy.Recycle)
		for s, err := range d.All() {
			if err != nil {
				t.Fatal(err)
			}
			nocopy.Struct(s).Release()
			if ahead := int64(c.n) - d.Offset(); ahead > 64<<10 {
				t.Fatalf("framed %v: %d bytes ahead", framed, ahead)
			}
		}
	}
}

// TestDecoderMisuse: impossible arguments and counts give a panic with one of our texts.
func TestDecoderMisuse(t *testing.T) {
	decodedDesc = itemDesc
	var zero nocopy.Decoder[decoded]
	var none *nocopy.Decoder[decoded]
	for name, f := range map[string]func(){
		"nil Reader":  func() { nocopy.NewDecoder[decoded](nil) },
		"nil Reader ": func() { nocopy.NewFrameDecoder[decoded](nil) },
		"zero":        func() { zero.Next() },
		"nil":         func() { none.Next() },
		"All of zero": func() { zero.All()(func(decoded, error) bool { return true }) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "nocopy: ") {
					t.Errorf("%s: panics with %q", name, text)
				}
			}()
			f()
		}()
	}
	for _, r := range []io.Reader{oddCount(-1), oddCount(1 << 30), oddCount(0)} {
		if _, err := nocopy.NewDecoder[decoded](r).Next(); err == nil {
			t.Errorf("a Reader that returns %d: no error", r)
		}
	}
	d := nocopy.NewDecoder[decoded](bytes.NewReader(bytes.Repeat(itemOf(10), 3)))
	for range d.All() {
		break // the Decoder can still be used
	}
	if s, err := d.Next(); err != nil || d.Offset() != 2*int64(len(itemOf(10))) {
		t.Errorf("%v, %v, offset %d", s, err, d.Offset())
	}
}

// oddCount is a Reader that returns this count.
type oddCount int

func (c oddCount) Read([]byte) (int, error) { return int(c), nil }
