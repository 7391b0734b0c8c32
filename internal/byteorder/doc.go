// Package byteorder converts between slices of numbers and their bytes in network byte order, as
// fast as the processor copies memory: with AVX2 on amd64 and NEON on arm64, elsewhere one number
// at a time.
//
// Load reads bytes into a slice, Store writes a slice as bytes. They convert all elements of the
// slice, and panic if there are fewer bytes than that takes. The bytes need no alignment. They
// must not overlap the slice. The functions keep and allocate nothing.
//
// The files from the top down:
//
//	convert_unsafe.go   Load and Store, and which way to swap the bytes
//	convert_safe.go     the same by loops over elements (tag nounsafe)
//	swap.go             swapping the bytes of one number after the other
//	vector_*.go, .s     in assembly, 32 bytes at a time (not with the tag nosimd)
package byteorder

// Number is a type whose bytes can be converted.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~float64
}
