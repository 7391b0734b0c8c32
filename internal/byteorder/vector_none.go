//go:build ((!amd64 && !arm64) || nosimd) && !nounsafe

package byteorder

// vectorised reports whether swapVector may be called.
const vectorised = false

func swapVector(dst, src *byte, n int, o *order) { panic("byteorder: no vectors here") }
