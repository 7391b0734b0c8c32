//go:build nounsafe

package byteorder

import (
	"math"
	"reflect"
)

// Load sets dst from bytes, as many for each number as its type has.
func Load[E Number](dst []E, src []byte) {
	t := reflect.TypeFor[E]()
	size := int(t.Size())
	src = src[:size*len(dst)]
	for i := range dst {
		v := uint64(0)
		for _, b := range src[size*i:][:size] {
			v = v<<8 | uint64(b)
		}
		if dst[i] = E(v); t.Kind() == reflect.Float64 {
			dst[i] = E(math.Float64frombits(v))
		}
	}
}

// Store stores the bytes of src.
func Store[E Number](dst []byte, src []E) {
	t := reflect.TypeFor[E]()
	size := int(t.Size())
	dst = dst[:size*len(src)]
	for i, e := range src {
		v := uint64(e)
		if t.Kind() == reflect.Float64 {
			v = math.Float64bits(float64(e))
		}
		for k := size - 1; k >= 0; k-- {
			dst[size*i+k] = byte(v)
			v >>= 8
		}
	}
}
