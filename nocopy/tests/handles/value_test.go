package handles_test

import (
	"math"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
)

// TestValueOfAnotherType: methods of a Value with another type, or with too few bytes, return
// zeros.
func TestValueOfAnotherType(t *testing.T) {
	for wire := range nocopy.WireType(20) {
		for n := range 20 {
			v := impl.ValueOfWire(wire, []byte(strings.Repeat("\x01", n)))
			v.Bool()
			v.Int8()
			is := func(want nocopy.WireType, size int) bool { return wire == want && n >= size }
			if v.Int16() != 0 && !is(nocopy.WireI16, 2) || v.Int32() != 0 && !is(nocopy.WireI32, 4) || v.Int64() != 0 && !is(nocopy.WireI64, 8) ||
				math.Float64bits(v.Float64()) != 0 && !is(nocopy.WireDouble, 8) || v.UUID() != (nocopy.UUID{}) && !is(nocopy.WireUUID, 16) ||
				v.Text() != "" && !is(nocopy.WireString, 4) || len(v.Raw()) != n {
				t.Errorf("%v of %d bytes is not zero", wire, n)
			}
			if v.Len() != 0 && !is(nocopy.WireList, 5) && !is(nocopy.WireSet, 5) && !is(nocopy.WireMap, 6) {
				t.Errorf("%v of %d bytes has %d elements", wire, n, v.Len())
			}
		}
	}
}
