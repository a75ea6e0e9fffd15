# Where threads can be cancelled, any library call but the plainest may not come back.
	.include "fun.inc"

fun cancels
	sub $8, %rsp
	xor %eax, %eax
	call pthread_cancel@plt
	add $8, %rsp
	ret
endfun cancels

# read is a point of cancellation.
fun reads
	sub $8, %rsp
	xor %eax, %eax
	call read@plt
	add $8, %rsp
	ret
endfun reads

# Memory and strings are none.
fun copies
	sub $8, %rsp
	xor %eax, %eax
	call memcpy@plt
	call strlen@plt
	add $8, %rsp
	ret
endfun copies

# A function of the program is what it does.
fun computes
	mov %edi, %eax
	ret
endfun computes

fun calls_computes
	sub $8, %rsp
	xor %eax, %eax
	call computes
	add $8, %rsp
	ret
endfun calls_computes
