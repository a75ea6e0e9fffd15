#include "textflag.h"

// func countDown(n uint64)
TEXT ·countDown(SB), NOSPLIT, $0-8
	MOVQ	n+0(FP), AX
loop:
	DECQ	AX
	JNZ	loop
	RET
