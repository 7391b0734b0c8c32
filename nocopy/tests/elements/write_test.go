package elements_test

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/testtypes"
)

// writeTo writes s with n elements.
func (f form) writeTo(w io.Writer, s engine.Struct, list string, n int, elems iter.Seq2[item, error]) (int64, error) {
	var opts []nocopy.Option
	if f.compact {
		opts = append(opts, nocopy.Compact)
	}
	if f.framed {
		return nocopy.WriteElementsFrame(w, batch(s), list, n, elems, opts...)
	}
	return nocopy.WriteElements(w, batch(s), list, n, elems, opts...)
}

// items yields n items. One message has all of them, one after the other.
func items(n int) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		var m engine.Message
		for i := range n {
			s := engine.NewInto(itemDesc, &m, nil)
			fillItem(s, i%1000)
			if !yield(item(s), nil) {
				return
			}
		}
	}
}

// TestWriteElements: what is written is what a message of all of it gives, wherever the list is.
func TestWriteElements(t *testing.T) {
	for _, n := range []int{0, 1, 14, 15, 16, 100, 300} {
		whole := newBatch(n)
		for _, list := range []string{"items", "inner.items"} {
			for _, empty := range []bool{false, true} {
				if !empty && testmode.Debug { // a required list must be set
					continue
				}
				s := newBatch(n)
				in, k, d := s, 2, batchDesc
				if list != "items" {
					in, k, d = s.Child(batchDesc.Field(1), batchDesc), 1, innerDesc
				}
				if in.NewChild(d.Field(k), d, 0); !empty {
					in.Unset(d.Field(k))
				}
				for _, f := range forms {
					want := f.send(whole)
					if !empty { // required fields are added at the end
						want = nil
					}
					var out bytes.Buffer
					got, err := f.writeTo(&out, s, list, n, items(n))
					if err != nil || got != int64(out.Len()) || want != nil && !bytes.Equal(out.Bytes(), want) {
						t.Fatalf("%s, %s, %d elements: %v\n%x, not\n%x", f.name, list, n, err, out.Bytes(), want)
					}
					numbers, _, err := readAll(f.decoder(&out, list))
					if err != nil || len(numbers) != n {
						t.Fatalf("%s, %s: %d elements of %d, %v", f.name, list, len(numbers), n, err)
					}
				}
				s.Release()
			}
		}
		whole.Release()
	}
}

// TestWrittenWhere: an unset list comes before the fields that are declared after it.
func TestWrittenWhere(t *testing.T) {
	const two = "\x00\x00\x00\x02" + one + one
	for _, c := range []struct{ name, list, in, want string }{
		{"in the middle", "inner.items", sender + innerOf + "\x0b\x00\x03\x00\x00\x00\x01a\x00" + itemsOf + "\x00\x00\x00\x00" + sum + "\x00",
			sender + innerOf + setOf + two + "\x0b\x00\x03\x00\x00\x00\x01a\x00" + itemsOf + "\x00\x00\x00\x00" + sum + "\x00"},
		{"at the end", "inner.items", sender + innerOf + unknown + "\x00" + sum + "\x00", sender + innerOf + unknown + setOf + two + "\x00" + sum + "\x00"},
		{"in an empty struct", "inner.items", sender + sum + innerOf + "\x00\x00", sender + sum + innerOf + setOf + two + "\x00\x00"},
		{"first", "inner.items", innerOf + "\x0b\x00\x03\x00\x00\x00\x01a\x00" + sum + "\x00", innerOf + setOf + two + "\x0b\x00\x03\x00\x00\x00\x01a\x00" + sum + "\x00"},
		{"before all", "items", sum + sender + "\x00", itemsOf + two + sum + sender + "\x00"},
		{"in place", "items", sender + sum + "\x0f\x00\x03\x0c\x00\x00\x00\x00" + unknown + "\x00", sender + sum + itemsOf + two + unknown + "\x00"},
		{"without a wire index", "items", sender + sum + "\x0f\x00\x03\x0c\x00\x00\x00\x00" + wireIndex + "\x00", sender + sum + itemsOf + two + "\x00"},
	} {
		s := engine.Reparse(batchDesc, []byte(c.in), 64)
		var out bytes.Buffer
		elem := engine.New(itemDesc)
		elem.SetInt32(itemDesc.Field(0), 1)
		_, err := nocopy.WriteElements(&out, batch(s), c.list, 2, func(yield func(item, error) bool) {
			if yield(item(elem), nil) {
				yield(item(elem), nil)
			}
		})
		if err != nil || out.String() != c.want {
			t.Errorf("%s: %v\n%x, not\n%x", c.name, err, out.String(), c.want)
		}
		s.Release()
		elem.Release()
	}
}

