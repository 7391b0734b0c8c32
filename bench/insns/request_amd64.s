#include "textflag.h"

// func request(code uint64, arg *byte)
// The sequence by which a program talks to valgrind, with AX pointing to the code and 5 arguments.
// Without valgrind it does nothing.
TEXT ·request(SB), NOSPLIT, $48-16
	MOVQ code+0(FP), AX
	MOVQ AX, 0(SP)
	MOVQ arg+8(FP), AX
	MOVQ AX, 8(SP)
	MOVQ SP, AX
	XORL DX, DX
	ROLQ $3, DI
	ROLQ $13, DI
	ROLQ $61, DI
	ROLQ $51, DI
	XCHGQ BX, BX
	RET
