# A jump through a pointer is a tail call where the stack is as high as at the entry; else it is a switch that was not understood.
	.include "fun.inc"

# Nothing was pushed: a tail call.
fun at_entry
	jmp *%rdi
endfun at_entry

# Through memory: one too.
fun through_memory
	mov (%rdi), %rax
	jmp *8(%rax)
endfun through_memory

# What was pushed is popped again.
fun balanced
	push %rbx
	mov %rdi, %rbx
	mov %rbx, %rax
	pop %rbx
	jmp *%rax
endfun balanced

# What was pushed is still there: skipped.
fun pushed
	push %rbx
	jmp *%rax
endfun pushed

# A frame is taken down by add …
fun added
	sub $24, %rsp
	mov %rdi, (%rsp)
	add $24, %rsp
	jmp *%rax
endfun added

# … however large …
fun added_large
	sub $1024, %rsp
	mov %rdi, (%rsp)
	add $1024, %rsp
	jmp *%rax
endfun added_large

# … and not by half.
fun added_half
	sub $24, %rsp
	add $16, %rsp
	jmp *%rax
endfun added_half

# lea does the same.
fun by_lea
	lea -24(%rsp), %rsp
	lea 24(%rsp), %rsp
	jmp *%rax
endfun by_lea

# leave goes back to the caller's frame.
fun by_leave
	push %rbp
	mov %rsp, %rbp
	sub $64, %rsp
	leave
	jmp *%rax
endfun by_leave

# Aligned, the height is not known any more …
fun aligned
	push %rbp
	mov %rsp, %rbp
	and $-32, %rsp
	jmp *%rax
endfun aligned

# … until leave.
fun aligned_left
	push %rbp
	mov %rsp, %rbp
	and $-32, %rsp
	leave
	jmp *%rax
endfun aligned_left

# lea from the frame pointer finds it again.
fun by_frame_pointer
	push %rbp
	mov %rsp, %rbp
	push %rbx
	sub %rdi, %rsp
	lea -8(%rbp), %rsp
	pop %rbx
	pop %rbp
	jmp *%rax
endfun by_frame_pointer

# A stack that grows by a variable is not known.
fun variable
	sub %rdi, %rsp
	jmp *%rax
endfun variable

# Another stack is not known.
fun other_stack
	mov %rdi, %rsp
	jmp *%rax
endfun other_stack

# Nor popped …
fun popped_stack
	pop %rsp
	jmp *%rax
endfun popped_stack

# … nor computed.
fun computed_stack
	lea (%rdi, %rsi), %rsp
	jmp *%rax
endfun computed_stack

# Constants and memory are pushed too.
fun pushes
	push $1
	push $1000
	push (%rdi)
	pop (%rdi)
	pop %rcx
	pop %rcx
	jmp *%rax
endfun pushes

# A vector or two-byte instruction leaves the stack alone.
fun untouched
	vmovd %edi, %xmm0
	movzbl (%rsp), %ecx
	jmp *%rax
endfun untouched

# On one of two ways only: the first way that comes there counts.
fun two_ways
	test %edi, %edi
	je two_ways_end
	push %rbx
	pop %rbx
two_ways_end:
	jmp *%rax
endfun two_ways

# A label whose address the function's own code takes may be jumped to: skipped.
fun goes_to_label
	lea label_a(%rip), %rcx
	jmp *%rax
label_a:
	ret
endfun goes_to_label

# One whose address the data holds too: a computed goto.
fun goes_to_data
	mov (%rdi), %rax
	jmp *%rax
data_label:
	ret
endfun goes_to_data

# Where a frame is taken down right before, no label of the function is meant.
fun label_but_tail
	push %rbx
	lea tail_label(%rip), %rbx
	mov %rdi, %rax
	pop %rbx
	jmp *%rax
tail_label:
	ret
endfun label_but_tail

# The function's own beginning is no label.
fun own_address
	lea own_address(%rip), %rcx
	jmp *%rax
endfun own_address

# Compared with a table's base, a known jump is not asked about.
fun known_table
	push %rbx
	cmp $1, %edi
	ja known_a
	mov %edi, %edi
	lea known_table_offsets(%rip), %rdx
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
known_a:
	pop %rbx
	ret
known_b:
	pop %rbx
	ret
endfun known_table

# What was kept may be any label whose address is taken.
fun kept_label
	push %rbx
	lea kept_a(%rip), %rcx
	mov %rcx, (%rdi)
	lea kept_b(%rip), %rcx
	mov %rcx, 8(%rdi)
	jmp *(%rsi)
kept_a:
	pop %rbx
	ret
kept_b:
	inc %eax
	pop %rbx
	ret
endfun kept_label

# But not what is counted from one.
fun counts_from_label
	push %rbx
	lea counted_a(%rip), %rcx
	mov %rcx, (%rdi)
	lea counted_b(%rip), %rcx
	lea (%rcx,%rsi,4), %rcx
	jmp *%rcx
counted_a:
	pop %rbx
	ret
counted_b:
	inc %eax
	pop %rbx
	ret
endfun counts_from_label

	.section .rodata
	.balign 8
	.quad 0
known_table_offsets:
	.long known_a - known_table_offsets, known_b - known_table_offsets
	.data
	.balign 8
	.quad data_label