// TestElementCounts: with more or fewer elements than n, or an error, the bytes are no message.
func TestElementCounts(t *testing.T) {
	s, broken := newBatch(0), errors.New("broken")
	defer s.Release()
	for _, f := range forms {
		for _, n := range []int{0, 1, 5, 1000} {
			for name, c := range map[string]struct {
				elems iter.Seq2[item, error]
				want  error
			}{
				"too few":  {items(n - 1), nocopy.ErrCount},
				"too many": {items(n + 1), nocopy.ErrCount},
				"an error": {func(yield func(item, error) bool) { yield(item{}, broken) }, broken},
			} {
				if n == 0 && name == "too few" {
					continue
				}
				var out bytes.Buffer
				written, err := f.writeTo(&out, s, "items", n, c.elems)
				if !errors.Is(err, c.want) || written != int64(out.Len()) {
					t.Fatalf("%s, %d elements, %s: %v", f.name, n, name, err)
				}
				if _, _, err := readAll(f.decoder(&out, "items")); err == nil {
					t.Fatalf("%s, %d elements, %s: what was written is accepted", f.name, n, name)
				}
			}
		}
		most := math.MaxInt32
		// On 32 bits, most + 1 is negative, too.
		for name, n := range map[string]int{"negative": -1, "above the most": most + 1} {
			var out bytes.Buffer
			if _, err := f.writeTo(&out, s, "items", n, items(0)); !errors.Is(err, nocopy.ErrLimit) || out.Len() > 0 {
				t.Errorf("%s, %s: %v", f.name, name, err)
			}
		}
	}
}

// TestOneIteration: elements that can be iterated only once are no frame.
func TestOneIteration(t *testing.T) {
	s, whole := newBatch(0), newBatch(3)
	defer s.Release()
	defer whole.Release()
	for _, f := range forms {
		if !f.framed {
			continue
		}
		var out bytes.Buffer
		d := f.decoder(bytes.NewReader(f.send(whole)), "items")
		if _, err := f.writeTo(&out, s, "items", 3, d.All()); !errors.Is(err, nocopy.ErrCount) {
			t.Errorf("%s: %v", f.name, err)
		}
		for _, more := range []int{-1, 1} {
			calls := 0
			var out bytes.Buffer
			_, err := f.writeTo(&out, s, "items", 1, func(yield func(item, error) bool) {
				calls++
				e := engine.New(itemDesc)
				e.SetInt32(itemDesc.Field(0), 1)
				e.SetText(itemDesc.Field(1), strings.Repeat("a", 2+more*(calls-1)))
				yield(item(e), nil)
				e.Release()
			})
			if _, _, bad := readAll(f.decoder(&out, "items")); !errors.Is(err, nocopy.ErrCount) || bad == nil {
				t.Errorf("%s, elements that change: %v, %v", f.name, err, bad)
			}
		}
	}
}

