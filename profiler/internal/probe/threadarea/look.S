# Virtual cores (package virtual): what a thread does now and then at places
# that it comes to again and again: ways back of loops, entries of functions. It
# says how many instructions it has executed, and waits if that is too far
# ahead of the others. Position-independent, as recorder.S; the table that all
# threads share lies where their area says.
#
# How far the thread is, is a sum: each counter is worth a fixed number of
# instructions, since counts are linear in counters (package solve). Where a
# handler has interrupted a loop that a register counts for, the sum is
# nonsense, and mostly far off: then nothing is said.
#
# It keeps every register and assumes the flags dead.
#
# What a goroutine counts in is its own, and so are BASE and OWN: the clock is that of
# the thread that runs it (switch.S in package goroutine), which says it where it
# leaves the goroutine, and may be held where it goes on with one. A goroutine may be
# left, and gone on with, in a loop that a register counts for: what is not counted
# yet is PENDING then, until it looks elsewhere.

	.set COUNTERS, 0x30
	.set PENDING,  0x78
	.set LIVE,     0xa0
	.set NLIVE,    0xa8
	.set FUEL,     0x140	# passes until the next look, 32 bits
	.set GIVEN,    0x148	# how many it was to be, likewise
	.set BASE,     0x150	# virtual time less own instructions
	.set OWN,      0x158	# instructions when it looked last
	.set ENTRY,    0x160	# of the table: the thread's own
	.set TABLE,    0x168
	.set WORTHS,   0x170	# by counter: factor, and how far it is shifted right before

	.set PAUSED,   0x178	# 32 bits: it has said that it waits, by pause or sched_yield
	.set IDLE,     0x17c	# 32 bits: it has done no work before its last look
	.set LASTASK,  0x180	# instructions when it asked the machine to look last
	.set LOCKS,    0x188	# 32 bits: of the library's, how many it holds
	.set OWES,     0x18c	# 32 bits: it is too far ahead, and waits where it takes something; |2: others may wake by what it did
	.set HERE,     0x190	# 32 bits: it is about to take what others may want as well; 2: it only says its clock; 3: as 1, in a goroutine that it goes on with
	.set SEEN,     0x194	# the processor's time when it looked last, the lower half

	.set ALONE,    0x128	# 32 bits: no other thread has a clock

	.set BOUND,    0	# of the table: virtual time up to which threads may go on
	.set USED,     8	# entries
	.set QUANTUM,  16
	.set ASKED,    24	# 32 bits: somebody waits for the machine to look
	.set FREE,     28	# 32 bits: nobody is held
	.set ENTRIES,  64
	.set CLOCK,    0	# of an entry: virtual time
	.set HELD,     8	# 32 bits: the thread waits, 1: for the bound; 2: for the machine to look, before which nobody lets it go
	.set ACTIVE,   12	# 32 bits: 1 if the others wait for it; 0: it sleeps; 2: it spins, which is no work
	.set LOOKS,    16
	.set AWAY,     24	# time in code that says nothing, by the processor's clock
	.set UNTIL,    32	# held: how high the bound is to be
	.set SLEPT,    40	# how far the clock was put forward since the last look: what the thread has done since comes on top
	.set WOKE,     48	# how far it was when others may last have woken by what it did; 0: they have not since the machine looked
	.set RESTS,    56	# 32 bits: it waits in a runtime that may spin: if it does, nobody waits for it
	.set EACH,     64

	.set RECENTLY, 50000	# cycles, about a quarter of a quantum
	.set MOST,     65536	# passes between two looks
	.set APART,    5	# who takes nothing may be as many quanta ahead, its logarithm
	.set FAR,      36	# bits of instructions since the last look, at most

	.include "live.inc"

# forward: the thread's virtual time, in %r8, is %rax at least.
	.macro	forward
	cmp	%r8, %rax
	jle	99f
	mov	%rax, %r8
	sub	%r11, %rax
	mov	%rax, %gs:BASE
99:
	.endm

# now: it is the time of the last one who works at least.
	.macro	now
	mov	BOUND(%rsi), %rax
	sub	QUANTUM(%rsi), %rax
	forward
	.endm

	.text
	.p2align 4

