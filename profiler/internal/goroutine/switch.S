# What is executed where Go's runtime goes on with a goroutine, leaves one, or ends
# one: see the package's comment. Position-independent; the words at its beginning
# are the profiler's to fill (code.go has the same).

	.set MASK,   0xfffff	# of the table's entries
	.set TRIES,  64
	.set AREAS,  4095	# of the pool's

	.set TOP,    0x98	# of an area, as in layout.go of package threadarea
	.set STATE,  0x100
	.set BORN,   0x110
	.set ENDED,  0x118
	.set RUNTIME, 0x1a0
	.set GOID,   0x1a8
	.set GOPC,   0x1b0
	.set GOSTART, 0x1b8
	.set GOER,   0x1c0
	.set RESUMED, 0x1c8
	.set STINTS, 0x1d0
	.set MADE,   0x1d8	# 32 bits: how often it may yet be recorded that it receives something; and whether it has made others
	.set SENT,   0x1dc	# 32 bits: 0: nothing that it sends is recorded; else one more than has been since it was asked
	.set SENDS,  256	# whether more is to be, which is none if this is above
	.set MINE,   0x1f8	# the area that GS leads to while the thread runs nobody

	.set CALLED, 0x210	# when it went to the system, or to C
	.set CLOCK0, 0x218	# the thread's CPU clock then, 0 where nobody looked
	.set SHORT,  0x220	# 32 bits: how many such calls have been short in a row
	.set LATELY, 0x224	# 32 bits: how many times more that a thread goes on with it that clock is looked at,
	.set RAN,    0x228	# as it was then, or 0
	.set RATE,   0x230	# ticks in a nanosecond, times 2^32; 0: nobody may look at that clock
	.set SCANNED, 0x238	# 32 bits: the kind of the last record with counters
	.set MADEBY, 0x23c	# 32 bits: where the call that made the last goroutine returns to
	.set STOPPED, 0x240	# when its thread left it,
	.set WOKEN,  0x248	# and when it was let go on, or 0
	.set PARKED, 0x250	# 32 bits: the kind of the record of its wait, or 0
	.set UNTOLD, 0x258	# ticks, of waits that are not recorded
	.set WAITED, 1<<14	# from so many on they are,
	.set SINCE,  16		# of the pool: if of those, and of their ends, since the profiler began
	.set TOLD,   24		# not more have been
	.set ATFIRST, 8192	# than so many
	.set RARE,   19		# and one each 2^RARE ticks: each takes some microseconds

	.set BASE,   0x150	# as in look.S: a goroutine's virtual time less its own instructions,
	.set OWN,    0x158	# those as of when it said so last,
	.set ENTRY,  0x160	# and the clock of the thread that runs it
	.set TABLE,  0x168
	.set CLOCK,  0
	.set ACTIVE, 12
	.set LOOKS,  16
	.set SLEPT,  40
	.set BOUND,  0	# of the table
	.set QUANTUM, 16

	.set TURNS,  64+8*4096	# of the pool: who was asked to leave, by Go's processor,
	.set ASKS,   256	# of the first ones
	.set LONGS,  TURNS+32*ASKS	# bytes, by go statement: of how many goroutines more LATELY is not 0 from the first
	.set URG,    23		# the signal by which it is
	.set AWHILE, 100000	# ticks above which a call of the system is not all work, nor what a thread spends on a goroutine,
	.set SHORTS, 8		# and so many shorter ones after which nobody looks at the clock before the next
	.set THREADCPU, 3	# CLOCK_THREAD_CPUTIME_ID
	.set CLOCKGET, 228	# clock_gettime
	.set EXECVE, 59

	.set GRACE,  1<<17	# ticks in which it may leave by itself

	.text
table:	.quad	0	# entries: a runtime.g, its area
common:	.quad	0	# the area that is nobody's
pool:	.quad	0	# how many areas were taken, how many were offered, then the areas
ogoid:	.quad	0	# in a runtime.g
ogopc:	.quad	0
ostart:	.quad	0
oparent: .quad	0
ohigh:	.quad	0
osp:	.quad	0
to_resume: .quad resume - table
to_leave: .quad	leave - table
to_end:	.quad	end - table
to_recover: .quad recover - table
at_pool: .quad	empty - table
at_end:	.quad	unwound - table
at_recover: .quad recovered - table
at_send: .quad	asked - table
to_make: .quad	make - table
to_receive: .quad receive - table
to_choose: .quad choose - table
to_send: .quad	send - table
recorder: .quad	0	# of the moved code
kmake:	.quad	0	# kinds of records
kreceive: .quad	0
ksend:	.quad	0
kfirst:	.quad	0
says:	.quad	0	# look.S
goes:	.quad	0
to_ask:	.quad	ask - table
ocurg:	.quad	0	# in a runtime.m
op:	.quad	0
otick:	.quad	0	# in a runtime.p
oid:	.quad	0
opending: .quad	0
ogen:	.quad	0
to_next: .quad	next - table
to_begin: .quad	begin - table
to_follow: .quad follow - table
to_expand: .quad expand - table
to_expand22: .quad expand22 - table
copies:	.quad	0	# where moved code lies,
ncopies: .quad	0	# and how many bytes
olr:	.quad	0	# in a runtime.unwinder
ofp:	.quad	0
to_call: .quad	calls - table
to_back: .quad	back - table
kmakes:	.quad	0	# of a record that another one is made, with counters
opc:	.quad	0	# in a runtime.g
olow:	.quad	0
oreason: .quad	0
parkm:	.quad	0	# what is called on the way into a wait
kwoke:	.quad	0	# of a record that a goroutine lets another one go on,
to_park: .quad	park - table
to_ready: .quad	ready - table
to_replace: .quad replace - table
at_replace: .quad replaced - table
at_told: .quad	told - table
reasons: .fill	64, 4, 0	# and of one that it goes on which has waited, by the runtime's reason

# find: %rcx is the entry of the runtime.g at %r8, or 0. Changes %rax, %r9.
	.macro	find
	mov	%r8, %rax
	shr	$6, %rax
	imul	$0x9e3779b1, %eax, %eax
	shr	$12, %eax
	mov	$TRIES, %r9d
50:	and	$MASK, %eax
	mov	table(%rip), %rcx
	push	%rax
	shl	$4, %rax
	add	%rax, %rcx
	pop	%rax
	cmp	%r8, (%rcx)
	je	52f
	cmpq	$0, (%rcx)
	jne	51f
	push	%rax
	xor	%eax, %eax
	lock cmpxchg %r8, (%rcx)
	pop	%rax
	je	52f
	cmp	%r8, (%rcx)
	je	52f
51:	inc	%eax
	dec	%r9d
	jnz	50b
	xor	%ecx, %ecx
52:
	.endm

# now: %rax is the time stamp counter's. Changes %rdx.
	.macro	now
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	.endm

# own: the area that is the thread's own: a goroutine's says which it is.
	.macro	own reg
	rdgsbase \reg
	cmpq	$0, %gs:RUNTIME
	je	53f
	mov	%gs:MINE, \reg
53:
	.endm

# cpu: %rax is the thread's CPU clock, in nanoseconds. Changes %rcx, %rdi, %rsi, %r11.
	.macro	cpu
	sub	$24, %rsp
	movq	$0, (%rsp)
	movq	$0, 8(%rsp)
	mov	$THREADCPU, %edi
	mov	%rsp, %rsi
	mov	$CLOCKGET, %eax
	syscall
	imul	$1000000000, (%rsp), %rax
	add	8(%rsp), %rax
	add	$24, %rsp
	.endm

# long: \reg is where LONGS has what threads spend on goroutines that are made in \at, of
# which \reg32 is the lower half.
	.macro	long at, reg, reg32
	mov	\at, \reg
	imul	$0x9e3779b1, \reg32, \reg32
	shr	$26, \reg32
	add	pool(%rip), \reg
	.endm

# worked: adds to STINTS what the thread has done at its goroutine since it went on with
# it, %rax ticks ago. It may have waited for a core meanwhile: where that was long, it is
# the thread's CPU time, if the clock was looked at then. It is where threads were at the
# goroutine, or at others that were made at the same place, for long not long ago; else it is
# no more than the thread has ever had. %rax is the clock, or 0. Changes %rcx, %rdx, %rdi, %rsi, %r9, %r11.
	.macro	worked
	xor	%r9d, %r9d
	cmp	$AWHILE, %rax
	ja	56f
	cmpl	$0, %gs:LATELY
	je	55f
	decl	%gs:LATELY
	jmp	55f
56:	cmpq	$0, %gs:RATE
	je	55f
	movl	$SHORTS, %gs:LATELY
	long	%gs:GOPC, %rcx, %ecx
	movb	$SHORTS, LONGS(%rcx)
	push	%rax
	cpu
	mov	%rax, %r9
	sub	%gs:RAN, %rax
	mulq	%gs:RATE
	shrd	$32, %rdx, %rax
	pop	%rcx
	test	%r9, %r9		# nobody may look at it
	cmovz	%rcx, %rax
	cmp	%rcx, %rax
	cmova	%rcx, %rax
55:	add	%rax, %gs:STINTS
	mov	%r9, %rax
	.endm

# stops: threads leave the goroutine that counts, and what it did is of their time.
# Changes %rax, %rcx, %rdx, %rdi, %rsi, %r9, %r11.
	.macro	stops
	now
	mov	%rax, %gs:STOPPED
	sub	%gs:RESUMED, %rax
	worked
	movq	$0, %gs:RESUMED
	cmpq	$0, %gs:TABLE
	je	54f
	call	*says(%rip)
54:
	.endm

# resume: %rdx is the runtime.g that the thread goes on with; %rbx is wanted, too.
# Where threads have clocks, that of the goroutine is the thread's from here on, and
# not before the time at which it was left: what it did then has been done. Who is too
# far ahead goes on later: no lock of the runtime's is held here.
	.p2align 4
resume:
	mov	%rdx, %r8
	own	%r10
	cmpq	$0, %gs:RUNTIME
	je	1f
	stops
1:	find
	mov	%r10, %rdi
	test	%rcx, %rcx
	jz	2f
	mov	8(%rcx), %rdi
	test	%rdi, %rdi
	jz	3f
	cmp	common(%rip), %rdi
	cmove	%r10, %rdi
2:	mov	%r10, MINE(%rdi)
	mov	ENTRY(%r10), %rcx
	wrgsbase %rdi
	mov	ohigh(%rip), %rax
	mov	(%r8,%rax), %rax
	mov	%rax, %gs:TOP
	xor	%eax, %eax
	cmpl	$0, %gs:LATELY
	je	6f
	push	%rcx
	push	%rdi
	cpu
	pop	%rdi
	pop	%rcx
6:	mov	%rax, %gs:RAN
	now
	mov	%rax, %gs:RESUMED
	cmpl	$0, %gs:PARKED
	jne	10f
11:	mov	%r8, %rdx
	cmp	%r10, %rdi
	je	8f
	cmpq	$0, %gs:TABLE
	je	8f
	test	%rcx, %rcx		# a thread without a clock
	jz	7f
	mov	%gs:TABLE, %rsi
	mov	%gs:OWN, %rdi
	mov	%gs:BASE, %rax
	add	%rdi, %rax
	mov	CLOCK(%rcx), %r8
	cmp	%rax, %r8
	cmovl	%rax, %r8
	cmpl	$1, ACTIVE(%rcx)
	je	9f
	mov	BOUND(%rsi), %rax	# it has slept until now
	sub	QUANTUM(%rsi), %rax
	cmp	%rax, %r8
	cmovl	%rax, %r8
	incq	LOOKS(%rcx)
	movl	$1, ACTIVE(%rcx)
