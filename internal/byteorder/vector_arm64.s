//go:build !nosimd && !nounsafe

#include "textflag.h"

// func swapVector(dst, src *byte, n int, o *order)
//
// R0 and R1 advance through dst and src, R2 is what is left. Loads and stores need no alignment. TBL with an order
// costs what REV16, REV32 and REV64 cost, and makes one loop of three.
TEXT ·swapVector(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	MOVD o+24(FP), R3
	VLD1 (R3), [V0.B16]

	// R4 and R5 are where the last 32 bytes begin in src and dst. They are done at the end, whatever n is, and may
	// overlap what was done before: the same elements get the same values again.
	ADD R2, R1, R4
	SUB $32, R4
	ADD R2, R0, R5
	SUB $32, R5

	// 64 bytes at a time.
	SUBS $64, R2
	BLT  few

four:
	VLD1.P 64(R1), [V1.B16, V2.B16, V3.B16, V4.B16]
	VTBL   V0.B16, [V1.B16], V1.B16
	VTBL   V0.B16, [V2.B16], V2.B16
	VTBL   V0.B16, [V3.B16], V3.B16
	VTBL   V0.B16, [V4.B16], V4.B16
	VST1.P [V1.B16, V2.B16, V3.B16, V4.B16], 64(R0)
	SUBS   $64, R2
	BGE    four

few:
	// R2 is what is left less 64. If that is more than the last 32 bytes, 32 more go first.
	CMP $-32, R2
	BLE last
	VLD1 (R1), [V1.B16, V2.B16]
	VTBL V0.B16, [V1.B16], V1.B16
	VTBL V0.B16, [V2.B16], V2.B16
	VST1 [V1.B16, V2.B16], (R0)

last:
	VLD1 (R4), [V1.B16, V2.B16]
	VTBL V0.B16, [V1.B16], V1.B16
	VTBL V0.B16, [V2.B16], V2.B16
	VST1 [V1.B16, V2.B16], (R5)
	RET
