# Before system calls that the profiler must know of, where there are threads
# that nobody traces (package threadarea, births.go). A site's stub (gate.S)
# comes here with the call's number in eax, r11 the address where the call is
# made as ever, rcx the one behind it. Flags are free; where GUARD is not 0 the
# program has no handlers of signals, so nobody comes in between.
#
# Nothing is traced here but what asks for it:
#	clone, clone3	the creator takes an area from the pool, the child points
#			its GS there: nobody stops
#	end		the child says that it has ended, and how long it ran
#	self		who is not traced asks to be, then makes the call
#	all		the profiler is to trace all others too, before the call
#	filter		likewise, and nobody is to read a CPU clock any more: which calls
#			a filter (seccomp) will allow is the program's affair
#	exec		likewise all, and the thread's stack is looked at: it is gone
#			when another program has taken this one's place
# Where GUARD has none of its two lowest bits all are traced, handlers or not, and only
# the last two are asked; nothing where it is 8: a filter may forbid asking.

	.set GUARD,    0xc0
	.set POOL,     0xc8	# the table of areas that are ready
	.set SELF,     0xd0
	.set RING,     0x08
	.set LASTTSC,  0x20
	.set TOP,      0x98
	.set STATE,    0x100	# 1: its thread is being made, 2: runs, 3: has ended
	.set TID,      0x108
	.set BORN,     0x110
	.set ENDED,    0x118
	.set CPU,      0x120
	.set PARENT,   0x130
	.set ASKED,    0x138
	# Of one thread's call, and copied for its child:
	.set MAKE,     0x140	# r11
	.set BACK,     0x148	# rcx
	.set SAVER9,   0x150
	.set SAVERDI,  0x158
	.set PLACE,    0x160	# in the pool, where the area was
	.set NUMBER,   0x168
	.set MAXARGS,  88		# of struct clone_args, which is copied to where the child's first record will stand
	.set MINARGS,  64

	.set PLACES,   192
	.set THREAD,   0x10100		# CLONE_VM, CLONE_THREAD
	.set UNTRACED, 0x800000

	.text
	.p2align 4
	jmp	any
	.p2align 4
	jmp	all
	.p2align 4
	jmp	self
	.p2align 4
	jmp	clone
	.p2align 4
	jmp	clone3
	.p2align 4
	jmp	end
	.p2align 4
	jmp	ask

# any: the call's number is only known now.
	.p2align 4
any:	cmp	$13, %eax		# rt_sigaction
	je	all
	cmp	$59, %eax		# execve
	je	all
	cmp	$322, %eax		# execveat
	je	all
	cmp	$231, %eax		# exit_group
	je	all
	cmp	$101, %eax		# ptrace
	je	all
	cmp	$157, %eax		# prctl
	je	all
	cmp	$317, %eax		# seccomp
	je	all
	cmp	$56, %eax		# clone
	je	self
	cmp	$57, %eax		# fork
	je	self
	cmp	$58, %eax		# vfork
	je	self
	cmp	$60, %eax		# exit: with whatever frames there are
	je	self
	cmp	$435, %eax		# clone3
	je	self
	jmp	*%r11

all:	testb	$8, %gs:GUARD
	jnz	3f
	cmp	$157, %eax
	jne	1f
	cmp	$22, %edi		# PR_SET_SECCOMP
	jne	3f
	jmp	filter
1:	cmp	$317, %eax
	je	filter
	cmp	$59, %eax
	je	exec
	cmp	$322, %eax
	je	exec
	testb	$3, %gs:GUARD
	jz	3f
	cmp	$13, %eax
	jne	1f
	test	%rsi, %rsi		# it only wants to know
	jz	3f
1:	movq	$2, %gs:ASKED
	jmp	2f
exec:	movq	$4, %gs:ASKED
	jmp	2f
filter:	movq	$3, %gs:ASKED
2:	lea	-128(%rsp), %rsp
	call	ask
	lea	128(%rsp), %rsp
3:	jmp	*%r11

self:	testb	$2, %gs:GUARD
	jz	3b
	movq	$1, %gs:ASKED
	jmp	2b

# clone: rdi has the flags. clone3: what they are in lies at rdi, of rsi bytes.
	.p2align 4
clone:	testb	$3, %gs:GUARD
	jz	3b
	mov	%r11, %gs:MAKE
	mov	%rcx, %gs:BACK
	mov	%rax, %gs:NUMBER
	mov	%edi, %ecx
	jmp	1f