9:	mov	%r8, CLOCK(%rcx)
	xor	%eax, %eax
	xchg	%rax, SLEPT(%rcx)
	mov	%rcx, %gs:ENTRY
	mov	%r8, %rax
	sub	%rdi, %rax
	mov	%rax, %gs:BASE
	cmp	BOUND(%rsi), %r8
	jle	8f
	jmp	*goes(%rip)
7:	mov	%rcx, %gs:TABLE
8:	ret
3:	mov	pool(%rip), %rsi
	mov	$1, %eax
	lock xadd %rax, (%rsi)
4:	cmp	%rax, 8(%rsi)
	jbe	empty
	mov	%rax, %rdx
	and	$AREAS, %edx
	mov	64(%rsi,%rdx,8), %rdi
	cmp	common(%rip), %rdi
	je	5f
	mov	%r8, RUNTIME(%rdi)
	.macro	copy from, to
	mov	\from(%rip), %rdx
	mov	(%r8,%rdx), %rdx
	mov	%rdx, \to(%rdi)
	.endm
	copy	ogoid, GOID
	copy	ogopc, GOPC
	copy	ostart, GOSTART
	copy	oparent, GOER
	long	GOPC(%rdi), %rdx, %edx
	movzbl	LONGS(%rdx), %eax
	mov	%eax, LATELY(%rdi)
	sub	$1, %eax
	js	9f
	mov	%al, LONGS(%rdx)
9:	now
	mov	%rax, BORN(%rdi)
	movq	$2, STATE(%rdi)
	mov	%rdi, 8(%rcx)
	jmp	2b
5:	mov	%rdi, 8(%rcx)
	mov	%r10, %rdi
	jmp	2b
10:	push	%rcx
	push	%rdi
	mov	%gs:PARKED, %r11d
	movl	$0, %gs:PARKED
	mov	%gs:STOPPED, %rdx
	mov	%gs:WOKEN, %rcx
	test	%rcx, %rcx
	cmovz	%rax, %rcx
	sub	%rdx, %rcx
	cmp	$WAITED, %rcx
	jb	12f
	mov	%rcx, %rsi
	mov	%gs:GOID, %rdi
	call	tell
	now				# what that took is not the goroutine's work
	mov	%rax, %gs:RESUMED
	jmp	13f
12:	add	%rcx, %gs:UNTOLD
13:	pop	%rdi
	pop	%rcx
	jmp	11b
empty:	int3			# the profiler puts more areas in than %rax
	jmp	4b

# calls: the goroutine is about to go to the system, or to C; %rax, %rbx and %rcx are
# wanted. Its thread keeps it meanwhile, but may sleep, or wait for a core: others run
# goroutines in its place.
	.p2align 4
calls:
	cmpq	$0, %gs:RUNTIME
	je	1f
	mov	%rax, %r8
	mov	%rcx, %r9
	now
	mov	%rax, %gs:CALLED
	xor	%eax, %eax
	cmpl	$SHORTS, %gs:SHORT
	jae	2f
	cmpq	$0, %gs:RAN
	jne	2f
	cmpq	$0, %gs:RATE
	je	2f
	cpu
2:	mov	%rax, %gs:CLOCK0
	mov	%r8, %rax
	mov	%r9, %rcx
1:	ret

# back: it comes back. What its thread did not execute of a long call is no work.
	.p2align 4
back:
	cmpq	$0, %gs:RUNTIME
	je	1f
	mov	%gs:CALLED, %r8
	test	%r8, %r8
	jz	1f
	movq	$0, %gs:CALLED
	now
	sub	%r8, %rax
	mov	%rax, %r8
	cmp	$AWHILE, %rax
	ja	2f
	incl	%gs:SHORT
	ret