# takes: called where the thread is about to take something. Passes do not say how
# much it has done since it looked: a piece of work is one, and so is a look at a
# queue that has none.
takes:
	cmpl	$0, %gs:ALONE
	jne	9f
	push	%rax
	push	%rdx
	rdtsc
	sub	%gs:SEEN, %eax
	cmp	$RECENTLY, %eax
	pop	%rdx
	pop	%rax
	jae	1f
	cmpl	$0, %gs:OWES
	jne	1f
	cmpl	$TOLD, %gs:FUEL		# others may have woken by what it has just done: when is known only before it goes on
	jle	1f
9:	ret
1:	movl	$1, %gs:HERE
	jmp	look
	.p2align 4
says:	movl	$2, %gs:HERE
	jmp	look
	.p2align 4
goes:	movl	$3, %gs:HERE
	.p2align 4
look:
	push	%rax
	push	%rcx
	push	%rdx
	push	%rbx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	cmpq	$0, %gs:TABLE
	je	nobody
	cmpl	$0, %gs:ALONE
	jne	alone
	xor	%eax, %eax
	xchg	%eax, %gs:HERE
	push	%rax
	mov	%gs:COUNTERS, %rsi
	mov	%gs:WORTHS, %rdi
	mov	%gs:LIVE, %rbx
	xor	%r11d, %r11d
	xor	%r10d, %r10d
	jmp	4f
1:	mov	(%rbx,%r10,8), %rdx
	inc	%r10
	test	%rdx, %rdx
	jz	4f
2:	eight	%rdx, %r10
3:	mov	(%rsi,%r8,8), %rax
	test	%rax, %rax
	jz	5f
	mov	%r8, %r9
	shl	$4, %r9
	mov	8(%rdi,%r9), %rcx
	sar	%cl, %rax
	imul	(%rdi,%r9), %rax
	add	%rax, %r11
5:	inc	%r8
	test	$7, %r8b
	jnz	3b
	test	%rdx, %rdx
	jnz	2b
4:	cmp	%gs:NLIVE, %r10
	jb	1b
	cmpl	$2, (%rsp)
	jae	1f
	movq	$0, %gs:PENDING
1:	add	%gs:PENDING, %r11
	rdtsc
	mov	%eax, %gs:SEEN

	mov	%gs:TABLE, %rsi
	mov	%gs:ENTRY, %rdi
	mov	%r11, %rcx
	sub	%gs:OWN, %rcx
	mov	%rcx, %rax
	shr	$FAR, %rax
	jnz	on
	mov	%r11, %gs:OWN
	mov	%rcx, %rbx

	# The next look is half the quantum away, if passes cost what they did.
	cmpl	$2, (%rsp)
	je	8f
	mov	QUANTUM(%rsi), %rax
	shr	%rax
	mov	%gs:GIVEN, %r8d
	cmpl	$-1, %gs:FUEL
	je	6f
	jg	7f
	shr	$1, %r8d		# it was called before its time, who knows by how much
	jmp	7f
6:	mul	%r8
	inc	%rcx
	div	%rcx
	add	%r8, %r8		# and at most twice as many
	cmp	%r8, %rax
	cmovb	%rax, %r8
7:	mov	$MOST, %eax
	cmp	%rax, %r8
	cmova	%rax, %r8
	test	%r8, %r8
	setz	%al
	movzbl	%al, %eax
	or	%rax, %r8
	mov	%r8d, %gs:GIVEN
8:
	# Time away counts where it was in code without counters; else they count.
	xor	%eax, %eax
	xchg	%rax, AWAY(%rdi)
	lea	(%rcx,%rcx), %r8
	cmp	%r8, %rax
	jle	1f
	sub	%rcx, %rax
	add	%rax, %gs:BASE
