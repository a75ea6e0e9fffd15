# Which jumps by a table may read another one in its stead.
	.include "fun.inc"
	.macro cases name
\name\()_a:
	mov $1, %eax
	ret
\name\()_b:
	mov $2, %eax
	ret
	.endm
	.macro offsets name, section=.rodata
	.section \section, "a"
	.balign 8
\name\()_table:
	.long \name\()_a - \name\()_table, \name\()_b - \name\()_table
	.text
	.endm
	.macro addresses name, section=.data.rel.ro
	.section \section, "aw"
	.balign 8
\name\()_table:
	.quad \name\()_a, \name\()_b, 0
	.text
	.endm

# Offsets from the table, named right before.
fun near
	and $1, %edi
	lea near_table(%rip), %rdx
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
	cases near
endfun near
	offsets near

# The table is named before a loop, in a register that calls keep.
fun before
	push %rbx
	lea before_table(%rip), %rbx
before_again:
	call near
	and $1, %eax
	movslq (%rbx, %rax, 4), %rax
	add %rbx, %rax
	jmp *%rax
before_a:
	mov $3, %eax
	jmp before_again
before_b:
	xor %eax, %eax
	pop %rbx
	ret
endfun before
	offsets before

# Addresses of labels, which nobody writes once they are relocated.
fun labels
	and $1, %edi
	lea labels_table(%rip), %rdx
	mov (%rdx, %rdi, 8), %rax
	jmp *%rax
	cases labels
endfun labels
	addresses labels

# Anybody may write these.
fun written
	and $1, %edi
	lea written_table(%rip), %rdx
	mov (%rdx, %rdi, 8), %rax
	jmp *%rax
	cases written
endfun written
	addresses written, .data

# What was loaded is read again.
fun readagain
	and $1, %edi
	lea readagain_table(%rip), %rdx
	mov (%rdx, %rdi, 8), %rax
	jmp *%rax
readagain_a:
	mov %rax, %rcx
	mov $1, %eax
	ret
readagain_b:
	mov $2, %eax
	ret
endfun readagain
	addresses readagain

# What was loaded is what the function returns.
fun returned
	and $1, %edi
	lea returned_table(%rip), %rdx
	mov (%rdx, %rdi, 8), %rax
	jmp *%rax
returned_a:
	mov $1, %ecx
	ret
returned_b:
	mov $2, %eax
	ret
endfun returned
	addresses returned

# It may be one table or the other.
fun either
	test %esi, %esi
	lea either_table(%rip), %rdx
	je either_on
	lea either_other(%rip), %rdx
either_on:
	and $1, %edi
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
	cases either
endfun either
	offsets either
	.section .rodata, "a"
either_other:
	.long either_b - either_other, either_a - either_other
	.text

# A call may change the register that the table is named by.
fun lost
	lea lost_table(%rip), %rdx
	call near
	and $1, %eax
	movslq (%rdx, %rax, 4), %rax
	add %rdx, %rax
	jmp *%rax
	cases lost
endfun lost
	offsets lost

# The sum is with something else.
fun other
	and $1, %edi
	lea other_table(%rip), %rdx
	mov %rdx, %rcx
	movslq (%rdx, %rdi, 4), %rax
	add %rcx, %rax
	jmp *%rax
	cases other
endfun other
	offsets other
