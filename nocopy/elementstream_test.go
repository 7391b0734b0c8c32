package nocopy

import (
	"io"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestChangedElements: as long as a program releases elements, few are parsed together. Those
// after a released one are parsed again.
func TestChangedElements(t *testing.T) {
	item, list := schema.NewStruct("Item"), schema.NewStruct("List")
	item.Define(schema.FieldDesc{ID: 1, Name: "number", Type: schema.TypeI32})
	list.Define(schema.FieldDesc{ID: 1, Name: "items", Type: schema.ListOf(item.Type())})
	in := "\x0f\x00\x01\x0c\x00\x00\x13\x88" + strings.Repeat("\x08\x00\x01\x00\x00\x00\x07\x00", 5000) + "\x00"
	for _, release := range []bool{false, true} {
		d := newElementStream(list, item, "items", strings.NewReader(in), false, nil)
		most := 0
		for {
			s, err := d.next()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if release {
				s.Release()
			}
			most = max(most, d.most)
		}
		if few := most < 10; few != release {
			t.Errorf("released: %t, up to %d together", release, most)
		}
	}
}