1:	xor	%eax, %eax
	xchg	%rax, SLEPT(%rdi)
	add	%rax, %gs:BASE
	mov	%r11, %r8
	add	%gs:BASE, %r8
	mov	CLOCK(%rdi), %rax	# it may have been put forward
	forward
	cmpl	$0, (%rsp)		# who looks where it calls or takes something is not idle for that,
	jne	1f
	cmpl	$-1, %gs:FUEL		# nor who was told to: it may have had no processor since it looked last
	jne	1f
	xor	%eax, %eax
	xchg	%eax, %gs:PAUSED
	cmp	$1, %eax		# then what it has executed is no work either
	sbb	%rax, %rax
	and	%rax, %rbx
	mov	ACTIVE(%rdi), %eax
	jnz	2f
	xor	%ebx, %ebx		# once may be what it has just left; so it looks again at once
	mov	%ebx, %gs:GIVEN
	inc	%ebx
	xchg	%ebx, %gs:IDLE
	and	%ebx, %eax
	jz	3f
	movl	$2, ACTIVE(%rdi)
	jmp	3f
1:	cmpl	$0, %gs:PAUSED		# but if it has done a piece of work until here it was none before
	jne	3f
	mov	QUANTUM(%rsi), %rax
	shr	$5, %rax
	cmp	%rax, %rbx
	jl	3f
	mov	ACTIVE(%rdi), %eax
2:	movl	$0, %gs:IDLE
	cmp	$2, %eax		# what it has spun for has come
	jne	3f
	movl	$1, ACTIVE(%rdi)
	now
3:	mov	%r8, CLOCK(%rdi)
	incq	LOOKS(%rdi)
	cmpl	$2, (%rsp)
	je	said
	xor	%ecx, %ecx
	xchg	%ecx, %gs:OWES
	and	$2, %ecx
	cmpl	$TOLD, %gs:FUEL
	jg	1f
	mov	$2, %ecx
	mov	%r8, WOKE(%rdi)
1:	cmpl	$0, %gs:LOCKS
	jle	3f
	mov	%ecx, %gs:OWES		# who holds a lock is not held: others would wait for both
	cmpl	$0, ACTIVE(%rdi)
	je	6f
	jmp	5f
3:	movl	$0, %gs:LOCKS
	cmpl	$0, ACTIVE(%rdi)
	je	4f
	test	%ecx, %ecx
	jz	5f
4:	mov	QUANTUM(%rsi), %rax	# to ask has its price: not more often than this
	shr	$5, %rax
	mov	%r11, %rdx
	sub	%gs:LASTASK, %rdx
	cmp	%rax, %rdx
	jae	ask
	mov	%ecx, %gs:OWES
	cmpl	$0, ACTIVE(%rdi)
	jne	5f
6:	movl	$1, ACTIVE(%rdi)
	now
	mov	%r8, CLOCK(%rdi)
5:
	# Who is last?
	mov	USED(%rsi), %rcx
	lea	ENTRIES(%rsi), %rdx
	mov	$0x7fffffffffffffff, %rax
2:	cmpl	$1, ACTIVE(%rdx)
	jne	3f
	mov	CLOCK(%rdx), %r9
	add	AWAY(%rdx), %r9
	cmp	%r9, %rax
	cmovg	%r9, %rax
3:	add	$EACH, %rdx
	dec	%rcx
	jnz	2b
	add	QUANTUM(%rsi), %rax
	jo	7f			# all sleep or spin
	mov	%rax, %r9
	mov	BOUND(%rsi), %rax
4:	cmp	%rax, %r9
	jle	7f
	lock cmpxchg %r9, BOUND(%rsi)
	jne	4b

	# The bound is higher now: those below it go on.
	mov	USED(%rsi), %rbx
	lea	ENTRIES(%rsi), %rdx
5:	cmpl	$1, HELD(%rdx)
	jne	6f
	cmp	%r9, UNTIL(%rdx)
	jg	6f
	xor	%ecx, %ecx
	mov	$1, %eax
	lock cmpxchg %ecx, HELD(%rdx)
	jne	6f
	push	%rsi
	push	%rdi
	push	%rdx
	lea	HELD(%rdx), %rdi
	mov	$1, %esi		# FUTEX_WAKE: the profiler waits and wakes here too, so not private
	mov	%esi, %edx
	mov	$202, %eax
	syscall
	pop	%rdx
	pop	%rdi
	pop	%rsi
6:	add	$EACH, %rdx
	dec	%rbx
	jnz	5b

