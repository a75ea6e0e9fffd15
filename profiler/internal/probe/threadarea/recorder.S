# The only code that runs in the target besides its own: it appends a record
# to the thread's ring when a section event happens, and looks up the counter
# of an indirect call's target. Position-independent; everything it needs is
# in the thread's area, which GS points to (layout.go has the same offsets).
#
# It keeps every register and assumes the flags dead, as they are at calls.
# A handler that interrupts it may count: counters change by single
# instructions only, and what is claimed is claimed by one (cmpxchg, xadd),
# which no signal can split.

	.set MUTED,    0x00	# nonzero: a forked child, nothing is recorded
	.set RING,     0x08	# where the next record goes
	.set LIMIT,    0x10	# the last place where a record of any size fits
	.set BUSY,     0x18	# nonzero while a record is being written
	.set LASTTSC,  0x20	# of the record before
	.set CPUGAP,   0x28	# ticks between records from which the CPU clock is worth its price
	.set COUNTERS, 0x30
	.set SHADOW,   0x38	# the counters as of the last record
	.set NFIXED,   0x40	# counters known before the run
	.set NOVER,    0x48	# more, for targets of indirect calls, in use
	.set OVERCAP,  0x50
	.set OVER,     0x58	# where those are counted
	.set TARGETS,  0x60	# two targets for every site of an indirect call, and where the copies of these begin
	.set SITECTR,  0x68	# their counters
	.set HASH,     0x70	# further (target, site) pairs, open addressing
	.set KEYS,     0x80	# the pairs
	.set LOST,     0x88	# indirect calls that found no place
	.set WAITS,    0x90	# the process's table of objects that a thread waits on
	.set TOP,      0x98	# where the thread's stack began
	.set LIVE,     0xa0	# bits: which eights of counters any thread of the process may have used
	.set NLIVE,    0xa8	# how many words
	.set CHANGED,  0x200	# 32 bits each: where the bits lie of which eights of misses have changed since the last record,
	.set CHANGEDAT, 0x204	# and from which word of the same numbers on these are they
	.set ENTERED,  0xb0	# bytes: which functions this thread has entered
	.set RANGES,   0xb8	# where each function's chords, and counters of sites, begin: two u32
	.set GUARD,    0xc0	# bit 1: nobody traces the thread (guard.S in package blocking)
	.set ASK,      0xd8	# code that asks to be traced, as
	.set ASKED,    0x138	# this says
	.set FUEL,     0x140	# of look.S
	.set TABLE,    0x168	# likewise
	.set WORTHS,   0x170
	.set ENTERS,   32	# of the table: how often functions were entered that a thread had not entered before
	.set RUNTIME,  0x1a0	# a runtime.g, or 0: what counts is a thread
	.set RESUMED,  0x1c8	# when a thread went on with it
	.set STINTS,   0x1d0	# how long threads did before
	.set RAN,      0x228	# the thread's CPU clock then, or 0 (switch.S in package goroutine)
	.set RATE,     0x230	# ticks in a nanosecond, times 2^32
	.set SCANNED,  0x238	# 32 bits: the kind of the last record with counters
	.set AWHILE,   100000	# ticks from which that clock is looked at again

	.set QUIET,    0x208	# 32 bits of the stack pointer: what blocks right below is not recorded (timer.S in package blocking); +1: something has

	.set CACHES,   0x198	# the thread's part of simulated caches, where accesses are told, or 0 (else it may be anything)
	.set DONE,     48	# of that: where it is said how many accesses were counted that threads have told of,
	.set TELLS,    56	# and how many must have been before the thread's own were

	.set HASHSIZE, 16384	# of the pairs' table, and as many more as a site's window has
	.set WINDOW,   256
	.set FACTOR,   -0x61c88647
	.set SHIFT,    20
	.set STEP,     16
	.set SLOTS,    4096	# of the table of objects
	.set HUSHED,   34304	# behind it, and behind the pool: waits of no interest, by return address
	.set HUSHES,   64	# of these
	.set HEARD,    34816	# behind them, of a program in Go: how many waits may be recorded until the profiler looks whether it is interested
	.set NEVER,    1<<30	# the upper half of a CPUGAP that no clock is read by
	.set SCAN,     31	# bits of an event's kind
	.set WAIT,     30
	.set WAKE,     29
	.set CHAIN,    28
	.set DEEP,     26
	.set QUIETLY,  25
	.set PIECE,    128	# words of the stack that are copied at most,
	.set DEEPER,   1024	# where DEEP asks for more,
	.set WHOLE,    4096	# and of a goroutine with its counters: which functions it has not left is to be known,
	.set NEAR,     16384	# and bytes from where it began that are surely its own,
	.set LARGEST,  1<<30	# a goroutine's: none has a larger one

	.include "live.inc"

	.text
