package limits_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Tests of sizes at which something changes: values are referred to, take a block of their own,
// are copied because positions would run out, or are refused.

// TestManyReferred: referring to foreign memory uses up positions. In time, values must be copied
// instead.
func TestManyReferred(t *testing.T) {
	n := testmode.Of(2_000, 10_000)
	text := func(i int) string { return fmt.Sprintf("%05d", i) + longText }
	for name, build := range map[string]func(s thriftimpl.Struct){
		"list set by slice": func(s thriftimpl.Struct) {
			v := make([]string, n)
			for i := range v {
				v[i] = text(i)
			}
			s.SetTexts(fieldNamed(allDesc, "words"), allDesc, v)
		},
		"list appended to": func(s thriftimpl.Struct) {
			l := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, 0))
			for i := range n {
				l.Append(text(i))
			}
		},
		"list set in reverse": func(s thriftimpl.Struct) {
			l := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, n))
			for i := range n {
				l.Set(n-1-i, text(n-1-i))
			}
		},
		"list set twice": func(s thriftimpl.Struct) {
			l := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, n))
			for range 2 {
				for i := range n {
					l.Set(i, text(i))
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStruct(allDesc)
			defer s.Release()
			build(s)
			again := mustParse(t, allDesc, s.Message().Bytes(), nocopy.Limits{MaxBytes: 200 << 20})
			for _, s := range []thriftimpl.Struct{s, again} {
				l := nocopy.StringList(s.Child(fieldNamed(allDesc, "words"), allDesc))
				if l.Len() != n {
					t.Fatalf("%d elements", l.Len())
				}
				for i, got := range l.All() {
					if got != text(i) {
						t.Fatalf("element %d is %.20q", i, got)
					}
				}
			}
			again.Release()
		})
	}
}

// TestOneFieldManyTimes: setting a referred value again reuses its segment.
func TestOneFieldManyTimes(t *testing.T) {
	s := newStruct(allDesc)
	defer s.Release()
	blob := fieldNamed(allDesc, "blob")
	for i := range 20_000 {
		v := bytes.Repeat([]byte{byte(i)}, referSize+i%3)
		s.SetBytes(blob, v)
		if i%1000 == 0 {
			if got := s.Bytes(blob); !bytes.Equal(got, v) {
				t.Fatalf("after %d times: %d bytes of %x", i, len(got), got[:1])
			}
		}
	}
	if n := s.Message().Len(); n > 2*referSize {
		t.Errorf("%d bytes on the wire", n)
	}
}

func TestLargeBinaries(t *testing.T) {
	const n = 10_000
	v := make([][]byte, n)
	for i := range v {
		v[i] = bytes.Repeat([]byte{byte(i), byte(i >> 8)}, 2500)
	}
	s := newStruct(allDesc)
	defer s.Release()
	s.SetByteSlices(fieldNamed(allDesc, "blobs"), allDesc, v)
	var out bytes.Buffer
	if _, err := s.Message().WriteTo(&out); err != nil || out.Len() != 9+n*5004 {
		t.Fatalf("%d bytes, %v", out.Len(), err)
	}
	again, err := nocopy.Read[thriftimpl.Struct](allDesc, &out, out.Len())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Release()
	for i, got := range nocopy.BytesList(again.Child(fieldNamed(allDesc, "blobs"), allDesc)).All() {
		if !bytes.Equal(got, v[i]) {
			t.Fatalf("element %d has become %d bytes of %x", i, len(got), got[:2])
		}
	}
}

