# Which loops only wait for memory to change.
	.include "fun.inc"

# A load, a test and a pause.
fun waits_flag
	mov (%rdi), %eax
	pause
	test %eax, %eax
	je waits_flag
	ret
endfun waits_flag

# A comparison with memory.
fun waits_compare
	cmpl $0, (%rdi)
	je waits_compare
	ret
endfun waits_compare

# Yielding is waiting.
fun waits_yield
	push %rbx
	mov %rdi, %rbx
yield_head:
	call sched_yield@plt
	mov (%rbx), %eax
	test %eax, %eax
	je yield_head
	pop %rbx
	ret
endfun waits_yield

# Any other call is work.
fun works_call
	push %rbx
	mov %rdi, %rbx
call_head:
	call getpid@plt
	mov (%rbx), %eax
	test %eax, %eax
	je call_head
	pop %rbx
	ret
endfun works_call

# An atomic exchange on an address that stays is a spin lock.
fun waits_lock
	mov $1, %eax
	xchg %eax, (%rdi)
	test %eax, %eax
	jne waits_lock
	ret
endfun waits_lock

# A compare-and-swap too.
fun waits_cas
	xor %eax, %eax
	lock cmpxchg %ecx, (%rdi)
	jne waits_cas
	ret
endfun waits_cas

# A search loads and leaves too, but its address moves.
fun works_search
	mov (%rdi), %eax
	add $4, %rdi
	test %eax, %eax
	jne works_search
	ret
endfun works_search

# Following a list moves the address by a load.
fun works_list
	mov (%rdi), %rdi
	test %rdi, %rdi
	jne works_list
	ret
endfun works_list

# The same by way of another register, as where the last element is kept.
fun works_list_steps
	xor %edx, %edx
	jmp steps_head
steps_next:
	mov 16(%rdi), %rax
	mov %rdi, %rdx
	test %rax, %rax
	je steps_end
	mov %rax, %rdi
steps_head:
	cmp %rbx, (%rdi)
	jne steps_next
steps_end:
	mov %rdx, %rax
	ret
endfun works_list_steps

# Counting down a register moves on by itself, though memory is loaded.
fun works_count
	mov (%rdi), %eax
	dec %ecx
	jne works_count
	ret
endfun works_count

# What was loaded afresh before does not.
fun waits_difference
	mov (%rdi), %eax
	sub %esi, %eax
	jne waits_difference
	ret
endfun waits_difference

# Masking a register is the same however often it is done.
fun waits_mask
	mov (%rdi), %edx
	and $7, %ecx
	cmp %ecx, %edx
	jne waits_mask
	ret
endfun waits_mask

# A store is work.
fun works_store
	mov (%rdi), %eax
	mov %eax, (%rsi)
	test %eax, %eax
	je works_store
	ret
endfun works_store

# Unless it keeps in its own frame what was loaded elsewhere, as unoptimised code does.
fun waits_unoptimised
	push %rbp
	mov %rsp, %rbp
unoptimised_head:
	mov (%rdi), %eax
	mov %eax, -4(%rbp)
	cmpl $0, -4(%rbp)
	je unoptimised_head
	pop %rbp
	ret
endfun waits_unoptimised

# A local counter is kept in the frame too, but comes from there: work.
fun works_local
	push %rbp
	mov %rsp, %rbp
local_head:
	mov -4(%rbp), %eax
	add $1, %eax
	mov %eax, -4(%rbp)
	cmpl $0, (%rdi)
	je local_head
	pop %rbp
	ret
endfun works_local

# What is computed by way of slots of the frame, as unoptimised code does with atomic
# loads: the address too.
fun waits_slots
	push %rbp
	mov %rsp, %rbp
slots_head:
	lea slots_flag(%rip), %rax
	mov %rax, -16(%rbp)
	mov -16(%rbp), %rax
	mov (%rax), %rax
	mov %rax, -24(%rbp)
	mov -24(%rbp), %rdx
	mov -32(%rbp), %rax
	sub %rax, %rdx
	cmp $63, %rdx
	jg slots_head
	pop %rbp
	ret
slots_flag:
endfun waits_slots

# A list is walked, its place kept in the frame.
fun works_slots
	push %rbp
	mov %rsp, %rbp
walk_head:
	mov -16(%rbp), %rax
	mov (%rax), %rax
	mov %rax, -16(%rbp)
	cmpq $0, (%rax)
	jne walk_head
	pop %rbp
	ret
endfun works_slots

# A store of what stays the same changes nothing.
fun waits_constant
	push %rbp
	mov %rsp, %rbp
constant_head:
	mov %esi, -4(%rbp)
	cmpl $0, (%rdi)
	je constant_head
	pop %rbp
	ret
endfun waits_constant

# Without a load nothing is waited for.
fun works_nothing
	and $3, %ecx
	jne works_nothing
	ret
endfun works_nothing

# A string instruction is work.
fun works_string
	cmpl $0, (%rdi)
	rep stosb
	je works_string
	ret
endfun works_string

# Only the waiting way back of two is one that waits: the outer loop works.
fun waits_within
within_head:
	mov (%rdi), %eax
	test %eax, %eax
	je within_head
	incl (%rsi)
	dec %ecx
	jne within_head
	ret
endfun waits_within

# A loaded byte, extended, and set by a condition.
fun waits_byte
	movzbl (%rdi), %eax
	test %al, %al
	sete %dl
	or %edx, %edx
	jne waits_byte
	ret
endfun waits_byte

# A register that is cleared by itself.
fun waits_clear
	xor %ecx, %ecx
	cmp %ecx, (%rdi)
	je waits_clear
	ret
endfun waits_clear

# A negated register moves.
fun works_negate
	cmpl $0, (%rdi)
	neg %ecx
	js works_negate
	ret
endfun works_negate

# Vector arithmetic on itself leaves the general registers alone.
fun waits_vector
	vpaddd %xmm0, %xmm1, %xmm1
	cmpl $0, (%rdi)
	je waits_vector
	ret
endfun waits_vector

# An address that is loaded each time from one that stays: flag[mine], where
# others might change mine.
fun waits_element
	lock orq $0, (%rsp)
	movslq 4(%rcx), %rax
	lea (%rdx,%rax,4), %rsi
	cmpl $1, (%rsi)
	je waits_element
	ret
endfun waits_element

# A list's next element, by way of another register.
fun works_list_copied
	mov %rcx, %rax
	cmpl $1, (%rax)
	mov 8(%rax), %rcx
	je works_list_copied
	ret
endfun works_list_copied

# As unoptimised code walks a list: where it stands is in its frame.
fun works_framed_list
	push %rbp
	mov %rsp, %rbp
frame_head:
	mov -8(%rbp), %rax
	mov 8(%rax), %rdx
	mov %rdx, -8(%rbp)
	cmpl $1, 16(%rax)
	je frame_head
	pop %rbp
	ret
endfun works_framed_list

# Tickets that are drawn tell where to look next.
fun works_tickets
	mov $1, %eax
	lock xadd %rax, (%rdi)
	cmpl $1, (%rsi,%rax,4)
	je works_tickets
	ret
endfun works_tickets

# Something else is counted meanwhile, which does not decide when to go on.
fun counts_meanwhile
	add $1, %rcx
	mov (%rdi), %eax
	cltd
	idivl (%rsi)
	cmp %edx, %r8d
	jne counts_meanwhile
	ret
endfun counts_meanwhile

# The same in the frame, as unoptimised code does it.
fun counts_in_slots
	push %rbp
	mov %rsp, %rbp
counts_head:
	mov -8(%rbp), %rax
	add $1, %rax
	mov %rax, -8(%rbp)
	mov (%rdi), %eax
	mov %eax, -12(%rbp)
	cmpl $0, -12(%rbp)
	je counts_head
	pop %rbp
	ret
endfun counts_in_slots

# What is counted decides as well: it ends by itself.
fun counts_to_bound
	add $1, %rcx
	cmp $1000, %rcx
	je 1f
	mov (%rdi), %eax
	test %eax, %eax
	je counts_to_bound
1:	ret
endfun counts_to_bound

# What decides is loaded at the end of the round before.
fun loads_before
	test %eax, %eax
	jne 1f
	add $1, %rcx
	mov (%rdi), %eax
	jmp loads_before
1:	ret
endfun loads_before

# A search that turns back moves.
fun halves
	cmp %rsi, %rdi
	jae 1f
	lea (%rdi,%rsi), %rax
	shr $1, %rax
	cmp %rdx, (%r8,%rax,8)
	cmovb %rax, %rdi
	cmovae %rax, %rsi
	jmp halves
1:	ret
endfun halves

# So does what is compared as a floating-point number, as far as is known.
fun converges
	mulsd %xmm1, %xmm0
	comisd (%rdi), %xmm0
	ja converges
	ret
endfun converges
