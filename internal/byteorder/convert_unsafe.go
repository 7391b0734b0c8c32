//go:build !nounsafe

package byteorder

import "unsafe"

// Load sets dst from bytes, as many for each number as its type has.
func Load[E Number](dst []E, src []byte) {
	// SAFETY: see swap
	swap(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)), len(dst), len(src), unsafe.Sizeof(E(0)))
}

// Store stores the bytes of src.
func Store[E Number](dst []byte, src []E) {
	// SAFETY: see swap
	swap(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)), len(src), len(dst), unsafe.Sizeof(E(0)))
}

// swap copies n elements of the given size, 1, 2, 4 or 8 bytes, from network byte order to the
// machine's or back. It panics if there are more than room bytes of them. It takes no slices: for
// short ones, making them would take most of the time.
func swap(to, from unsafe.Pointer, n, room int, size uintptr) {
	n *= int(size)
	if n > room {
		panic("nocopy: internal error: numbers without room for their bytes")
	}
	// SAFETY: the callers have slices of n elements and of room bytes, one to copy from and one to
	// copy to. Numbers contain no pointers, and any bytes are valid ones. Bytes need no alignment.
	if vectorised && n >= vectorSize {
		swapVector((*byte)(to), (*byte)(from), n, &orders[size/2%uintptr(len(orders))])
	} else {
		swapSingly(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(from), n), size)
	}
}