2:	movl	$0, %gs:SHORT
	cmpq	$0, %gs:RAN
	jne	3f
	mov	%gs:CLOCK0, %r9
	test	%r9, %r9
	jz	1f
	cpu
	sub	%r9, %rax
	mulq	%gs:RATE
	shrd	$32, %rdx, %rax
	sub	%rax, %r8
	jbe	1f
	add	%r8, %gs:RESUMED	# as if it had gone on with it so much later
1:	ret
3:	now
	mov	%rax, %r8
	sub	%gs:RESUMED, %rax
	mov	%r8, %gs:RESUMED
	worked
	mov	%rax, %gs:RAN
	ret

# leave: the thread leaves its goroutine. %rax and %rdx are wanted, %rbx, too.
	.p2align 4
leave:
	cmpq	$0, %gs:RUNTIME
	je	1f
	mov	%rax, %r10
	mov	%rdx, %r8
	stops
	mov	%gs:MINE, %rcx
	wrgsbase %rcx
	mov	%r8, %rdx
	mov	%r10, %rax
1:	ret

# park: the thread leaves its goroutine as the function at (%rax) says, which may be
# because it waits. What for the runtime.g at %r14 says.
	.p2align 4
park:	cmpq	$0, %gs:RUNTIME
	je	1f
	mov	(%rax), %rcx
	cmp	parkm(%rip), %rcx
	jne	leave
	mov	oreason(%rip), %rcx
	movzbl	(%r14,%rcx), %ecx
	cmp	$64, %ecx
	jae	leave
	lea	reasons(%rip), %rsi
	mov	(%rsi,%rcx,4), %ecx
	mov	%ecx, %gs:PARKED
	movq	$0, %gs:WOKEN
	jmp	leave
1:	ret

# ready: the runtime.g at %rax may go on. %rbx and %rcx are wanted, too. The goroutine that
# says so has called this on another stack.
	.p2align 4
ready:
	push	%rax
	push	%rcx
	mov	%rax, %r8
	find
	test	%rcx, %rcx
	jz	1f
	mov	8(%rcx), %rdi
	test	%rdi, %rdi
	jz	1f
	cmpl	$0, PARKED(%rdi)
	je	1f
	now
	mov	%rax, WOKEN(%rdi)
	sub	STOPPED(%rdi), %rax
	cmp	$WAITED, %rax
	jb	1f
	mov	%gs:RUNTIME, %r8
	test	%r8, %r8
	jz	1f
	mov	olow(%rip), %rax
	cmp	(%r8,%rax), %rsp
	jb	2f
	cmp	%gs:TOP, %rsp
	jb	1f
2:	mov	GOID(%rdi), %rdi
	xor	%esi, %esi
	xor	%edx, %edx
	mov	kwoke(%rip), %r11d
	call	tell
1:	pop	%rcx
	pop	%rax
	ret

# tell: has something recorded of the goroutine that counts, which is the runtime.g at %r8
# and stands where it was left, of a wait of %rsi ticks: the recorder works below that on its
# stack, where it finds who called. Changes %rax, %rcx, %rsi, %r11.
tell:	push	%rdx
	now
	pop	%rdx
	mov	pool(%rip), %rcx
	sub	SINCE(%rcx), %rax
	shr	$RARE, %rax
	add	$ATFIRST, %rax
	cmp	TOLD(%rcx), %rax
	jb	2f
	lock incq TOLD(%rcx)
	mov	osp(%rip), %rcx
	mov	(%r8,%rcx), %rcx
	mov	opc(%rip), %rsi
	mov	(%r8,%rsi), %rsi
	push	%rbx
	mov	%rsp, %rbx
	mov	%rcx, %rsp
	push	%rsi
	call	*recorder(%rip)
told:	mov	%rbx, %rsp
	pop	%rbx
	ret
2:	add	%rsi, %gs:UNTOLD
	ret

