package nocopy

import "testing"

// TestValueOfAnotherType: what reads a Value whose type was changed gets zeros.
func TestValueOfAnotherType(t *testing.T) {
	for wire := range WireType(20) {
		for _, b := range [][]byte{nil, {1}, {1, 2, 3}} {
			v := Value{wire, b}
			v.Bool()
			if v.Int16() != 0 && len(b) < 2 || v.Int32() != 0 || v.Int64() != 0 || v.Float64() != 0 || v.UUID() != (UUID{}) ||
				v.Text() != "" || v.Len() != 0 {
				t.Errorf("%v of %d bytes is not zero", wire, len(b))
			}
			v.Int8()
		}
	}
}
