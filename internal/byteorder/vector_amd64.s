//go:build !nosimd && !nounsafe

#include "textflag.h"

// func swapVector(dst, src *byte, n int, o *order)
//
// DI and SI advance through dst and src, CX is what is left. Loads and stores need no alignment.
TEXT ·swapVector(SB), NOSPLIT, $0-32
	MOVQ    dst+0(FP), DI
	MOVQ    src+8(FP), SI
	MOVQ    n+16(FP), CX
	MOVQ    o+24(FP), AX
	VMOVDQU (AX), Y0

	// R8 and R9 are where the last vector begins in src and dst. It is done at the end, whatever n is, and may
	// overlap what was done before: the same elements get the same values again.
	LEAQ -32(SI)(CX*1), R8
	LEAQ -32(DI)(CX*1), R9

	// Four vectors at a time.
	SUBQ $128, CX
	JLT  few

four:
	VMOVDQU (SI), Y1
	VMOVDQU 32(SI), Y2
	VMOVDQU 64(SI), Y3
	VMOVDQU 96(SI), Y4
	VPSHUFB Y0, Y1, Y1
	VPSHUFB Y0, Y2, Y2
	VPSHUFB Y0, Y3, Y3
	VPSHUFB Y0, Y4, Y4
	VMOVDQU Y1, (DI)
	VMOVDQU Y2, 32(DI)
	VMOVDQU Y3, 64(DI)
	VMOVDQU Y4, 96(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $128, CX
	JGE     four

few:
	// CX is what is left less 128. One vector at a time, as long as another one's bytes follow it.
	ADDQ $96, CX
	JLE  last

one:
	VMOVDQU (SI), Y1
	VPSHUFB Y0, Y1, Y1
	VMOVDQU Y1, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $32, CX
	JGT     one

last:
	VMOVDQU (R8), Y1
	VPSHUFB Y0, Y1, Y1
	VMOVDQU Y1, (R9)

	// Code that uses SSE registers is slow while the upper halves are in use.
	VZEROUPPER
	RET

// func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL subleaf+4(FP), CX
	CPUID
	MOVL AX, eax+8(FP)
	MOVL BX, ebx+12(FP)
	MOVL CX, ecx+16(FP)
	MOVL DX, edx+20(FP)
	RET

// func xgetbv() (eax, edx uint32)
TEXT ·xgetbv(SB), NOSPLIT, $0-8
	XORL CX, CX
	XGETBV
	MOVL AX, eax+0(FP)
	MOVL DX, edx+4(FP)
	RET