// TestHugeBinary: one value of 64 MiB, referred to and built in place.
func TestHugeBinary(t *testing.T) {
	const n = 64 << 20
	huge := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		huge[i] = byte(i >> 12)
	}
	blob := fieldNamed(allDesc, "blob")
	for name, set := range map[string]func(s thriftimpl.Struct){
		"referred": func(s thriftimpl.Struct) { s.SetBytes(blob, huge) },
		"in place": func(s thriftimpl.Struct) { copy(s.NewBytes(blob, n), huge) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStruct(allDesc)
			s.SetInt32(fieldNamed(allDesc, "medium"), 1)
			set(s)
			s.SetText(fieldNamed(allDesc, "text"), "behind it")
			if got := s.Bytes(blob); !bytes.Equal(got, huge) {
				t.Fatalf("%s: reads as %d other bytes", name, len(got))
			}
			want := s.Message().AppendTo(nil)
			if len(want) != n+31 {
				t.Fatalf("%s: %d bytes on the wire", name, len(want))
			}
			for _, w := range []way{inOnePiece, cutAt(n / 2), cutEvery(1 << 20), {Name: "read", Parse: func(d *thriftimpl.Desc, wire []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
				return nocopy.Read[thriftimpl.Struct](d, bytes.NewReader(wire), len(wire), opts...)
			}}} {
				again, err := w.Parse(allDesc, want)
				if err != nil {
					t.Fatal(err)
				}
				if again.Text(fieldNamed(allDesc, "text")) != "behind it" || !bytes.Equal(again.Bytes(blob), huge) {
					t.Errorf("%s, %s: reads differently", name, w.Name)
				}
				again.SetText(fieldNamed(allDesc, "text"), "")
				if n, err := again.Message().WriteTo(io.Discard); err != nil || int(n) != len(want)-9 {
					t.Errorf("%s, %s: %d bytes after an edit, %v", name, w.Name, n, err)
				}
				again.Release()
			}
			s.Release()
		})
	}
}

// TestOverTheLimit: messages above 100 MiB are built, sent and, with Limits, parsed.
func TestOverTheLimit(t *testing.T) {
	s := newStruct(allDesc)
	defer s.Release()
	part := strings.Repeat("x", 30<<20)
	s.SetTexts(fieldNamed(allDesc, "words"), allDesc, []string{part, part, part, part})
	wire := s.Message().Bytes()
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Lazy}, {nocopy.Limits{MaxBytes: len(wire) - 1}}} {
		_, err := parseStruct(allDesc, wire, opts...)
		checkError(t, "Parse", err, allDesc, 0, nocopy.ErrLimit)
		_, err = nocopy.ParseBlocks[thriftimpl.Struct](allDesc, [][]byte{wire[:1000], wire[1000:]}, opts...)
		checkError(t, "ParseBlocks", err, allDesc, 0, nocopy.ErrLimit)
		_, err = nocopy.Read[thriftimpl.Struct](allDesc, bytes.NewReader(wire), len(wire), opts...)
		checkError(t, "Read", err, allDesc, 0, nocopy.ErrLimit)
	}
	again := mustParse(t, allDesc, wire, nocopy.Limits{MaxBytes: len(wire)})
	defer again.Release()
	if l := nocopy.StringList(again.Child(fieldNamed(allDesc, "words"), allDesc)); l.Len() != 4 || l.At(3) != part {
		t.Error("reads differently")
	}
}

func TestMillions(t *testing.T) {
	n := testmode.Of(100_000, 1_000_000)
	for name, build := range map[string]func(s thriftimpl.Struct){
		"numbers appended": func(s thriftimpl.Struct) {
			l := nocopy.Int64List(s.NewChild(fieldNamed(allDesc, "numbers"), allDesc, 0))
			for i := range n {
				l.Append(int64(i))
			}
		},
		"numbers set": func(s thriftimpl.Struct) {
			l := nocopy.Int64List(s.NewChild(fieldNamed(allDesc, "numbers"), allDesc, n))
			for i := range n {
				l.Set(n-1-i, int64(n-1-i))
			}
		},
		"strings": func(s thriftimpl.Struct) {
			l := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, n))
			for i := range n {
				l.Set(i, itoa(i))
			}
		},
		"strings set in reverse": func(s thriftimpl.Struct) {
			l := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, n))
			for i := range n {
				l.Set(n-1-i, itoa(n-1-i))
			}
		},
		"structs": func(s thriftimpl.Struct) {
			l := nocopy.StructList[thriftimpl.Struct](s.NewChild(fieldNamed(allDesc, "points"), allDesc, n))
			for i := range n {
				l.At(i).SetInt32(fieldNamed(pointDesc, "x"), int32(i))
			}
		},
		"structs appended, then changed": func(s thriftimpl.Struct) {
			l := nocopy.StructList[thriftimpl.Struct](s.NewChild(fieldNamed(allDesc, "points"), allDesc, 0))
			for range n {
				l.AppendNew()
			}
			for i := range n {
				l.At(n-1-i).SetInt32(fieldNamed(pointDesc, "x"), int32(n-1-i))
			}
		},
		"lists": func(s thriftimpl.Struct) {
			l := nocopy.NestedList[nocopy.Int32List](s.NewChild(fieldNamed(allDesc, "matrix"), allDesc, n))
			for i := range n {
				l.NewAt(i, 1).Set(0, int32(i))
			}
		},
		"pairs": func(s thriftimpl.Struct) {
			p := nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](s.NewChild(fieldNamed(allDesc, "counts"), allDesc, n))
			for i := range n {
				p.Put(itoa(i), int64(i))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStruct(allDesc)
			defer s.Release()
			build(s)
			again := mustParse(t, allDesc, s.Message().Bytes())
			defer again.Release()
			for _, s := range []thriftimpl.Struct{s, again} {
				if got := millionth(s, name); got != n-1 {
					t.Errorf("the last is %d", got)
				}
			}
			if !bytes.Equal(again.Clone(allDesc).Message().Bytes(), s.Message().Bytes()) {
				t.Error("a clone is different")
			}
		})
	}
}

