//go:build !nosimd && !nounsafe

package byteorder

// vectorised reports whether swapVector may be called. It may: every arm64 processor that Go
// supports has NEON.
const vectorised = true

// swapVector copies n bytes, at least vectorSize and whole elements, in the order o of each 16.
// The memory at dst and src must not overlap.
//
//go:noescape
func swapVector(dst, src *byte, n int, o *order)
