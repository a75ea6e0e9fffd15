#include "textflag.h"

// func countDown(n uint64)
TEXT ·countDown(SB), NOSPLIT, $0-8
	MOVQ	n+0(FP), AX
loop:
	DECQ	AX
	JNZ	loop
	RET

// func walk(from *node, n uint64)
TEXT ·walk(SB), NOSPLIT, $0-16
	MOVQ	from+0(FP), AX
	MOVQ	n+8(FP), CX
loop:
	MOVQ	(AX), AX	// loadAt bytes from where it begins
	DECQ	CX
	JNZ	loop
	RET

// func walkAt() uint64
TEXT ·walkAt(SB), NOSPLIT, $0-8
	MOVQ	$·walk(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