7:	cmpl	$0, FREE(%rsi)
	jne	on
	cmp	BOUND(%rsi), %r8
	jle	on
	cmpl	$0, (%rsp)
	je	1f
	cmpl	$0, %gs:LOCKS
	jle	2f
1:	orl	$1, %gs:OWES
	mov	QUANTUM(%rsi), %rax
	shl	$APART, %rax
	sub	%rax, %r8
	cmp	BOUND(%rsi), %r8
	jle	on
	movl	$0, %gs:LOCKS		# it has unlocked elsewhere
2:	mov	%r8, UNTIL(%rdi)
	mov	$1, %eax
	mov	%eax, ACTIVE(%rdi)	# likewise: with nobody else it is the last one
	xchg	%eax, HELD(%rdi)
	cmp	BOUND(%rsi), %r8	# it may have risen, and whoever raised it has not seen this
	jg	hold
	movl	$0, HELD(%rdi)
	jmp	on

	# It was asleep, or has met others who were: they may be awake now and not on a
	# processor yet. The machine looks, for it can see that.
ask:	mov	%r11, %gs:LASTASK
	mov	%r8, UNTIL(%rdi)
	cmpl	$0, ACTIVE(%rdi)
	je	1f
	movl	$1, ACTIVE(%rdi)	# who waits here does not spin
1:	movl	$2, HELD(%rdi)
	mov	$1, %eax
	xchg	%eax, ASKED(%rsi)
	test	%eax, %eax
	jnz	hold
	mov	%rdi, %rbx
	lea	ASKED(%rsi), %rdi
	mov	$1, %esi		# FUTEX_WAKE
	mov	%esi, %edx
	mov	$202, %eax
	syscall
	mov	%rbx, %rdi
hold:	mov	%rdi, %rbx
0:	mov	HELD(%rbx), %edx
	test	%edx, %edx
	jz	on
	lea	HELD(%rbx), %rdi
	xor	%esi, %esi		# FUTEX_WAIT
	xor	%r10d, %r10d
	mov	$202, %eax
	syscall
	jmp	0b
	# With nobody to wait for, it only says that it gets on. Its time is added up when
	# somebody comes (Clocks.Meet).
alone:	push	%rax
	mov	%gs:ENTRY, %rdi
	incq	LOOKS(%rdi)
	xor	%eax, %eax
	mov	%rax, AWAY(%rdi)
	mov	%eax, %gs:HERE
	mov	%eax, %gs:OWES
	movl	$MOST, %gs:GIVEN
	jmp	on
nobody:
	push	%rax
	movl	$0x7fffffff, %gs:GIVEN	# a forked child, or one too many
on:	mov	%gs:GIVEN, %eax		# passes, the one that looks among them
	sub	$1, %eax
	adc	$0, %eax
	mov	%eax, %gs:FUEL
said:	pop	%rax
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rbx
	pop	%rdx
	pop	%rcx
	pop	%rax
lookEnd:
	ret

# rests: called before a thread waits in a runtime that may spin, and may have it execute
# something meanwhile. It says its clock: if it has spun for a while since then, nobody
# waits for it until it works, and then it is the time of the last one who does.
	.p2align 4
rests:	cmpq	$0, %gs:TABLE
	je	1f
	cmpl	$0, %gs:ALONE
	jne	1f
	movl	$2, %gs:HERE
	call	look
	push	%rax
	mov	%gs:ENTRY, %rax
	movl	$1, RESTS(%rax)
	pop	%rax
1:	ret
	.p2align 4
works:	cmpq	$0, %gs:TABLE
	je	1f
	push	%rax
	push	%rcx
	push	%rdx
	mov	%gs:ENTRY, %rdx
	movl	$0, RESTS(%rdx)
	cmpl	$2, ACTIVE(%rdx)
	jne	3f
	mov	%gs:TABLE, %rax
	mov	BOUND(%rax), %rcx
	sub	QUANTUM(%rax), %rcx
	sub	CLOCK(%rdx), %rcx
	jle	2f
	lock add %rcx, SLEPT(%rdx)
	lock add %rcx, CLOCK(%rdx)
2:	movl	$1, ACTIVE(%rdx)
3:	pop	%rdx
	pop	%rcx
	pop	%rax
1:	ret
