//go:build !nosimd && !nounsafe

package byteorder

// vectorised says that swapVector may be called: every arm64 processor that Go runs on has NEON.
const vectorised = true

// swapVector copies n bytes, at least vectorSize and whole elements, in the order o of each 16.
// The memory at dst and src must not overlap.
//
//go:noescape
func swapVector(dst, src *byte, n int, o *order)
