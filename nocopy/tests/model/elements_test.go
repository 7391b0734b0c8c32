package model_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// element is a handle of the type that elementDesc currently describes.
type element nocopy.Struct

var elementDesc *thriftimpl.Desc

func (element) ThriftDesc() *thriftimpl.Desc { return elementDesc }

// cutList returns what is in the struct b, which is valid: how often the list with this header
// comes, the wire bytes of the last one's elements, and the struct without them.
func cutList(b []byte, header uint32) (times int, elems [][]byte, rest []byte) {
	rest = b
	for f := range parse.Fields(b) {
		n := 0
		if f.Header == header {
			n = int(wire.BE32(b[f.At+1:]))
		}
		if f.Header != header || n > 0 && b[f.At] != byte(wire.Struct) {
			continue
		}
		times++
		elems = nil
		i := f.At + wire.ListHeader
		rest = append(append(append([]byte{}, b[:i-4]...), 0, 0, 0, 0), b[f.End:]...)
		for range n {
			end := parse.SkipValid(b, i, wire.Struct)
			elems = append(elems, b[i:end])
			i = end
		}
	}
	return times, elems, rest
}

// repeated returns the struct b with its field with this header, if any, once more at its end.
func repeated(b []byte, header uint32) []byte {
	for f := range parse.Fields(b) {
		if f.Header == header {
			return append(append(append([]byte{}, b[:len(b)-1]...), b[f.From:f.End]...), 0)
		}
	}
	return b
}

func newElementDecoder(r io.Reader, framed bool, list string, opts ...nocopy.Option) *nocopy.ElementDecoder[decoded, element] {
	if framed {
		return nocopy.NewFrameElementDecoder[decoded, element](r, list, opts...)
	}
	return nocopy.NewElementDecoder[decoded, element](r, list, opts...)
}

