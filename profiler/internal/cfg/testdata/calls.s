# What a call does to its block: nothing, unless it may not come back.
#! catches pthread_barrier_wait held
	.include "fun.inc"

# A known callee that returns does not end a block …
fun calls_known
	push %rbx
	mov %edi, %ebx
	lea 1(%rdi), %edi
	call returns
	pop %rbx
	ret
endfun calls_known

# … but one within five bytes of the block's start is a block of its own, since no springboard fits before it.
fun calls_early
	push %rbx
	call returns
	pop %rbx
	ret
endfun calls_early

fun returns
	mov $1, %eax
	ret
endfun returns

# Nothing comes behind a library function that never returns.
fun calls_exit
	sub $8, %rsp
	test %edi, %edi
	jne calls_exit_now
	add $8, %rsp
	ret
calls_exit_now:
	mov $1, %edi
	call exit@plt
	.byte 0x06
endfun calls_exit

# Nor behind a function that does not return because what it calls does not …
fun never
	sub $8, %rsp
	call calls_abort
	.byte 0x06
endfun never

# … which is learned by decoding, in whatever order they stand.
fun calls_abort
	sub $8, %rsp
	call abort@plt
	.byte 0x06
endfun calls_abort

# A call at the very end cannot come back.
fun call_at_end
	sub $8, %rsp
	call unknown@plt
endfun call_at_end

# An import through its slot.
fun through_slot
	sub $8, %rsp
	xor %eax, %eax
	call *sqrt@GOTPCREL(%rip)
	add $8, %rsp
	ret
endfun through_slot

# A pointer may lead to what is caught in a barrier.
fun through_pointer
	sub $8, %rsp
	xor %eax, %eax
	call *%rdi
	add $8, %rsp
	ret
endfun through_pointer

# A function that may hold the thread ends the block, and has an edge for whom it caught.
fun waits_itself
	sub $8, %rsp
	xor %eax, %eax
	call pthread_barrier_wait@plt
	add $8, %rsp
	ret
endfun waits_itself

# Whoever calls such a function may be caught too.
fun waits_below
	sub $8, %rsp
	xor %eax, %eax
	call waits_itself
	add $8, %rsp
	ret
endfun waits_below

# A function of the program may have such a name itself.
fun held
	xor %eax, %eax
	ret
endfun held

fun calls_held
	sub $8, %rsp
	xor %eax, %eax
	call held
	add $8, %rsp
	ret
endfun calls_held

# A tail call reaches its target like a call.
fun tail_waits
	mov %rsi, %rdi
	jmp waits_itself
endfun tail_waits

# A tail call of an import that may hold the thread.
fun tail_import
	jmp pthread_barrier_wait@plt
endfun tail_import

# A tail call of one that only computes.
fun tail_memcpy
	jmp memcpy@plt
endfun tail_memcpy

# What sorts calls back, and may be caught there.
fun sorts
	sub $8, %rsp
	xor %eax, %eax
	call qsort@plt
	add $8, %rsp
	ret
endfun sorts

# setjmp returns twice: the way on is uncountable, and comes a second time from START.
fun sets_jump
	sub $8, %rsp
	xor %eax, %eax
	call _setjmp@plt
	test %eax, %eax
	jne sets_jump_again
	add $8, %rsp
	ret
sets_jump_again:
	mov $1, %eax
	add $8, %rsp
	ret
endfun sets_jump

# A call into the middle of another function goes to code that nobody looked at …
fun calls_middle
	sub $8, %rsp
	call called_inside
	add $8, %rsp
	ret
endfun calls_middle

# … and that function stays where it is.
fun called_middle
	xor %eax, %eax
called_inside:
	inc %eax
	ret
endfun called_middle

# A call into its own middle, as for a position: skipped.
fun calls_itself
	call calls_itself_here
calls_itself_here:
	pop %rax
	ret
endfun calls_itself

# Recursion through the entry is an ordinary call.
fun recursive
	push %rbx
	mov %edi, %ebx
	dec %edi
	je recursive_end
	xor %eax, %eax
	call recursive
recursive_end:
	pop %rbx
	ret
endfun recursive
