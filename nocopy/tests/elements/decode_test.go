package elements_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// form is a way to send a struct.
type form struct {
	name            string
	framed, compact bool
}

var forms = []form{{"bare", false, false}, {"framed", true, false}, {"compact", false, true}, {"framed compact", true, true}}

// send returns the bytes of s in the form.
func (f form) send(s engine.Struct) []byte {
	m := (*nocopy.Message)(s.Message())
	b := m.AppendTo(nil)
	if f.compact {
		b = m.AppendCompact(nil)
	}
	if f.framed {
		b = append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	return b
}

// decoder returns an ElementDecoder of batches in the form.
func (f form) decoder(r io.Reader, list string, opts ...nocopy.Option) *nocopy.ElementDecoder[batch, item] {
	if f.compact {
		opts = append(opts, nocopy.Compact)
	}
	if f.framed {
		return nocopy.NewFrameElementDecoder[batch, item](r, list, opts...)
	}
	return nocopy.NewElementDecoder[batch, item](r, list, opts...)
}

// readAll reads all of a struct, and returns its elements' numbers and the rest's text.
func readAll(d *nocopy.ElementDecoder[batch, item]) (numbers []int, rest string, err error) {
	for e, err := range d.All() {
		if err != nil {
			return numbers, "", err
		}
		if want := text(number(e)); textOf(e) != want {
			return numbers, "", fmt.Errorf("%d has text %q", number(e), textOf(e))
		}
		numbers = append(numbers, number(e))
	}
	s, err := d.Rest()
	if err == nil {
		rest = nocopy.Struct(s).StringAs(batchDesc)
		engine.Struct(s).Release()
	}
	return numbers, rest, err
}

// TestPlaces: the list may be in the struct or in a struct of it, and may be a set. The rest has
// everything else.
func TestPlaces(t *testing.T) {
	whole := newBatch(40)
	for _, list := range []string{"items", "inner.items"} {
		want := newBatch(40)
		if list == "items" {
			want.NewChild(batchDesc.Field(2), batchDesc, 0)
		} else {
			want.Child(batchDesc.Field(1), batchDesc).NewChild(innerDesc.Field(1), innerDesc, 0)
		}
		for _, f := range forms {
			for cut := 1; cut < 100; cut += 7 {
				d := f.decoder(&pieces{f.send(whole), cut}, list)
				numbers, rest, err := readAll(d)
				if err != nil || len(numbers) != 40 || d.Len() != 40 {
					t.Fatalf("%s, %s, cut %d: %d elements of %d, %v", list, f.name, cut, len(numbers), d.Len(), err)
				}
				if got := nocopy.Struct(want).StringAs(batchDesc); rest != got {
					t.Fatalf("%s, %s: the rest is\n%s, not\n%s", list, f.name, rest, got)
				}
			}
		}
		want.Release()
	}
	whole.Release()
}

// pieces is a Reader that returns at most n bytes at once.
type pieces struct {
	b []byte
	n int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.n)], p.b)
	p.b = p.b[n:]
	return n, nil
}

// TestCutAnywhere: the stream may be cut between any two bytes.
func TestCutAnywhere(t *testing.T) {
	whole := newBatch(8)
	defer whole.Release()
	for _, f := range forms {
		b := f.send(whole)
		for _, list := range []string{"items", "inner.items"} {
			for cut := range b {
				d := f.decoder(io.MultiReader(bytes.NewReader(b[:cut]), bytes.NewReader(b[cut:])), list)
				if numbers, _, err := readAll(d); err != nil || len(numbers) != 8 {
					t.Fatalf("%s, %s, cut at %d: %d elements, %v", f.name, list, cut, len(numbers), err)
				}
			}
		}
	}
}