clone3:	testb	$3, %gs:GUARD
	jz	3b
	mov	%r11, %gs:MAKE
	mov	%rcx, %gs:BACK
	mov	%rax, %gs:NUMBER
	lea	-MINARGS(%rsi), %rcx
	cmp	$MAXARGS-MINARGS, %rcx
	ja	none
	test	$7, %cl
	jnz	none
	mov	(%rdi), %ecx
1:	and	$THREAD|UNTRACED, %ecx
	cmp	$THREAD, %ecx
	jne	none
	mov	%gs:POOL, %r11
	mov	$PLACES, %ecx
2:	cmpq	$0, (%r11)
	je	3f
	xor	%eax, %eax
	xchg	%rax, (%r11)
	test	%rax, %rax
	jnz	4f
3:	add	$8, %r11
	dec	%ecx
	jnz	2b
none:	mov	%gs:NUMBER, %rax
	mov	%gs:MAKE, %r11
	mov	%gs:BACK, %rcx
	jmp	self			# the profiler sees this birth, and what else there is
4:	mov	%rdi, %gs:SAVERDI
	mov	%rdi, SAVERDI(%rax)
	mov	%r9, %gs:SAVER9
	mov	%r9, SAVER9(%rax)
	mov	%gs:BACK, %r9
	mov	%r9, BACK(%rax)
	mov	%gs:SELF, %r9
	mov	%r9, PARENT(%rax)
	mov	%r11, PLACE(%rax)
	mov	%rax, %r9		# the area, for the child
	mov	%rdx, %r11
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%r11, %rdx
	mov	%rax, BORN(%r9)
	mov	%rax, LASTTSC(%r9)
	movq	$1, STATE(%r9)
	mov	%gs:NUMBER, %rax
	cmp	$56, %eax
	je	6f
	mov	RING(%r9), %r11
	mov	%rsi, %rcx
5:	mov	-8(%rdi,%rcx), %rax
	mov	%rax, -8(%r11,%rcx)
	sub	$8, %rcx
	jnz	5b
	mov	%r11, %rdi
	orl	$UNTRACED, (%rdi)
	mov	%gs:NUMBER, %rax
	jmp	7f
6:	or	$UNTRACED, %edi
7:	syscall
	test	%rax, %rax
	jz	8f
	jns	1f
	movq	$0, STATE(%r9)		# it is ready as before
	mov	PLACE(%r9), %rcx
	xchg	%r9, (%rcx)
1:	mov	%gs:SAVER9, %r9
	mov	%gs:SAVERDI, %rdi
	jmp	*%gs:BACK
8:	wrgsbase %r9			# the child
	mov	$186, %eax		# gettid
	syscall
	mov	%rax, %gs:TID
	mov	%rsp, %gs:TOP
	movq	$2, %gs:STATE
	xor	%eax, %eax
	mov	%gs:SAVER9, %r9
	mov	%gs:SAVERDI, %rdi
	jmp	*%gs:BACK

# end: of a thread, by the function that threads end in: it has no frames of
# the program's, nor of anyone's. Nothing but the exit code is needed any more.
	.p2align 4
end:	testb	$2, %gs:GUARD
	jz	1f
	mov	%rdi, %r8
	rdgsbase %rsi
	add	$CPU, %rsi
	mov	$3, %edi		# CLOCK_THREAD_CPUTIME_ID
	mov	$228, %eax		# clock_gettime
	syscall
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, %gs:ENDED
	mov	%r8, %rdi
	mov	$60, %eax		# exit
	movq	$3, %gs:STATE
	syscall
	ud2
1:	jmp	*%r11

# ask: ASKED says what for. Who is not traced has to be, or else its SIGSTOP
# would be seen by all. Keeps all registers.
	.p2align 4
ask:	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	testb	$2, %gs:GUARD
	jz	1f
	mov	$101, %eax		# ptrace
	xor	%edi, %edi		# PTRACE_TRACEME
	xor	%esi, %esi
	xor	%edx, %edx
	xor	%r10d, %r10d
	syscall
	test	%rax, %rax
	jnz	3f
1:	mov	$39, %eax		# getpid
	syscall
	mov	%eax, %edi
	mov	$186, %eax		# gettid
	syscall
	mov	%eax, %esi
	mov	$19, %edx		# SIGSTOP
	mov	$234, %eax		# tgkill
	syscall
asked:
2:	cmpl	$0, %gs:ASKED
	je	4f
	rdgsbase %rdi
	add	$ASKED, %rdi
	xor	%esi, %esi		# FUTEX_WAIT
	mov	%gs:ASKED, %edx
	xor	%r10d, %r10d
	mov	$202, %eax		# futex
	syscall
	jmp	2b
3:	movq	$0, %gs:ASKED		# it is not allowed
answered:
4:	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret
