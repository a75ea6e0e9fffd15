# Where threads may meet: what does nothing but synchronise.
	.include "fun.inc"

# Threads are made here, else nothing is looked for.
fun makes
	sub $8, %rsp
	call pthread_create@plt
	add $8, %rsp
	ret
endfun makes

# Work, which is no part of a meeting.
fun toil
	xor %eax, %eax
toil_loop:
	add %rdi, %rax
	imul %rax, %rdi
	dec %rsi
	jne toil_loop
	ret
endfun toil

# A function that only counts itself in and waits is a region as a whole.
fun meets
	mov $1, %eax
	lock xadd %eax, here(%rip)
	cmp $7, %eax
	jne meets_wait
	movl $0, here(%rip)
	incl turn(%rip)
	ret
meets_wait:
	pause
	mov turn(%rip), %eax
	cmp %eax, %edi
	je meets_wait
	ret
endfun meets

# It is so for those who call it between work.
fun calls_meets
	push %rbx
	mov $9, %ebx
calls_loop:
	mov %rbx, %rdi
	call toil
	mov turn(%rip), %edi
	call meets
	dec %rbx
	jne calls_loop
	pop %rbx
	ret
endfun calls_meets

# Inlined, the region ends where the loop goes round, in each of its copies.
fun inlined
	push %rbx
	mov $9, %ebx
inlined_loop:
	mov %rbx, %rdi
	call toil
	mov turn(%rip), %edi
	mov $1, %eax
inlined_count:
	lock xadd %eax, here(%rip)
	cmp $7, %eax
	jne inlined_wait
	incl turn(%rip)
	dec %rbx
	jne inlined_loop
inlined_out:
	pop %rbx
	ret
inlined_wait:
	mov turn(%rip), %eax
	cmp %eax, %edi
	je inlined_wait
	dec %rbx
	jne inlined_loop
	jmp inlined_out
endfun inlined

# Several calls that wait are one region if nothing else stands between them.
fun turnstiles
	push %rbx
	mov %rdi, %rbx
	call toil
	mov %rbx, %rdi
turnstiles_first:
	call sem_wait@plt
	mov %rbx, %rdi
	call sem_post@plt
	mov %rbx, %rdi
	call sem_wait@plt
	mov %rbx, %rdi
	call sem_post@plt
	mov %rbx, %rdi
turnstiles_work:
	call toil
	pop %rbx
	ret
endfun turnstiles

# What only waits lets nobody go on: it is half of something.
fun only_waits
	push %rbx
	call toil
only_wait:
	mov turn(%rip), %eax
	test %eax, %eax
	je only_wait
	call toil
	pop %rbx
	ret
endfun only_waits

# Who takes work by an atomic counter does not wait.
fun takes_work
	push %rbx
takes_loop:
	mov $1, %eax
	lock xadd %eax, here(%rip)
	cmp $100, %eax
	jg takes_end
	mov %eax, %edi
	call toil
	jmp takes_loop
takes_end:
	pop %rbx
	ret
endfun takes_work

# Who looks for something along a list waits for nobody.
fun searches
	push %rbx
	mov %rdi, %rbx
	call toil
	mov here(%rip), %rdi
	xor %edx, %edx
	jmp searches_head
searches_next:
	mov 16(%rdi), %rax
	mov %rdi, %rdx
	test %rax, %rax
	je searches_end
	mov %rax, %rdi
searches_head:
	cmp %rbx, (%rdi)
	jne searches_next
searches_end:
	call toil
	pop %rbx
	ret
endfun searches

# A futex by its own instruction: waiting; and waking, which is none.
fun sleeps
	push %rbx
	call toil
sleeps_count:
	lock incl here(%rip)
	mov $202, %eax
	lea turn(%rip), %rdi
	mov $1, %esi
	syscall
	mov $202, %eax
	xor %esi, %esi
	syscall
	call toil
	pop %rbx
	ret
endfun sleeps

# Only waking.
fun wakes
	push %rbx
	call toil
	lock incl turn(%rip)
	mov $202, %eax
	lea turn(%rip), %rdi
	mov $129, %esi
	syscall
	call toil
	pop %rbx
	ret
endfun wakes

# By syscall(2); read waits only beside something that others see.
fun sleeps_by_call
	push %rbx
	call toil
	lock incl here(%rip)
	lea turn(%rip), %rsi
	mov $202, %edi
	xor %edx, %edx
	call syscall@plt
	call toil
	call read@plt
	call toil
	pop %rbx
	ret
endfun sleeps_by_call

# A wake and the wait behind it by one call, which two ways lead to: the way that
# waits is what the user sees.
fun merged
	push %rbx
	call toil
	movl $1, turn(%rip)
	mov $202, %edi
	mov $129, %edx
merged_call:
	lea turn(%rip), %rsi
	call syscall@plt
	mov here(%rip), %ecx
	test %ecx, %ecx
	jle merged_work
	mov $202, %edi
merged_waits:
	mov $128, %edx
	jmp merged_call
merged_work:
	call toil
	pop %rbx
	ret
endfun merged

# Two wakes are no wait.
fun merged_wakes
	push %rbx
	call toil
	mov $202, %edi
	mov $129, %edx
	test %ebx, %ebx
	je merged_wake
	mov $202, %edi
	mov $1, %edx
merged_wake:
	lea turn(%rip), %rsi
	call syscall@plt
	call toil
	pop %rbx
	ret
endfun merged_wakes

# What only waits, for those who have let others go on.
fun waits_turn
	pause
	mov turn(%rip), %eax
	cmp %eax, %edi
	je waits_turn
	ret
endfun waits_turn

# Rounds that were unrolled: the last one waits by a jump out of the function, and
# is left where that returns.
fun unrolled
	push %rbx
	call toil
	lock incl here(%rip)
	mov turn(%rip), %edi
	call waits_turn
	call toil
unrolled_last:
	lock incl here(%rip)
	mov turn(%rip), %edi
	pop %rbx
	jmp waits_turn
endfun unrolled

# Trying for a lock again and again is waiting; a jump at the end is a call.
fun tries
	push %rbx
	call toil
tries_loop:
	lea here(%rip), %rdi
	call pthread_mutex_trylock@plt
	test %eax, %eax
	jne tries_loop
	lea here(%rip), %rdi
	call pthread_mutex_unlock@plt
	pop %rbx
	jmp meets
endfun tries

# Unoptimised code keeps what it loads in its frame; an iterator moves on.
fun unoptimised
	push %rbp
	mov %rsp, %rbp
	lock incl here(%rip)
unoptimised_wait:
	lea turn(%rip), %rax
	mov %rax, -16(%rbp)
	mov -16(%rbp), %rax
	mov (%rax), %eax
	mov %eax, -20(%rbp)
	mov -20(%rbp), %eax
	cmp %eax, -24(%rbp)
	je unoptimised_wait
	pop %rbp
	ret
endfun unoptimised

# A search.
fun unoptimised_search
	push %rbp
	mov %rsp, %rbp
	lock incl here(%rip)
search_loop:
	mov -16(%rbp), %rax
	mov (%rax), %rax
	mov %rax, -16(%rbp)
	mov -16(%rbp), %rax
	cmpl $5, 8(%rax)
	jne search_loop
	pop %rbp
	ret
endfun unoptimised_search

# Nor is it a wait where a number that a look leaves in the frame is what the next one
# begins with: a counter up to a bound in an array, or where in an array it is.
fun unoptimised_bound
	push	%rbp
	mov	%rsp, %rbp
	mov	%edi, -4(%rbp)
	movl	$0, -8(%rbp)
unoptimised_bound_look:
	mov	-8(%rbp), %eax
	mov	here(%rip), %rcx
	movslq	-4(%rbp), %rdx
	cmp	(%rcx,%rdx,4), %eax
	jge	unoptimised_bound_out
	mov	-8(%rbp), %eax
	add	$1, %eax
	mov	%eax, -8(%rbp)
	jmp	unoptimised_bound_look
unoptimised_bound_out:
	pop	%rbp
	ret
endfun unoptimised_bound

fun unoptimised_root
	push	%rbp
	mov	%rsp, %rbp
	mov	%edi, -4(%rbp)
unoptimised_root_look:
	mov	here(%rip), %rax
	movslq	-4(%rbp), %rcx
	mov	(%rax,%rcx,4), %eax
	cmp	-4(%rbp), %eax
	je	unoptimised_root_out
	mov	here(%rip), %rax
	movslq	-4(%rbp), %rcx
	mov	(%rax,%rcx,4), %eax
	mov	%eax, -4(%rbp)
	jmp	unoptimised_root_look
unoptimised_root_out:
	pop	%rbp
	ret
endfun unoptimised_root

# Who waits is counted meanwhile, at a place that it finds again in its frame: one who
# looks at what it lent others, and waits until there is nothing to wait for, is idle
# all the while.
fun counted
	push %rbx
	push %rbp
	sub $32, %rsp
	lea here(%rip), %rbp
counted_round:
	call toil
	jmp counted_look
counted_wait:
	mov %rbp, (%rsp)
	lock addl $1, (%rbp)
	lea 24(%rsp), %rdi
	mov $128, %esi
	call waits_by_kernel
	mov (%rsp), %rax
	lock subl $1, (%rax)
counted_look:
	mov 24(%rsp), %ebx
	and $7, %ebx
	jne counted_wait
	call toil
	jmp counted_round
endfun counted

# What is taken off another place than what was added to is handed out: each wait is one.
fun handed
	push %rbx
	push %rbp
	sub $32, %rsp
	lea here(%rip), %rbp
handed_round:
	call toil
	jmp handed_look
handed_wait:
	mov %rbp, (%rsp)
	lock addl $1, (%rbp)
	lea 24(%rsp), %rdi
	mov $128, %esi
	call waits_by_kernel
	mov 8(%rsp), %rax
	lock subl $1, (%rax)
handed_look:
	mov 24(%rsp), %ebx
	and $7, %ebx
	jne handed_wait
	call toil
	jmp handed_round
endfun handed

# A function that counts itself while it waits takes nothing.
fun counts_itself
	push %rbp
	mov %rdi, %rbp
	lock incl (%rbp)
	mov $128, %esi
	call waits_by_kernel
	lock decl (%rbp)
	pop %rbp
	ret
endfun counts_itself

fun calls_counts_itself
	push %rbx
	sub $32, %rsp
itself_round:
	call toil
	jmp itself_look
itself_wait:
	lea 24(%rsp), %rdi
	call counts_itself
itself_look:
	mov 24(%rsp), %ebx
	and $7, %ebx
	jne itself_wait
	call toil
	jmp itself_round
endfun calls_counts_itself

fun waits_by_kernel
	mov $202, %eax
	xor %r10d, %r10d
	syscall
	ret
endfun waits_by_kernel

# Results that are collected one by one, by a loop that was unrolled: one wait. Behind a
# wake it is another one.
fun collects
	push %rbx
	push %rbp
collects_round:
	call toil
	call write@plt
collects_first:
	call read@plt
	test %eax, %eax
	js collects_fails
	call read@plt
	test %eax, %eax
	js collects_fails
	call read@plt
	test %eax, %eax
	js collects_fails
	call write@plt
collects_again:
	call read@plt
	call read@plt
	call toil
	jmp collects_round
collects_fails:
	pop %rbp
	pop %rbx
	ret
endfun collects

# Who puts a result where others may look for it lets them go on, maybe.
fun collects_and_tells
	push %rbx
	call toil
tells_first:
	call read@plt
	mov %eax, turn(%rip)
tells_again:
	call read@plt
	call toil
	pop %rbx
	ret
endfun collects_and_tells

# A barrier that is a local variable, lent to other threads: what it waits for lies in
# its own frame, and the loop does not change it.
fun lends
	push %rbx
	sub $32, %rsp
lends_round:
	call toil
	mov 16(%rsp), %ebx
	lock incl 24(%rsp)
lends_wait:
	pause
	mov 16(%rsp), %eax
	cmp %eax, %ebx
	je lends_wait
	jmp lends_round
endfun lends

# A bound that lies in the frame is none: the loop counts, and lets time pass.
fun counts_to
	push %rbx
	sub $32, %rsp
counts_to_round:
	call toil
	xor %ebx, %ebx
	lock incl 24(%rsp)
counts_to_wait:
	pause
	inc %ebx
	cmp 16(%rsp), %ebx
	jne counts_to_wait
	jmp counts_to_round
endfun counts_to

# Rust's barrier, inlined as a whole: a condition is waited for in a loop, by a futex, and
# who waits gives the lock back, which wakes one that waits for it. That is no more a wake
# of those that meet than pthread_mutex_unlock is.
fun gives_back
	push %rbx
	push %rbp
	mov $9, %ebx
gives_back_round:
	mov %rbx, %rdi
	call toil
	mov $1, %ecx
gives_back_take:
	xor %eax, %eax
	lock cmpxchg %ecx, lock(%rip)
	jne gives_back_take
	incl here(%rip)
	cmpl $8, here(%rip)
	jae gives_back_last
gives_back_again:
	mov turn(%rip), %ebp
	xor %eax, %eax
	xchg %eax, lock(%rip)
	cmp $2, %eax
	jne gives_back_wait
	mov $202, %edi
	lea lock(%rip), %rsi
	mov $129, %edx
	mov $1, %ecx
	xor %eax, %eax
	call syscall@plt
gives_back_wait:
	mov $202, %edi
	lea turn(%rip), %rsi
	mov $137, %edx
	mov %ebp, %ecx
	xor %r8d, %r8d
	xor %eax, %eax
	call syscall@plt
	mov $1, %ecx
	xor %eax, %eax
	lock cmpxchg %ecx, lock(%rip)
	cmp turn(%rip), %ebp
	je gives_back_again
	jmp gives_back_free
gives_back_last:
	movl $0, here(%rip)
	lock incl turn(%rip)
	mov $202, %edi
	lea turn(%rip), %rsi
	mov $129, %edx
	mov $0x7fffffff, %ecx
	xor %eax, %eax
	call syscall@plt
gives_back_free:
	xor %eax, %eax
	xchg %eax, lock(%rip)
	dec %rbx
	jne gives_back_round
	pop %rbp
	pop %rbx
	ret
endfun gives_back

	.bss
	.globl here
here:	.long 0
turn:	.long 0
lock:	.long 0