recorder:
	.p2align 4
	jmp	record
	.org	8			# where, from here, the module's text begins, and how far entries in it may lie: package relocate says
text:	.long	0
reach:	.long	0
	jmp	indirect
	.org	24
telling:.long	0			# not 0: accesses are told, and records wait until they were counted
	.p2align 4
	jmp	enter
	.p2align 4
	jmp	spawns
	.p2align 4
	jmp	region_begins
	.p2align 4
	jmp	region_ends
	.p2align 4
	jmp	task_begins

# slot: %rcx is where the table holds the object at %r8.
	.macro	slot
	imul	$0x2545f491, %r8, %rcx
	shr	$16, %ecx
	and	$SLOTS-1, %ecx
	shl	$3, %ecx
	add	%gs:WAITS, %rcx
	.endm

# changes: appends those of counters from %r8 up to %rcx.
	.macro	changes
	jmp	51f
50:	mov	(%rsi,%r8,8), %rax
	mov	%rax, %r9
	sub	(%rdx,%r8,8), %r9
	jz	52f
	mov	%rax, (%rdx,%r8,8)
	mov	%r8, (%r10)
	mov	%r9, 8(%r10)
	add	$16, %r10
52:	inc	%r8
51:	cmp	%rcx, %r8
	jb	50b
	.endm

# record: r11d is the event's kind. Bit SCAN asks for the counters that changed.
# WAIT says that the thread will wait on the object of its first argument, WAKE
# that the event only matters if a thread has waited there since the last one:
# programs that wake on every occasion, mostly nobody, pay next to nothing. A
# slot holds 0, the object waited on, or 1 for ever once there were two at a
# time. The wait is marked behind its time stamp, the mark taken before that
# of the wake: no wait that is earlier than a wake stays unnoticed. Nothing is
# recorded, nor marked, of a wait that is hushed: so nor is what wakes only such.
# Most functions never run, and their counters are not looked at. Which do is
# known of the process: a thread may go on where another one has entered.
# (%rsp) returns to the hook, 8(%rsp) is the return address of the user's call.
# CHAIN asks for what an unwinder needs to find that call's callers: registers
# and a piece of the stack. It ends where the thread's stack began; where that
# is far away, or the thread has gone to another stack, at the end of the page,
# unless the kernel says that the next one can be read: it refuses this
# rt_sigprocmask by EFAULT if not, else by EINVAL, as there is no such "how".
# DEEP asks for more of it: libraries in between may have many frames, rayon built without
# optimisation thirty of 200 bytes each.
# QUIETLY says that nobody asks what the call waits for inside: that is what the
# meeting is. Until the thread's next record its waits are not recorded there,
# and if there was one that record reads the CPU clock.
# Record: kind u32, pairs u32, tsc, site, arg1, arg3, cpu seconds, cpu nanoseconds (of a goroutine, ticks),
# with CHAIN rsp behind the return, rbx, rbp, r12, r13, r14, r15, words, then these,
# then (counter, change) pairs.
	.p2align 4
record:
	cmpq	$0, %gs:MUTED
	jne	9f
	push	%rax
	push	%rcx
	push	%rdx
	push	%rbx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	mov	%r11, %rbx
	mov	%rdi, %r8
	mov	%rdx, %r9
	bt	$WAIT, %ebx
	jnc	15f
	mov	80(%rsp), %rax
	mov	%eax, %ecx
	and	$HUSHES-1, %ecx
	shl	$3, %ecx
	add	%gs:WAITS, %rcx
	cmp	%rax, HUSHED(%rcx)
	je	7f
	mov	%gs:WAITS, %rcx
	lock decq HEARD(%rcx)
	js	80f
15:	bt	$WAKE, %ebx
	jnc	1f
	slot
	mov	(%rcx), %rax
	cmp	$1, %rax
	je	1f
	cmp	%r8, %rax
	jne	7f
	xor	%edx, %edx
	lock cmpxchg %rdx, (%rcx)