# end: the runtime.g at %rax has ended. Where something is left on its stack the
# profiler looks at that.
	.p2align 4
end:
	push	%rax
	push	%rdx
	mov	%rax, %r8
	find
	test	%rcx, %rcx
	jz	2f
	mov	8(%rcx), %rdi
	movq	$0, 8(%rcx)
	test	%rdi, %rdi
	jz	2f
	cmp	common(%rip), %rdi
	je	2f
	now
	mov	%rax, ENDED(%rdi)
	mov	ohigh(%rip), %rax
	mov	(%r8,%rax), %rax
	mov	osp(%rip), %rdx
	sub	(%r8,%rdx), %rax
	cmp	$128, %rax
	ja	unwound
1:	movq	$3, STATE(%rdi)
2:	pop	%rdx
	pop	%rax
	ret
unwound: int3			# the profiler looks at the stack of the goroutine at %r8, whose area is at %rdi
	jmp	1b

# make: a goroutine makes another one. It is recorded, with what it has counted where the
# last such record was of something else, or of another call: it may do a part itself from
# here on. It may have to receive something once that one has done what it was made for: so
# is recorded, as often, that it receives something from the channel at %rax, or in one of
# several ways, of which %edi send. What it sends is recorded, too, for that is what it may receive an answer to; so
# is what those send that have received something: it may be the answer. From what
# channel they first do is recorded. Called with a return address less on the stack than
# the recorder is.
	.p2align 4
make:	orl	$1 << 31, %gs:MADE
	incl	%gs:MADE
	cmpl	$0, %gs:SENT
	jne	2f
	movl	$1, %gs:SENT
2:	mov	kmakes(%rip), %r11d
	mov	8(%rsp), %ecx
	cmp	%ecx, %gs:MADEBY
	mov	%ecx, %gs:MADEBY
	jne	3f
	cmp	%r11d, %gs:SCANNED
	jne	3f
	mov	kmake(%rip), %r11d
3:	jmp	*recorder(%rip)
	.p2align 4
choose:	test	%edi, %edi
	jnz	1f
	jmp	3f
	.p2align 4
receive:
	mov	%rax, %rdi
3:	mov	kfirst(%rip), %r11d
	cmpl	$0, %gs:SENT
	je	4f
	testl	$~(1 << 31), %gs:MADE
	jz	1f
	decl	%gs:MADE
	mov	kreceive(%rip), %r11d
	jmp	*recorder(%rip)
4:	movl	$1, %gs:SENT
	jmp	*recorder(%rip)
	.p2align 4
send:	cmpq	$0, %gs:RUNTIME	# one of those that are not told apart
	je	1f
	cmpl	$0, %gs:SENT
	je	1f
	cmpl	$SENDS, %gs:SENT
	ja	1f
	je	5f
	incl	%gs:SENT
	cmpl	$0, %gs:MADE
	jge	2f
	incl	%gs:MADE
2:	mov	%rax, %rdi
	mov	ksend(%rip), %r11d
	jmp	*recorder(%rip)
1:	ret
5:	rdgsbase %rdi
asked:	int3				# the profiler says so in SENT
	cmpl	$SENDS, %gs:SENT
	jne	send
	ret

# recover: a panic of the runtime.g at %rax was recovered: the profiler looks which
# functions are left.
	.p2align 4
recover:
recovered: int3
	ret

# replace: the system call %rax is about to be made, by which another program may take
# this one's place: the profiler looks which functions are left then. Not in a child, which
# nobody traces, and which counts for nobody.
	.p2align 4
replace: cmp	$EXECVE, %rax
	jne	1f
	cmpq	$0, %gs:RUNTIME
	je	1f
replaced: int3
1:	ret

# ask: the thread with the runtime.m at %rax is to get the signal %ebx. The runtime asks
# the goroutine there to leave it by the signal as well as by what functions check where
# they begin, and asks again as soon as the signal came to where it cannot. That is for
# loops without calls; most have left before the signal would be there, which stops them
# for the profiler. So at first the answer is that it came to such a place. Who has left
# since it was asked first has another turn on its processor of Go's.
	.p2align 4
