# What a library does among which the program runs is done in the middle of its calls.
#! catches pthread_barrier_wait
#! among testdata/beside.s
	.include "fun.inc"

# A function that such a library exports may hold the thread, whatever its name.
fun calls_library
	sub $8, %rsp
	xor %eax, %eax
	call of_library@plt
	add $8, %rsp
	ret
endfun calls_library

# Any other import is what its name says.
fun calls_other
	sub $8, %rsp
	xor %eax, %eax
	call strlen@plt
	add $8, %rsp
	ret
endfun calls_other

fun caught
	jmp pthread_barrier_wait@plt
endfun caught