1:	mov	%gs:RING, %rdi
	cmp	%gs:LIMIT, %rdi
	ja	80f
	movq	$1, %gs:BUSY
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%ebx, (%rdi)
	mov	%rax, 8(%rdi)
	mov	80(%rsp), %rcx
	mov	%rcx, 16(%rdi)
	mov	%r8, 24(%rdi)
	mov	%r9, 32(%rdi)
	xor	%ecx, %ecx
	mov	%rcx, 40(%rdi)
	mov	%rcx, 48(%rdi)
	mov	%rax, %rcx
	sub	%gs:LASTTSC, %rcx
	mov	%rax, %gs:LASTTSC
	cmpq	$0, %gs:RUNTIME
	jne	13f
	testb	$1, %gs:QUIET
	jz	16f
	mov	$NEVER-1, %ecx
	shl	$32, %rcx
16:	cmp	%gs:CPUGAP, %rcx
	jb	2f
	mov	%rdi, %r10
	lea	40(%rdi), %rsi
	mov	$3, %edi		# CLOCK_THREAD_CPUTIME_ID
	mov	$228, %eax		# clock_gettime
	syscall				# overwrites rax, rcx, r11
	mov	%r10, %rdi
	testb	$1, %gs:QUIET
	jz	2f
	rdtsc				# the part begins when that is read, which takes longer than some parts
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, 8(%rdi)
2:	lea	56(%rdi), %r10
	bt	$CHAIN, %ebx
	jnc	12f
	lea	88(%rsp), %rsi
	mov	%rsi, (%r10)
	mov	40(%rsp), %rax
	mov	%rax, 8(%r10)
	mov	%rbp, 16(%r10)
	mov	%r12, 24(%r10)
	mov	%r13, 32(%r10)
	mov	%r14, 40(%r10)
	mov	%r15, 48(%r10)
	mov	$PIECE, %ecx
	bt	$DEEP, %ebx
	jnc	14f
	mov	$DEEPER, %ecx
14:	mov	%gs:TOP, %rax
	sub	%rsi, %rax
	cmpq	$0, %gs:RUNTIME
	jne	35f
17:	cmp	$NEAR, %rax
	jae	10f
18:	shr	$3, %rax
	cmp	%rcx, %rax
	cmovb	%rax, %rcx
	jmp	11f
10:	lea	-8(%rsi,%rcx,8), %rdx
	lea	-8(%rsi), %rax		# where the return address lies, surely readable
	xor	%rdx, %rax
	shr	$12, %rax
	jz	11f
	push	%rcx
	mov	%rdi, %r8
	mov	%rsi, %r9
	mov	%rdx, %rsi
	xor	%edx, %edx
	mov	$-1, %rdi
	mov	$8, %r10d
	mov	$14, %eax		# rt_sigprocmask
	syscall
	lea	56(%r8), %r10
	mov	%r8, %rdi
	mov	%r9, %rsi
	pop	%rcx
	cmp	$-14, %rax		# EFAULT
	jne	11f
	mov	%esi, %ecx
	neg	%ecx
	and	$4095, %ecx
	shr	$3, %ecx
11:	mov	%rcx, 56(%r10)
	mov	%rdi, %rdx
	lea	64(%r10), %rdi
	rep movsq
	mov	%rdi, %r10
	mov	%rdx, %rdi
12:	push	%r10
	test	%ebx, %ebx
	jns	6f
	mov	%ebx, %gs:SCANNED
	push	%rbp
	push	%r12
	push	%r13
	cmpl	$0, telling(%rip)
	je	29f
	mov	%gs:CACHES, %rcx
	test	%rcx, %rcx
	jz	29f
28:	mov	DONE(%rcx), %rdx
	mov	TELLS(%rcx), %rax
	cmp	%rax, (%rdx)
	jae	29f
	mov	%rcx, %rsi
	mov	$24, %eax		# sched_yield
	syscall
	mov	%rsi, %rcx
	jmp	28b
29:	mov	%gs:COUNTERS, %rsi
	mov	%gs:SHADOW, %rdx
	mov	%gs:LIVE, %rbp
	xor	%r12d, %r12d
	jmp	23f
21:	mov	(%rbp,%r12,8), %r13
	cmp	%gs:CHANGEDAT, %r12d
	jae	20f