// millionth reads all of the only container in s. It returns its last number, or the index of the
// first wrong element.
func millionth(s thriftimpl.Struct, name string) int {
	n := 0
	switch {
	case strings.HasPrefix(name, "numbers"):
		for i, v := range nocopy.Int64List(s.Child(fieldNamed(allDesc, "numbers"), allDesc)).All() {
			if int64(i) != v {
				return i
			}
			n = i
		}
	case strings.HasPrefix(name, "strings"):
		for i, v := range nocopy.StringList(s.Child(fieldNamed(allDesc, "words"), allDesc)).All() {
			if itoa(i) != v {
				return i
			}
			n = i
		}
	case strings.HasPrefix(name, "structs"):
		for i, v := range nocopy.StructList[thriftimpl.Struct](s.Child(fieldNamed(allDesc, "points"), allDesc)).All() {
			if v.Int32(fieldNamed(pointDesc, "x")) != int32(i) {
				return i
			}
			n = i
		}
	case name == "lists":
		for i, v := range nocopy.NestedList[nocopy.Int32List](s.Child(fieldNamed(allDesc, "matrix"), allDesc)).All() {
			if v.Len() != 1 || v.At(0) != int32(i) {
				return i
			}
			n = i
		}
	default:
		p := nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](s.Child(fieldNamed(allDesc, "counts"), allDesc))
		for p.Len() > n {
			if v, ok := p.Get(itoa(n)); !ok || v != int64(n) {
				break
			}
			n++
		}
		n--
	}
	return n
}

// TestStoreAtTheEnd: numbers at the end of a large message, in the last segment of its memory, are
// sent like others.
func TestStoreAtTheEnd(t *testing.T) {
	d := newStructDesc("Tail")
	d.Define(thriftimpl.FieldDesc{ID: 1, Name: "text", Type: typeString}, thriftimpl.FieldDesc{ID: 2, Name: "n", Type: typeI64}, thriftimpl.FieldDesc{ID: 3, Name: "ok", Type: typeBool})
	for _, size := range []int{10, 490, 1<<20 - 30, 1<<20 - 12, 1<<20 - 3, 1 << 20, 3<<20 + 5} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			wire := appendBE32([]byte{byte(nocopy.WireString), 0, 1}, uint32(size))
			wire = append(wire, make([]byte, size)...)
			wire = append(wire, "\x0a\x00\x02\x01\x02\x03\x04\x05\x06\x07\x08\x02\x00\x03\x00\x00"...)
			want := bytes.Clone(wire)
			copy(want[len(want)-13:], "\x00\x00\x00\x00\x00\x00\x00\x09\x02\x00\x03\x01\x00")
			sent := bytes.Clone(wire)
			for _, w := range []way{inOnePiece, with(inOnePiece, nocopy.Recycle, "recycled"), with(inOnePiece, nocopy.Lazy, "lazy"), cutEvery(1<<20 - 7), cutAt(len(wire) - 20), owned} {
				s := mustParse(t, d, wire)
				s.Release()
				s, err := w.Parse(d, wire)
				if err != nil {
					t.Fatalf("%d, %s: %v", size, w.Name, err)
				}
				s.SetInt64(d.Field(1), 9)
				s.SetBool(d.Field(2), true)
				if s.Int64(d.Field(1)) != 9 || !s.Bool(d.Field(2)) {
					t.Errorf("%d, %s: reads %d, %v", size, w.Name, s.Int64(d.Field(1)), s.Bool(d.Field(2)))
				}
				if got := s.Message().Bytes(); !bytes.Equal(got, want) {
					t.Errorf("%d, %s: what was stored does not go out: ends with %x", size, w.Name, got[len(got)-20:])
				}
				if !bytes.Equal(wire, sent) {
					t.Fatalf("%d, %s: stored into what was sent", size, w.Name)
				}
				s.Release()
			}
		})
	}
}

