# timer: a system call took long. Appends a record of it to the thread's ring
# (see recorder.S): with the registers that unwinding needs, and a piece of the
# stack. rcx is the time stamp, rax the result; (%rsp) returns to the stub,
# whose stack pointer is 128 lower than the caller's. Keeps all registers but
# rcx and r11. Nothing is recorded of a thread that is in a call whose waits are
# the meeting's own (QUIET, see recorder.S); but if it has waited, its CPU clock
# is read when it comes out.
#
# The copy ends where the thread's stack began, if that is not far away.
# Where the stack ends too soon the copy faults, and the profiler lets the
# thread go on behind it; what is left to copy is in the record.
# Record: kind u32, pairs u32, tsc, site, arg1, arg3, cpu seconds, cpu nanoseconds,
# then number, arg2, result, rsp, rbx, rbp, r12, r13, r14, r15, words left out, 0, the stack,
# of an even number of words.

	.set MUTED,    0x00
	.set RING,     0x08
	.set LIMIT,    0x10
	.set BUSY,     0x18
	.set LASTTSC,  0x20
	.set CPUGAP,   0x28
	.set TOP,      0x98
	.set BEGIN,    0xe0
	.set NUMBER,   0xe8
	.set GUARD,    0xc0
	.set ASK,      0xd8
	.set LONG,     0xf0
	.set ASKED,    0x138
	.set QUIET,    0x208

	.set KIND,     0x1ffffff
	.set HEAD,     56
	.set REGS,     96
	.set WORDS,    256
	.set NEAR,     16384
	.set INSIDE,   512	# bytes that frames of such calls take at most: what lies deeper is a handler's, or comes after a jump

	.text
	.p2align 4
timer:	cmpq	$0, %gs:MUTED
	jne	9f
	cmpq	$0, %gs:BUSY	# the handler of a signal that came while a record is written
	jne	9f
	cmpq	$0, %gs:BEGIN
	je	9f
	mov	%gs:QUIET, %r11d
	test	%r11d, %r11d
	jz	4f
	sub	%esp, %r11d
	cmp	$INSIDE, %r11d
	jb	6f
4:
	push	%rax
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	mov	%rdi, %r8
	mov	%rsi, %r9
	mov	%rcx, %rdx
1:	mov	%gs:RING, %rdi
	cmp	%gs:LIMIT, %rdi
	ja	80f
	movq	$1, %gs:BUSY
	movl	$KIND, (%rdi)
	mov	%rdx, 8(%rdi)
	mov	%rdx, %gs:LASTTSC
	mov	56(%rsp), %rcx
	mov	%rcx, 16(%rdi)
	mov	%r8, 24(%rdi)
	mov	%gs:BEGIN, %rcx
	mov	%rcx, 32(%rdi)
	movq	$0, %gs:BEGIN
	mov	%gs:NUMBER, %rcx
	mov	%rcx, HEAD(%rdi)
	mov	%r9, HEAD+8(%rdi)
	mov	%rax, HEAD+16(%rdi)
	lea	192(%rsp), %rcx		# 7 registers, the return address, the red zone
	mov	%rcx, HEAD+24(%rdi)
	mov	%rbx, HEAD+32(%rdi)
	mov	%rbp, HEAD+40(%rdi)
	mov	%r12, HEAD+48(%rdi)
	mov	%r13, HEAD+56(%rdi)
	mov	%r14, HEAD+64(%rdi)
	mov	%r15, HEAD+72(%rdi)
	movq	$0, HEAD+88(%rdi)
	mov	%rdi, %r10
	mov	%rcx, %rsi
	mov	$WORDS, %ecx
	mov	%gs:TOP, %rax
	sub	%rsi, %rax
	cmp	$NEAR, %rax
	jae	3f
	shr	$3, %rax
	cmp	%rcx, %rax
	cmovb	%rax, %rcx
3:	mov	%ecx, %r8d
	and	$1, %r8d
	lea	(%rcx,%r8), %r9
	shr	$1, %r9d
	add	$REGS/16, %r9d
	mov	%r9d, 4(%rdi)
	shl	$4, %r9
	lea	HEAD(%rdi,%r9), %r9	# where the record ends
	lea	HEAD+REGS(%rdi), %rdi
copy:	rep movsq
	add	%r8, %rcx
	mov	%rcx, HEAD+80(%r10)
	lea	40(%r10), %rsi
	movq	$0, (%rsi)
	movq	$0, 8(%rsi)
	btq	$62, %gs:CPUGAP		# it is not to be read: see guard.S
	jc	2f
	mov	$3, %edi		# CLOCK_THREAD_CPUTIME_ID
	mov	$228, %eax		# clock_gettime
	syscall				# overwrites rax, rcx, r11
2:	mov	%r9, %gs:RING
	movq	$0, %gs:BUSY
7:	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rax
9:	ret
6:	mov	%rcx, %r11
	sub	%gs:BEGIN, %r11
	cmp	%gs:LONG, %r11
	jbe	9b
	orl	$1, %gs:QUIET
	ret
8:	int3				# full: the profiler empties the rings and lets go
	jmp	1b
80:	testb	$2, %gs:GUARD	# see recorder.S
	jz	8b
	movq	$1, %gs:ASKED
	call	*%gs:ASK
	testb	$2, %gs:GUARD
	jz	8b
	jmp	7b
