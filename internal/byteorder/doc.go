// Package byteorder converts between slices of numbers and their bytes in network byte order, as
// fast as the processor copies memory: with AVX2 on amd64, NEON on arm64, plain Go elsewhere, and
// plain copying where the machine's order is the network's.
//
// Load functions read bytes into a slice, Store functions write a slice as bytes. They convert all
// elements of the slice, and panic if there are fewer bytes than that takes. The bytes need no
// alignment. They must not overlap the slice. The functions keep and allocate nothing.
//
// The files from the top down:
//
//	convert_unsafe.go   Load and Store: a slice seen as its bytes, which are then swapped
//	convert_safe.go     the same by loops over elements (tag nounsafe)
//	swap.go             swapping bytes, and which way to do it
//	portable.go         in Go, eight bytes at a time
//	vector_*.go, .s     in assembly, 32 bytes at a time (not with the tag nosimd)
package byteorder