// TestRowsManyLong: if there are more texts than segments, some are copied, as with setters.
func TestRowsManyLong(t *testing.T) {
	long := strings.Repeat("x", referSize)
	words := fieldNamed(allDesc, "words")
	for _, n := range []int{900, 1024, 2100, testmode.Of(2500, 50_000)} {
		all := make([]string, n)
		for i := range all {
			all[i] = long[:referSize-3] + string([]byte{byte(i >> 16), byte(i >> 8), byte(i)})
		}
		for name, make := range map[string]func() thriftimpl.Struct{
			"New": func() thriftimpl.Struct {
				var w thriftimpl.Writer
				w.New(allDesc)
				return w.Root(w.Stop(w.Texts(0, words, all)))
			},
			"Into": func() thriftimpl.Struct {
				var w thriftimpl.Writer
				s := newStruct(allDesc)
				w.Into(s, allDesc)
				w.Done(w.Stop(w.Texts(0, words, all)))
				return s
			},
		} {
			s := make()
			l := nocopy.StringList(s.Child(words, allDesc))
			if l.Len() != n || s.Message().Len() < n*referSize {
				t.Fatalf("%s: %d texts, %d bytes", name, l.Len(), s.Message().Len())
			}
			for i, text := range l.All() {
				if text != all[i] {
					t.Fatalf("%s of %d: text %d is another", name, n, i)
				}
			}
			if s.Message().Nodes() == 0 {
				t.Errorf("%s of %d: all are copied", name, n)
			}
			s.Release()
		}
	}
}

// TestNegativeLength: a length with the sign bit is negative, even if as many bytes follow as it
// would mean without the sign.
func TestNegativeLength(t *testing.T) {
	if raceEnabled || math.MaxInt == math.MaxInt32 { // too little memory
		return
	}
	size := int64(1 << 31)
	b := make([]byte, size+32)
	copy(b, "\x0b\x00\x01\x80\x00\x00\x00")
	copy(b[7+size:], "\x08\x00\x02\x00\x00\x00\x07\x00")
	if v, err := nocopy.Peek(b, 2); !errors.Is(err, nocopy.ErrNegative) {
		t.Errorf("Peek: %v, %v", v, err)
	}
	var s thriftimpl.Scanner
	if end, need, err := s.Scan(b); !errors.Is(err, nocopy.ErrNegative) {
		t.Errorf("Scan: %d, %d, %v", end, need, err)
	}
}

// TestHugeElement: an element of nearly 1 GiB is referred to, also if it is set with others.
func TestHugeElement(t *testing.T) {
	huge := make([]byte, 1021<<20)
	for _, others := range [][][]byte{nil, {[]byte("short"), make([]byte, 5000)}} {
		s := newStruct(allDesc)
		s.SetByteSlices(fieldNamed(allDesc, "blobs"), allDesc, append(others, huge))
		if s.Message().Nodes() == 0 {
			t.Errorf("an element of %d bytes beside %d others is copied", len(huge), len(others))
		}
		l := nocopy.BytesList(s.Child(fieldNamed(allDesc, "blobs"), allDesc))
		if aliasing { // without unsafe At copies, which takes seconds here
			if got := l.At(len(others)); &got[0] != &huge[0] || len(got) != len(huge) {
				t.Errorf("an element of %d bytes, not the one that was set", len(got))
			}
		}
		s.Release()
	}
}