19:	inc	%r12
	test	%r13, %r13
	jz	23f
22:	eight	%r13, %r12
	lea	(%rsi,%r8,8), %r9
	lea	(%rdx,%r8,8), %rcx
	mov	(%r9), %rax
	xor	(%rcx), %rax
	.irp	at, 8, 16, 24, 32, 40, 48, 56
	mov	\at(%r9), %r11
	xor	\at(%rcx), %r11
	or	%r11, %rax
	.endr
	jnz	25f
24:	test	%r13, %r13
	jnz	22b
23:	cmp	%gs:NLIVE, %r12
	jb	21b
	jmp	27f
20:	mov	%gs:CHANGED, %eax
	xor	%r13d, %r13d
	cmp	%gs:(%rax,%r12,8), %r13
	je	19b
	xchg	%r13, %gs:(%rax,%r12,8)
	jmp	19b
25:	lea	8(%r8), %rcx
	changes
	jmp	24b
27:	mov	%gs:NFIXED, %r8
	mov	%gs:NOVER, %rcx
	add	%r8, %rcx
	changes
	pop	%r13
	pop	%r12
	pop	%rbp
6:	pop	%r11
	mov	%r10, %rax
	sub	%r11, %rax
	shr	$4, %rax
	mov	%eax, 4(%rdi)
	mov	%r10, %gs:RING
	movq	$0, %gs:BUSY
	movl	$TOLD, %gs:FUEL		# others may wake by this: see look.S
	xor	%eax, %eax
	bt	$QUIETLY, %ebx
	cmovc	%esp, %eax
	mov	%eax, %gs:QUIET
	bt	$WAIT, %ebx
	jnc	7f
	mov	24(%rdi), %r8
	slot
	xor	%eax, %eax
0:	lock cmpxchg %r8, (%rcx)	# also where it is marked: a wake must not take this mark unseen
	je	7f
	test	%rax, %rax
	jz	0b
	cmp	%r8, %rax
	je	0b
	movq	$1, (%rcx)
7:	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rbx
	pop	%rdx
	pop	%rcx
	pop	%rax
9:	ret
8:	int3				# full: the profiler empties the rings and lets go
	jmp	1b
80:	testb	$2, %gs:GUARD		# only who is traced survives an int3
	jz	8b
	movq	$1, %gs:ASKED
	call	*%gs:ASK
	testb	$2, %gs:GUARD
	jz	8b
	jmp	7b			# it was refused: the next record has what this one would have
35:	test	%ebx, %ebx
	jns	17b
	cmp	$LARGEST, %rax
	jae	10b			# it has gone to another stack
	mov	$WHOLE, %ecx
	jmp	18b
13:	sub	%gs:RESUMED, %rax	# of a goroutine: ticks, which its threads spent on it
	cmp	$AWHILE, %rax
	jbe	36f
	cmpq	$0, %gs:RATE
	je	36f
	push	%rax
	mov	%rdi, %r10
	lea	40(%rdi), %rsi
	mov	$3, %edi
	mov	$228, %eax
	syscall
	mov	%r10, %rdi
	imul	$1000000000, 40(%rdi), %rcx
	add	48(%rdi), %rcx
	movq	$0, 40(%rdi)
	test	%eax, %eax
	pop	%rax
	jnz	36f			# nobody may look at it
	mov	%rax, %r10
	mov	%rcx, %rax
	xchg	%gs:RAN, %rcx		# or 0: it is no more than the thread has ever had
	sub	%rcx, %rax
	mulq	%gs:RATE
	shrd	$32, %rdx, %rax
	cmp	%r10, %rax
	cmova	%r10, %rax
	add	%rax, %gs:STINTS
	mov	8(%rdi), %rax
	mov	%rax, %gs:RESUMED
	xor	%eax, %eax
36:	add	%gs:STINTS, %rax
	mov	%rax, 48(%rdi)
	jmp	2b

# indirect: eax is twice the site's number, r11 the target that neither of the
# site's two inline entries holds, nor the table where it is looked for first
# (HashOf). Claims a free inline entry, by 1, which is no target; it says where a call
# can go instead, too, before the target is there to be found. Else it claims one of
# the table: target u64, then, once it is ready, eax + 1 u32, the counter's number + 1
# u32. A call can go where the springboard leads that stands at its target: what jumps
# out of the module's text is one.
	.p2align 4
