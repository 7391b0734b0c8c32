//go:build nounsafe

package byteorder

import (
	"encoding/binary"
	"math"
)

// LoadInt8s copies bytes into numbers.
func LoadInt8s(dst []int8, src []byte) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = int8(src[i])
	}
}

// LoadInt16s sets dst from bytes, two for each number.
func LoadInt16s(dst []int16, src []byte) {
	src = src[:2*len(dst)]
	for i := range dst {
		dst[i] = int16(binary.BigEndian.Uint16(src[2*i:]))
	}
}

// LoadInt32s sets dst from bytes, four for each number.
func LoadInt32s[E ~int32](dst []E, src []byte) {
	src = src[:4*len(dst)]
	for i := range dst {
		dst[i] = E(binary.BigEndian.Uint32(src[4*i:]))
	}
}

// LoadInt64s sets dst from bytes, eight for each number.
func LoadInt64s(dst []int64, src []byte) {
	src = src[:8*len(dst)]
	for i := range dst {
		dst[i] = int64(binary.BigEndian.Uint64(src[8*i:]))
	}
}

// LoadFloat64s sets dst from bytes, eight for each number.
func LoadFloat64s(dst []float64, src []byte) {
	src = src[:8*len(dst)]
	for i := range dst {
		dst[i] = math.Float64frombits(binary.BigEndian.Uint64(src[8*i:]))
	}
}

// StoreInt8s copies numbers into bytes.
func StoreInt8s(dst []byte, src []int8) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = byte(v)
	}
}

// StoreInt16s stores the bytes of src, two for each number.
func StoreInt16s(dst []byte, src []int16) {
	dst = dst[:2*len(src)]
	for i, v := range src {
		binary.BigEndian.PutUint16(dst[2*i:], uint16(v))
	}
}

// StoreInt32s stores the bytes of src, four for each number.
func StoreInt32s[E ~int32](dst []byte, src []E) {
	dst = dst[:4*len(src)]
	for i, v := range src {
		binary.BigEndian.PutUint32(dst[4*i:], uint32(v))
	}
}

// StoreInt64s stores the bytes of src, eight for each number.
func StoreInt64s(dst []byte, src []int64) {
	dst = dst[:8*len(src)]
	for i, v := range src {
		binary.BigEndian.PutUint64(dst[8*i:], uint64(v))
	}
}

// StoreFloat64s stores the bytes of src, eight for each number.
func StoreFloat64s(dst []byte, src []float64) {
	dst = dst[:8*len(src)]
	for i, v := range src {
		binary.BigEndian.PutUint64(dst[8*i:], math.Float64bits(v))
	}
}