// structsOf returns an iterator over structs with these wire bytes.
func structsOf(t *testing.T, elems [][]byte) func(yield func(element, error) bool) {
	return func(yield func(element, error) bool) {
		for _, b := range elems {
			var m nocopy.Message
			e, err := nocopy.ParseInto[element](&m, b)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// TestElementDecoder: the elements and the rest of the structs of Apache's library, also with
// fields that are unknown or come twice, are those that ParseX finds. What WriteElements makes of
// them are the bytes that there were.
func TestElementDecoder(t *testing.T) {
	sc := newSchema(referee.Everything())
	g := newGen(47)
	seen := map[string]int{}
	rounds := testmode.Of(4, 12)
	if testmode.Race { // there is one goroutine
		rounds = 2
	}
	for round := range rounds {
		for _, b := range sc.structs {
			rec := g.Record(b.Struct, 4)
			g.Noise(rec)
			bin := referee.Write(rec, rand.New(rand.NewPCG(uint64(g.Intn(1<<30)), 2)))
			for i, f := range b.Fields {
				if !f.Type.IsList() || !f.Type.Elem.IsStruct() {
					continue
				}
				decodedDesc, elementDesc = b.desc, sc.of[f.Type.Elem.Struct].desc
				header := b.desc.FieldDesc(i).Type.Wire()
				id := uint32(header)<<16 | uint32(uint16(f.ID))
				if name := fmt.Sprint(b.Name, ".", f.Name); round%4 == 1 {
					checkElements(t, name, repeated(bin, id), id, f.Name, seen)
				} else {
					checkElements(t, name, bin, id, f.Name, seen)
				}
			}
		}
	}
	for _, what := range []string{"absent", "empty", "one", "several", "twice"} {
		if rounds > 2 && seen[what] == 0 {
			t.Errorf("no list was %s: %v", what, seen)
		}
	}
}

func checkElements(t *testing.T, name string, bin []byte, header uint32, list string, seen map[string]int) {
	whole, err := thriftimpl.Parse(decodedDesc, bin)
	if err != nil {
		t.Fatal(name, err)
	}
	comp := (*nocopy.Message)(whole.Message()).AppendCompact(nil)
	whole.Release()
	for _, compact := range []bool{false, true} {
		wires, opts := bin, [][]nocopy.Option{nil, {nocopy.Recycle}, {nocopy.Lazy}, {nocopy.Limits{MaxIndex: 1 << 20}}}
		if compact {
			// Converting makes other bytes of bools and of empty lists and maps
			s, err := thriftimpl.Parse(decodedDesc, comp, nocopy.Compact)
			if err != nil {
				t.Fatal(name, err)
			}
			wires, opts = (*nocopy.Message)(s.Message()).AppendTo(nil), [][]nocopy.Option{{nocopy.Compact}, {nocopy.Compact, nocopy.Recycle}}
			s.Release()
		}
		times, elems, rest := cutList(wires, header)
		seen[map[bool]string{true: "twice"}[times > 1]]++
		switch {
		case times == 0:
			seen["absent"]++
		case len(elems) == 0:
			seen["empty"]++
		case len(elems) == 1:
			seen["one"]++
		default:
			seen["several"]++
		}
		sent := wires
		if compact {
			sent = comp
		}
		for _, framed := range []bool{false, true} {
			all := bytes.Repeat(sent, 2)
			if framed {
				all = bytes.Repeat(append(binary.BigEndian.AppendUint32(nil, uint32(len(sent))), sent...), 2)
			}
			for how, reader := range readers {
				for i, o := range opts {
					if (i+len(how)+len(bin))%2 == 0 && !testmode.Long {
						continue
					}
					d := newElementDecoder(reader(all), framed, list, o...)
					where := fmt.Sprintf("%s, framed %v, %s, %v", name, framed, how, o)
					for k := range 2 {
						if d.Offset() != int64(k*len(all)/2) {
							t.Fatalf("%s: struct %d is at %d", where, k, d.Offset())
						}
						if times > 1 {
							if _, err := d.Rest(); err == nil || !strings.Contains(err.Error(), "comes again") {
								t.Fatalf("%s: a list that comes twice: %v", where, err)
							}
							break
						}
						readElements(t, where, d, elems, rest)
					}
					if times <= 1 {
						if _, err := d.Head(); err != io.EOF {
							t.Fatalf("%s: %v at the end", where, err)
						}
					}
				}
			}
			if times == 1 {
				var out bytes.Buffer
				write := nocopy.WriteElements[decoded, element]
				if framed {
					write = nocopy.WriteElementsFrame[decoded, element]
				}
				s, err := thriftimpl.Parse(decodedDesc, rest)
				if err != nil {
					t.Fatal(name, err)
				}
				n, err := write(&out, decoded(s), list, len(elems), structsOf(t, elems), map[bool]nocopy.Option{true: nocopy.Compact}[compact])
				if err != nil || n != int64(out.Len()) || !bytes.Equal(out.Bytes(), all[:len(all)/2]) {
					t.Fatalf("%s, framed %v, compact %v: written\n%x (%d), %v, not\n%x", name, framed, compact, out.Bytes(), n, err, all[:len(all)/2])
				}
			}
		}
	}
}

func readElements(t *testing.T, where string, d *nocopy.ElementDecoder[decoded, element], elems [][]byte, rest []byte) {
	t.Helper()
	head, err := d.Head()
	if err != nil {
		t.Fatalf("%s: head: %v", where, err)
	}
	if b := nocopy.Struct(head).Message().Bytes(); !bytes.HasPrefix(rest, bytes.TrimRight(b, "\x00")) || d.Len() != len(elems) {
		t.Fatalf("%s: head %x of %x, %d elements", where, b, rest, d.Len())
	}
	nocopy.Struct(head).Release()
	for k, want := range elems {
		e, err := d.Next()
		if err != nil {
			t.Fatalf("%s: element %d: %v", where, k, err)
		}
		if got := nocopy.Struct(e).Message().Bytes(); !bytes.Equal(got, want) {
			t.Fatalf("%s: element %d is\n%x, not\n%x", where, k, got, want)
		}
		parsed, err := thriftimpl.Parse(elementDesc, want)
		if err != nil {
			t.Fatal(err)
		}
		if k%2 == 0 { // reading goes on after a Release, too
			if got, want := nocopy.Struct(e).StringAs(elementDesc), nocopy.Struct(parsed).StringAs(elementDesc); got != want {
				t.Fatalf("%s: element %d is %s, not %s", where, k, got, want)
			}
			if k%4 == 0 {
				nocopy.Struct(e).Release()
			}
		}
		parsed.Release()
	}
	if _, err := d.Next(); err != io.EOF {
		t.Fatalf("%s: %v after the last element", where, err)
	}
	s, err := d.Rest()
	if err != nil {
		t.Fatalf("%s: rest: %v", where, err)
	}
	if got := nocopy.Struct(s).Message().Bytes(); !bytes.Equal(got, rest) {
		t.Fatalf("%s: the rest is\n%x, not\n%x", where, got, rest)
	}
	nocopy.Struct(s).Release()
}
