package elements_test

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// TestLoopEndsWithItsStruct: a loop over the elements of a struct does not go on with those of the
// next struct if the body calls Rest.
func TestLoopEndsWithItsStruct(t *testing.T) {
	whole := newBatch(6)
	defer whole.Release()
	d := forms[0].decoder(bytes.NewReader(bytes.Repeat(forms[0].send(whole), 3)), "items")
	n := 0
	for e, err := range d.All() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; number(e) == 2 {
			rest, err := d.Rest()
			if err != nil {
				t.Fatal(err)
			}
			engine.Struct(rest).Release()
		}
	}
	if n != 3 {
		t.Errorf("one loop gave %d elements, of 3 structs", n)
	}
}