// TestTruncated: a stream that ends anywhere gives the elements that are whole, and then an *Error
// with the offset of the end. Only a stream that ends between structs gives io.EOF.
func TestTruncated(t *testing.T) {
	whole := newBatch(8)
	defer whole.Release()
	for _, f := range forms {
		b := f.send(whole)
		got := 0
		for n := range b {
			d := f.decoder(iotest.OneByteReader(bytes.NewReader(b[:n])), "items")
			numbers, _, err := readAll(d)
			if n == 0 {
				if err != io.EOF {
					t.Fatalf("%s: no bytes: %v", f.name, err)
				}
				continue
			}
			var bad *nocopy.Error
			if !errors.As(err, &bad) || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(bad.Path, "Batch") {
				t.Fatalf("%s, %d bytes: %v", f.name, n, err)
			}
			at := n
			if f.framed {
				at = max(0, n-4)
			}
			if f.compact && (bad.Offset > at || bad.Offset < at-20) || !f.compact && bad.Offset != at {
				t.Fatalf("%s, %d bytes: %v", f.name, n, err)
			}
			if len(numbers) < got {
				t.Fatalf("%s, %d bytes: %d elements, %d of fewer bytes", f.name, n, len(numbers), got)
			}
			got = len(numbers)
			if got > 0 && got < 8 && !strings.HasPrefix(bad.Path, fmt.Sprintf("Batch.items[%d]", got)) {
				t.Fatalf("%s, %d bytes: %v after %d elements", f.name, n, err, got)
			}
			if _, again := d.Next(); again != err {
				t.Fatalf("%s: %v, then %v", f.name, err, again)
			}
		}
		if got != 8 {
			t.Errorf("%s: %d elements", f.name, got)
		}
	}
}

// TestReaderFails: an error of the Reader comes unchanged, after the elements that have arrived.
func TestReaderFails(t *testing.T) {
	whole, broken := newBatch(12), errors.New("broken")
	defer whole.Release()
	for _, f := range forms {
		b := f.send(whole)
		for _, n := range []int{0, 3, len(b) / 2, len(b) - 100, len(b) - 1} {
			d := f.decoder(io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(broken)), "items")
			_, _, err := readAll(d)
			if err != broken {
				t.Errorf("%s, after %d bytes: %v", f.name, n, err)
			}
			for range 2 {
				if _, err := d.Rest(); err != broken {
					t.Errorf("%s, after %d bytes: Rest: %v", f.name, n, err)
				}
				if _, err := d.Head(); err != broken {
					t.Errorf("%s, after %d bytes: Head: %v", f.name, n, err)
				}
			}
		}
	}
}

// TestElementsArrive: an element is returned as soon as it has arrived.
func TestElementsArrive(t *testing.T) {
	whole := newBatch(30)
	defer whole.Release()
	for _, f := range forms {
		src := &counted{b: f.send(whole)}
		d := f.decoder(src, "items")
		for k := range 30 {
			if _, err := d.Next(); err != nil {
				t.Fatal(err)
			}
			src.given = append(src.given, src.read)
			if k > 0 && src.given[k] == src.given[0] {
				t.Fatalf("%s: the elements came together", f.name)
			}
		}
		s, err := d.Rest()
		if err != nil || src.read != len(src.b) {
			t.Errorf("%s: %v, %d of %d bytes", f.name, err, src.read, len(src.b))
		}
		engine.Struct(s).Release()
	}
}

// counted is a Reader of a byte at a time. It panics if it is read at its end.
type counted struct {
	b     []byte
	read  int
	given []int
}

func (c *counted) Read(b []byte) (int, error) {
	b[0] = c.b[c.read]
	c.read++
	return 1, nil
}

// TestSeveralStructs: structs follow each other, also if the program reads little of each.
func TestSeveralStructs(t *testing.T) {
	whole := newBatch(300)
	defer whole.Release()
	for _, f := range forms {
		one := f.send(whole)
		all := bytes.Repeat(one, 5)
		d := f.decoder(bytes.NewReader(all), "items")
		for k := range 5 {
			head, err := d.Head()
			if d.Offset() != int64(k*len(one)) {
				t.Fatalf("%s: struct %d at %d", f.name, k, d.Offset())
			}
			if err != nil || engine.Struct(head).Text(batchDesc.Field(0)) != "sender" || d.Len() != 300 {
				t.Fatalf("%s: %v", f.name, err)
			}
			engine.Struct(head).Release()
			for e := range d.All() { // the loop is left
				if number(e) == 3*k {
					break
				}
			}
			if k%2 == 0 {
				e, err := d.Next()
				if err != nil || number(e) != 3*k+1 {
					t.Fatalf("%s: after a loop that was left: %d, %v", f.name, number(e), err)
				}
				s, err := d.Rest()
				if err != nil || engine.Struct(s).Int64(batchDesc.Field(5)) != 7 {
					t.Fatalf("%s: %v", f.name, err)
				}
				engine.Struct(s).Release()
			}
		}
		for range 2 {
			if _, err := d.Head(); err != io.EOF {
				t.Errorf("%s: at the end: %v", f.name, err)
			}
			if _, err := d.Rest(); err != io.EOF {
				t.Errorf("%s: at the end: %v", f.name, err)
			}
		}
	}
}

