//go:build !nounsafe

package byteorder

import "unsafe"

// LoadInt8s copies bytes into numbers.
func LoadInt8s(dst []int8, src []byte) { copy(memory(dst), src[:len(dst)]) }

// LoadInt16s sets dst from bytes, two for each number.
func LoadInt16s(dst []int16, src []byte) { swap16(memory(dst), src) }

// LoadInt32s sets dst from bytes, four for each number.
func LoadInt32s[E ~int32](dst []E, src []byte) { swap32(memory(dst), src) }

// LoadInt64s sets dst from bytes, eight for each number.
func LoadInt64s(dst []int64, src []byte) { swap64(memory(dst), src) }

// LoadFloat64s sets dst from bytes, eight for each number.
func LoadFloat64s(dst []float64, src []byte) { swap64(memory(dst), src) }

// StoreInt8s copies numbers into bytes.
func StoreInt8s(dst []byte, src []int8) { copy(dst[:len(src)], memory(src)) }

// StoreInt16s stores the bytes of src, two for each number.
func StoreInt16s(dst []byte, src []int16) { swap16(dst[:2*len(src)], memory(src)) }

// StoreInt32s stores the bytes of src, four for each number.
func StoreInt32s[E ~int32](dst []byte, src []E) { swap32(dst[:4*len(src)], memory(src)) }

// StoreInt64s stores the bytes of src, eight for each number.
func StoreInt64s(dst []byte, src []int64) { swap64(dst[:8*len(src)], memory(src)) }

// StoreFloat64s stores the bytes of src, eight for each number.
func StoreFloat64s(dst []byte, src []float64) { swap64(dst[:8*len(src)], memory(src)) }

// memory returns the memory of s.
func memory[E ~int8 | ~int16 | ~int32 | ~int64 | ~float64](s []E) []byte {
	var e E
	// SAFETY: SliceData points to len(s) elements of Sizeof bytes, which the result keeps alive.
	// They contain no pointers, and any bytes are valid elements. SAFETY: Sizeof is a constant.
	// SAFETY: bytes need no alignment.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(e)))
}