// TestNotWritten: if s does not fit, nothing is written.
func TestNotWritten(t *testing.T) {
	has := newBatch(2)
	defer has.Release()
	lacks := newBatch(0)
	lacks.Unset(batchDesc.Field(1))
	defer lacks.Release()
	deep := engine.New(itemDesc)
	for s, i := deep, 0; i < 70; i++ {
		s.SetInt32(itemDesc.Field(0), 1)
		s = s.NewChild(itemDesc.Field(3), itemDesc, 1).StructAt(0)
	}
	for _, f := range forms {
		for _, c := range []struct {
			s     engine.Struct
			list  string
			elems iter.Seq2[item, error]
			err   string
		}{
			{has, "items", items(1), "Batch.items: the list has elements of its own"},
			{has, "inner.items", items(1), "Batch.inner.items: the list has elements of its own"},
			{lacks, "inner.items", items(1), "inner is not set"},
			{engine.Struct{}, "inner.items", items(1), "inner is not set"},
		} {
			var out bytes.Buffer
			if _, err := f.writeTo(&out, c.s, c.list, 1, c.elems); err == nil || !strings.Contains(err.Error(), c.err) || out.Len() > 0 {
				t.Errorf("%s: %v, %d bytes", f.name, err, out.Len())
			}
		}
		for name, e := range map[string]engine.Struct{"absent": {}, "nested too deeply": deep} {
			_, err := f.writeTo(io.Discard, lacks, "items", 1, func(yield func(item, error) bool) { yield(item(e), nil) })
			if err == nil {
				t.Errorf("%s: an element that is %s is written", f.name, name)
			}
		}
		for _, short := range []bool{false, true} {
			w := &failing{left: 20, short: short}
			if n, err := f.writeTo(w, lacks, "items", 1000, items(1000)); err == nil || n > 20 {
				t.Errorf("%s: a Writer that fails: %d, %v", f.name, n, err)
			}
		}
	}
	deep.Release()
}

// failing is a Writer that takes so many bytes.
type failing struct {
	left  int
	short bool
}

func (w *failing) Write(b []byte) (int, error) {
	n := min(len(b), w.left)
	if w.left -= n; n < len(b) && !w.short {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

type shape nocopy.Struct

func (shape) ThriftDesc() *nocopy.Desc { return testtypes.Shape }

type point nocopy.Struct

func (point) ThriftDesc() *nocopy.Desc { return testtypes.Point }

// TestListOfUnion: the list may be a field of a union, which has no other one.
func TestListOfUnion(t *testing.T) {
	p := engine.New(testtypes.Point)
	p.SetInt32(testtypes.Point.Field(0), 3)
	two := func(yield func(point, error) bool) {
		if yield(point(p), nil) {
			yield(point(p), nil)
		}
	}
	var out bytes.Buffer
	if _, err := nocopy.WriteElements(&out, shape{}, "outline", 2, two); err != nil {
		t.Fatal(err)
	}
	d := nocopy.NewElementDecoder[shape, point](&out, "outline")
	s, err := d.Rest()
	if got := nocopy.Struct(s).StringAs(testtypes.Shape); got != "{outline: []}" || d.Len() != 2 || err != nil {
		t.Errorf("%s, %d elements, %v", got, d.Len(), err)
	}
	other := engine.New(testtypes.Shape)
	other.SetText(testtypes.Shape.Field(2), "label")
	if _, err := nocopy.WriteElements(&out, shape(other), "outline", 2, two); err == nil || !strings.Contains(err.Error(), "another field") {
		t.Errorf("a second field of a union: %v", err)
	}
}

// TestFrameTooLarge: a struct that is too large for a frame is refused before anything is written.
func TestFrameTooLarge(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		return
	}
	e := engine.New(itemDesc)
	e.SetInt32(itemDesc.Field(0), 1)
	e.SetText(itemDesc.Field(1), strings.Repeat("a", 8<<20))
	s := newBatch(0)
	defer s.Release()
	for _, n := range []int{255, 256} {
		w := &counter{most: 2 * testmode.Of(1, n)}
		_, err := nocopy.WriteElementsFrame(w, batch(s), "items", n, func(yield func(item, error) bool) {
			for i := 0; i < n && yield(item(e), nil); i++ {
			}
		})
		if tooLarge := n == 256; errors.Is(err, nocopy.ErrLimit) != tooLarge || tooLarge && w.n > 0 {
			t.Errorf("%d elements of 8 MiB: %v, %d bytes", n, err, w.n)
		}
	}
	e.Release()
}

// counter is a Writer that fails after most calls.
type counter struct{ n, most int }

func (c *counter) Write(b []byte) (int, error) {
	if c.n++; c.n > c.most {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}
