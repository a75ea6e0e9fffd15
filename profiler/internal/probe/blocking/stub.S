# A stub times one system call: the instructions that were moved to make room
# for the jump that leads here stand before it, in front of STUB. rcx and r11
# are free, for the kernel overwrites them, and so are the flags. The stack is
# touched below the red zone only.

	.set BEGIN,    0xe0	# of the call: time stamp
	.set NUMBER,   0xe8
	.set LONG,     0xf0	# ticks from which a call has blocked

	.set FUTEX,    202

	.text
	mov	%rax, %r11
	mov	%rdx, %rcx
	rdtsc
	mov	%eax, %gs:BEGIN
	mov	%edx, %gs:BEGIN+4
	mov	%r11, %rax
	mov	%rcx, %rdx
	mov	%rax, %gs:NUMBER
	syscall
after:	mov	%rax, %r11
	mov	%rdx, %rcx
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rcx, %rdx
	mov	%rax, %rcx
	sub	%gs:BEGIN, %rax
	cmp	%gs:LONG, %rax
	mov	%r11, %rax
	ja	slow
	cmpl	$FUTEX, %gs:NUMBER
	je	wake
	.byte	0xe9		# jmp behind the original
back:	.long	0
wake:	test	%eax, %eax	# of a call that was short: more than 0 were woken
	jle	back-1
slow:	lea	-128(%rsp), %rsp
	.byte	0xe8		# call timer; rcx is the time stamp
timer:	.long	0
	lea	128(%rsp), %rsp
	jmp	back-1