// TestElementsEnd: an element's handle ends with the next one. Its strings and a Clone stay.
func TestElementsEnd(t *testing.T) {
	whole := newBatch(40)
	defer whole.Release()
	for _, f := range forms {
		d := f.decoder(bytes.NewReader(f.send(whole)), "items")
		var before item
		var texts []string
		var clones []nocopy.Struct
		for e, err := range d.All() {
			if err != nil {
				t.Fatal(err)
			}
			if k := len(texts); k > 0 {
				panics(t, "an older element", "used after Release", func() { number(before) })
			}
			before = e
			texts = append(texts, textOf(e))
			clones = append(clones, nocopy.Struct(e).Clone(itemDesc))
		}
		panics(t, "an element after the last", "used after Release", func() { number(before) })
		for k, got := range texts {
			if got != text(k) || textOf(item(clones[k])) != got {
				t.Errorf("%s: text %d has changed to %q", f.name, k, got)
			}
			clones[k].Release()
		}
	}
}

// TestElementsChange: elements may be changed, sent, linked and released, and the ones after them
// are as they were.
func TestElementsChange(t *testing.T) {
	whole := newBatch(200)
	defer whole.Release()
	for _, f := range forms {
		for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}, {nocopy.Lazy}} {
			into := newBatch(0)
			list := into.NewChild(batchDesc.Field(2), batchDesc, 0)
			d := f.decoder(bytes.NewReader(f.send(whole)), "items", opts...)
			k := 0
			for e, err := range d.All() {
				s := engine.Struct(e)
				if err != nil || number(e) != k || textOf(e) != text(k) {
					t.Fatalf("%s: element %d: %v", f.name, k, err)
				}
				switch k % 5 {
				case 0:
					s.SetInt32(itemDesc.Field(0), int32(-k))
				case 1:
					s.SetText(itemDesc.Field(1), "another")
					s.Child(itemDesc.Field(3), itemDesc).StructAt(1).SetText(itemDesc.Field(1), "a text")
				case 2:
					s.Unset(itemDesc.Field(2))
				case 3:
					s.Release()
					s = engine.Struct(newItem(k))
				}
				if k%2 == 0 {
					s.Message().Compact()
				}
				list.AppendView(s)
				if k%5 == 3 {
					s.Release()
				}
				k++
			}
			if rest, err := d.Rest(); err != nil || k != 200 {
				t.Fatalf("%s: %d elements, %v", f.name, k, err)
			} else {
				engine.Struct(rest).Release()
			}
			for i := range 200 {
				e := item(list.StructAt(i))
				n, s := i, text(i)
				switch i % 5 {
				case 0:
					n = -i
				case 1:
					s = "another"
				}
				if number(e) != n || textOf(e) != s {
					t.Fatalf("%s: element %d became %d %q", f.name, i, number(e), textOf(e))
				}
			}
			into.Release()
		}
	}
}

// TestElementsChangedAndLeft: no memory is kept if an element is changed and then not used.
func TestElementsChangedAndLeft(t *testing.T) {
	whole := newBatch(60)
	defer whole.Release()
	for _, f := range forms {
		d := f.decoder(bytes.NewReader(f.send(whole)), "items")
		for k := range 60 {
			e, err := d.Next()
			if err != nil {
				t.Fatal(err)
			}
			s, want := engine.Struct(e), engine.Struct(newItem(k))
			if got, want := s.Message().AppendTo(nil), want.Message().AppendTo(nil); !bytes.Equal(got, want) {
				t.Fatalf("%s: element %d is\n%x, not\n%x", f.name, k, got, want)
			}
			if n := s.Message().Nodes(); n > 0 {
				t.Fatalf("%s: element %d has %d nodes", f.name, k, n)
			}
			want.Release()
			switch k % 4 {
			case 0:
				s.SetText(itemDesc.Field(1), "another text")
			case 1:
				s.Unset(itemDesc.Field(2))
			case 2:
				s.NewChild(itemDesc.Field(3), itemDesc, 3).StructAt(1).SetText(itemDesc.Field(1), "text")
			}
		}
		rest, err := d.Rest()
		if err != nil {
			t.Fatal(err)
		}
		engine.Struct(rest).Release()
	}
}
