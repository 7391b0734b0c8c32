//go:build !nosimd && !nounsafe

package byteorder

// vectorised reports whether swapVector may be called: the processor and the system support AVX2.
var vectorised = hasAVX2()

// swapVector copies n bytes, at least vectorSize and whole elements, in the order o of each 16.
// The memory at dst and src must not overlap.
//
//go:noescape
func swapVector(dst, src *byte, n int, o *order)

// cpuid executes the instruction CPUID.
func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)

// xgetbv executes the instruction XGETBV for register 0. Call it only if CPUID reports OSXSAVE.
func xgetbv() (eax, edx uint32)

// hasAVX2 detects AVX2 as Intel's manual prescribes (volume 1, 14.7.1): the processor must have
// it, and the system must save its registers.
func hasAVX2() bool {
	const (
		osxsave, avx = 1 << 27, 1 << 28 // leaf 1, ecx
		avx2         = 1 << 5           // leaf 7, ebx
		sse, ymm     = 1 << 1, 1 << 2   // registers that the system saves
	)
	if last, _, _, _ := cpuid(0, 0); last < 7 {
		return false
	}
	if _, _, ecx, _ := cpuid(1, 0); ecx&osxsave == 0 || ecx&avx == 0 {
		return false
	}
	if saved, _ := xgetbv(); saved&sse == 0 || saved&ymm == 0 {
		return false
	}
	_, ebx, _, _ := cpuid(7, 0)
	return ebx&avx2 != 0
}
