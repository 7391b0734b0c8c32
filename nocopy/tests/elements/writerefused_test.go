package elements_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/support"
)

// TestWriteListThatCameTwice: if the list, or a struct that it is in, came twice in s, what is
// written has it once, or it is refused.
func TestWriteListThatCameTwice(t *testing.T) {
	none, with := support.Be(0), support.Be(1)+one
	for _, c := range []struct{ list, in string }{
		{"items", sender + itemsOf + with + itemsOf + none + sum + "\x00"},
		{"items", sender + itemsOf + none + itemsOf + none + sum + "\x00"},
		{"inner.items", sender + innerOf + setOf + with + "\x00" + innerOf + setOf + none + "\x00" + itemsOf + none + sum + "\x00"},
	} {
		s, err := engine.Parse(batchDesc, []byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range forms {
			var out bytes.Buffer
			if _, err := f.writeTo(&out, s, c.list, 3, items(3)); err != nil {
				continue
			}
			d, n := f.decoder(&out, c.list), 0
			for _, err := range d.All() {
				if err != nil {
					t.Errorf("%s: %v", f.name, err)
				}
				n++
			}
			if rest, err := d.Rest(); err != nil || n != 3 {
				t.Errorf("%s, %s of %x: 3 elements were written without an error; read are %d, and %v", f.name, c.list, c.in, n, err)
			} else {
				engine.Struct(rest).Release()
			}
		}
		s.Release()
	}
}

// TestWrittenWithoutIndex: what WriteElements writes is what a message gives to which the elements
// were added: without the wire index of an element that was a message. In the compact protocol it
// is without.
func TestWrittenWithoutIndex(t *testing.T) {
	with := one[:len(one)-1] + wireIndex + "\x00"
	d := nocopy.NewElementDecoder[batch, item](strings.NewReader(sender+itemsOf+support.Be(1)+with+sum+"\x00"), "items")
	e, err := d.Next()
	if err != nil {
		t.Fatal(err)
	}
	s, all := newBatch(0), newBatch(0)
	defer s.Release()
	defer all.Release()
	all.Child(batchDesc.Field(2), batchDesc).AppendView(engine.Struct(e))
	for _, f := range forms {
		var out bytes.Buffer
		f.writeTo(&out, s, "items", 1, func(yield func(item, error) bool) { yield(e, nil) })
		if want := f.send(all); !bytes.Equal(out.Bytes(), want) {
			t.Errorf("%s: %x, not %x", f.name, out.Bytes(), want)
		}
	}
}

// TestWriteOtherType: a root that was converted to another type is refused with a panic that names
// both, as by setters of lists and Clone.
func TestWriteOtherType(t *testing.T) {
	s, elem, other := newBatch(0), newItem(1), newBatch(0)
	defer s.Release()
	defer engine.Struct(elem).Release()
	defer other.Release()
	panics(t, "a batch as an item", "Batch", func() {
		nocopy.WriteElements(io.Discard, batch(s), "items", 1, func(yield func(item, error) bool) { yield(item(other), nil) })
	})
	panics(t, "an item as the batch", "Item", func() {
		nocopy.WriteElements(io.Discard, batch(elem), "items", 1, items(1))
	})
}