ask:	cmp	$URG, %ebx
	jne	1f
	mov	ocurg(%rip), %rdx
	mov	(%rax,%rdx), %rsi
	mov	op(%rip), %rdx
	mov	(%rax,%rdx), %rdi
	test	%rdi, %rdi
	jz	1f
	mov	oid(%rip), %rdx
	mov	(%rdi,%rdx), %ecx
	cmp	$ASKS, %ecx
	jae	1f
	mov	otick(%rip), %rdx
	mov	(%rdi,%rdx), %edi
	mov	%rax, %r8
	shl	$5, %ecx
	add	pool(%rip), %rcx
	lea	TURNS(%rcx), %rcx
	now
	cmp	%rsi, (%rcx)
	jne	2f
	cmp	%rdi, 8(%rcx)
	jne	2f
	sub	16(%rcx), %rax
	cmp	$GRACE, %rax
	jb	3f
	mov	%r8, %rax
1:	ret
2:	mov	%rsi, (%rcx)
	mov	%rdi, 8(%rcx)
	mov	%rax, 16(%rcx)
3:	mov	ogen(%rip), %rdx
	lock incl (%r8,%rdx)
	mov	opending(%rip), %rdx
	movl	$0, (%r8,%rdx)
	lea	8(%rsp), %rsp
	ret

# homeward: where \at is a return address in moved code, it becomes the original one, and
# control goes on, else at \not: behind each call there that may be found on a stack is a
# no-op, whose displacement leads from there to the original. Changes \tmp.
	.macro	homeward at, tmp, not
	mov	\at, \tmp
	sub	copies(%rip), \tmp
	cmp	ncopies(%rip), \tmp
	jae	\not
	mov	(\at), \tmp
	shl	$40, \tmp
	shr	$40, \tmp
	cmp	$0x801f0f, \tmp
	jne	\not
	movslq	3(\at), \tmp
	add	\tmp, \at
	.endm

# next: the runtime goes over a stack and comes from a frame of the runtime.unwinder at
# %rax to the one that called it. Where that goes on in moved code it goes on at the
# original address from here on.
	.p2align 4
next:
	mov	olr(%rip), %rsi
	mov	(%rax,%rsi), %rdx
	mov	%rdx, %rdi
	homeward %rdx, %rcx, 1f
	mov	%rdx, (%rax,%rsi)
	mov	ofp(%rip), %rcx
	mov	(%rax,%rcx), %rcx
	cmp	%rdi, -8(%rcx)
	jne	1f
	mov	%rdx, -8(%rcx)
1:	ret

# begin: it begins at %rbx.
	.p2align 4
begin:
	mov	%rbx, %rdx
	homeward %rdx, %r9, 1f
	mov	%rdx, %rbx
1:	ret

# follow: it goes from frame pointer to frame pointer, from %rbx on, of a stack whose
# goroutine does not run, or is this one.
	.p2align 4
follow:
	mov	%rbx, %r8
1:	test	%r8, %r8
	jz	3f
	mov	8(%r8), %rdx
	homeward %rdx, %r9, 2f
	mov	%rdx, 8(%r8)
2:	mov	(%r8), %r8
	jmp	1b
3:	ret

# expand: it looks up return addresses that it found so: %rsi of them, at %rdi; in Go 1.22
# (expand22) %rbx of them, at %rax.
	.p2align 4
expand22:
	mov	%rax, %rdi
	mov	%rbx, %rsi
expand:
	mov	%rsi, %r10
1:	dec	%r10
	js	3f
	mov	(%rdi,%r10,8), %rdx
	homeward %rdx, %r9, 2f
	mov	%rdx, (%rdi,%r10,8)
2:	jmp	1b
3:	ret