indirect:
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	mov	%eax, %edx
	mov	%r11, %rcx
	lea	recorder(%rip), %rsi
	movslq	text-recorder(%rsi), %rax
	add	%rsi, %rax		# the text
	mov	reach-recorder(%rsi), %esi
	mov	%r11, %rdi
	sub	%rax, %rdi
	cmp	%rsi, %rdi
	jae	0f
	mov	(%r11), %rdi
	cmp	$0xe9, %dil
	jne	0f
	shr	$8, %rdi
	movslq	%edi, %rdi
	lea	5(%r11,%rdi), %rdi
	mov	%rdi, %rcx
	sub	%rax, %rdi
	cmp	%rsi, %rdi
	cmovb	%r11, %rcx
0:	mov	%rdx, %rdi
	shl	$4, %rdi
	add	%gs:TARGETS, %rdi
	mov	$1, %esi
	xor	%eax, %eax
	cmpxchg	%rsi, (%rdi)
	je	1f
	add	$8, %rdi
	xor	%eax, %eax
	cmpxchg	%rsi, (%rdi)
	jne	2f
	inc	%edx
1:	mov	%rcx, 16(%rdi)
	mov	%r11, (%rdi)
	mov	%gs:SITECTR, %rsi
	incq	(%rsi,%rdx,8)
	jmp	9f
2:	imul	$FACTOR, %r11d, %ecx
	shr	$SHIFT, %ecx
	and	$STEP*(WINDOW-1), %ecx
	lea	(,%rdx,4), %edi
	and	$HASHSIZE-1, %edi
	shl	$4, %edi
	add	%rdi, %rcx
3:	cmp	$STEP*(HASHSIZE+WINDOW), %rcx
	jb	0f
	xor	%ecx, %ecx
0:	mov	%rcx, %rdi
	add	%gs:HASH, %rdi
	mov	(%rdi), %rax
	test	%rax, %rax
	jz	4f
	cmp	%r11, %rax
	jne	5f
	lea	1(%rdx), %esi
	cmp	%esi, 8(%rdi)
	jne	5f
	mov	12(%rdi), %esi
	dec	%esi
	jmp	6f
5:	add	$STEP, %rcx
	jmp	3b
4:	mov	%gs:NOVER, %rsi
	cmp	%gs:OVERCAP, %rsi
	jae	8f
	cmpxchg	%r11, (%rdi)
	jne	3b
	mov	$1, %esi
	xadd	%rsi, %gs:NOVER
	mov	%rsi, %rax
	shl	$4, %rax
	add	%gs:KEYS, %rax
	mov	%r11, (%rax)
	mov	%rdx, 8(%rax)
	lea	1(%rsi), %rax
	shl	$32, %rax
	lea	1(%rax,%rdx), %rax
	mov	%rax, 8(%rdi)
6:	mov	%gs:OVER, %rdi
	incq	(%rdi,%rsi,8)
	jmp	9f
8:	incq	%gs:LOST
9:	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret

# enter: the thread enters a function for the first time; its number is on the
# stack. Its counters are live before the thread has said so: a handler that
# interrupts this does it again. Where threads have clocks it is marked, at the worth of
# its first counter, that these are wanted.
	.p2align 4
enter:
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	mov	40(%rsp), %eax
	mov	%gs:RANGES, %rdx
	lea	(%rdx,%rax,8), %rdx
	mov	%gs:LIVE, %rcx
1:	mov	(%rdx), %eax
	mov	8(%rdx), %esi
	cmp	%esi, %eax
	je	3f
	shr	$3, %eax
	dec	%esi
	shr	$3, %esi
2:	lock bts %rax, (%rcx)
	inc	%rax
	cmp	%rsi, %rax
	jbe	2b
3:	add	$4, %rdx
	test	$4, %dl
	jnz	1b
	mov	%gs:WORTHS, %rcx
	test	%rcx, %rcx
	jz	4f
	mov	-8(%rdx), %eax
	shl	$4, %rax
	movl	$1, 12(%rcx,%rax)
	mov	%gs:TABLE, %rcx
	lock incl ENTERS(%rcx)
4:	mov	40(%rsp), %eax
	mov	%gs:ENTERED, %rcx
	movb	$1, (%rcx,%rax)
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret	$8

	.include "tasks.inc"
	.include "team.inc"
