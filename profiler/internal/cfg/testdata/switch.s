# How compilers write a switch, and what bounds its table.
	.include "fun.inc"
# cases NAME: three cases and a default, which is where control goes above the bound.
	.macro cases name
\name\()_a:
	mov $1, %eax
	ret
\name\()_b:
	mov $2, %eax
	ret
\name\()_c:
	mov $3, %eax
	ret
\name\()_default:
	xor %eax, %eax
	ret
	.endm
# offsets NAME: its table, as offsets from the table's beginning. What follows
# leads to the default: an entry that no index selects, if there is a bound.
	.macro offsets name
	.section .rodata
	.balign 4
\name\()_table:
	.long \name\()_a - \name\()_table, \name\()_b - \name\()_table, \name\()_c - \name\()_table
	.long \name\()_default - \name\()_table
	.text
	.endm
# dispatch NAME: the jump through it by %rdi.
	.macro dispatch name
	lea \name\()_table(%rip), %rdx
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
	.endm

# gcc: offsets from the table, bound by an unsigned comparison of the index itself.
fun gcc
	cmp $2, %edi
	ja gcc_default
	mov %edi, %edi
	dispatch gcc
	cases gcc
endfun gcc
	offsets gcc

# clang: the table's address is taken before the comparison's jump, and the bound stands before it.
fun clang
	cmp $2, %edi
	ja clang_default
	mov %edi, %ecx
	lea clang_table(%rip), %rdx
	movslq (%rdx, %rcx, 4), %rcx
	add %rdx, %rcx
	jmp *%rcx
	cases clang
endfun clang
	offsets clang

# With branch protection the jump has a notrack prefix.
fun notrack
	cmp $2, %edi
	ja notrack_default
	mov %edi, %edi
	lea notrack_table(%rip), %rdx
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	notrack jmp *%rax
	cases notrack
endfun notrack
	offsets notrack

# A jump if not below excludes the number itself.
fun not_below
	cmp $3, %edi
	jae not_below_default
	mov %edi, %edi
	dispatch not_below
	cases not_below
endfun not_below
	offsets not_below

# The bound is of a register that the index was copied from.
fun copied
	cmp $2, %esi
	ja copied_default
	mov %esi, %edi
	dispatch copied
	cases copied
endfun copied
	offsets copied

# The bound is of a byte that the index was extended from.
fun extended
	cmp $2, %sil
	ja extended_default
	movzbl %sil, %edi
	dispatch extended
	cases extended
endfun extended
	offsets extended

# The comparison with the accumulator has an opcode of its own.
fun accumulator
	cmp $2, %eax
	ja accumulator_default
	mov %eax, %edi
	lea accumulator_table(%rip), %rdx
	movslq (%rdx, %rdi, 4), %rcx
	add %rdx, %rcx
	jmp *%rcx
	cases accumulator
endfun accumulator
	offsets accumulator

# So has that of its byte.
fun accumulator_byte
	cmp $2, %al
	ja accumulator_byte_default
	movzbl %al, %edi
	dispatch accumulator_byte
	cases accumulator_byte
endfun accumulator_byte
	offsets accumulator_byte

# The bound is of the memory that the index was read from.
fun in_memory
	cmpl $2, 8(%rsi)
	ja in_memory_default
	mov 8(%rsi), %edi
	dispatch in_memory
	cases in_memory
endfun in_memory
	offsets in_memory

# The same of a global variable.
fun in_variable
	cmpl $2, variable(%rip)
	ja in_variable_default
	mov variable(%rip), %edi
	dispatch in_variable
	cases in_variable
endfun in_variable
	offsets in_variable

# Between the comparison and the jump may stand what leaves the flags alone.
fun through_move
	cmp $2, %edi
	mov %rcx, %rsi
	ja through_move_default
	mov %edi, %edi
	dispatch through_move
	cases through_move
endfun through_move
	offsets through_move

# Another place in memory is no bound: entries are read up to the next table.
fun other_memory
	cmpl $2, 16(%rsi)
	ja other_memory_default
	mov 8(%rsi), %edi
	dispatch other_memory
	cases other_memory
endfun other_memory
	offsets other_memory

# Nor is a comparison of another width.
fun other_width
	cmpb $2, 8(%rsi)
	ja other_width_default
	mov 8(%rsi), %edi
	dispatch other_width
	cases other_width
endfun other_width
	offsets other_width

# Nor is memory that may have been written since.
fun stored_between
	cmpl $2, 8(%rsi)
	ja stored_between_default
	movl $7, (%rcx)
	mov 8(%rsi), %edi
	dispatch stored_between
	cases stored_between
endfun stored_between
	offsets stored_between

# Nor is memory whose address has changed since.
fun base_changed
	cmpl $2, 8(%rsi)
	ja base_changed_default
	mov %rcx, %rsi
	mov 8(%rsi), %edi
	dispatch base_changed
	cases base_changed
endfun base_changed
	offsets base_changed

# Nor is the comparison of another register.
fun other_register
	cmp $2, %ecx
	ja other_register_default
	mov %edi, %edi
	dispatch other_register
	cases other_register
endfun other_register
	offsets other_register

# ah is not rsp.
fun high_byte
	cmp $2, %ah
	ja high_byte_default
	lea high_byte_table(%rip), %rdx
	movslq (%rdx, %rsi, 4), %rax
	add %rdx, %rax
	jmp *%rax
	cases high_byte
endfun high_byte
	offsets high_byte

# Nor is that of an index that was changed since.
fun index_changed
	cmp $1, %edi
	ja index_changed_default
	inc %edi
	mov %edi, %edi
	dispatch index_changed
	cases index_changed
endfun index_changed
	offsets index_changed

# Nor is one whose jump is signed: below zero anything could be selected.
fun signed_jump
	cmp $2, %edi
	jg signed_jump_default
	mov %edi, %edi
	dispatch signed_jump
	cases signed_jump
endfun signed_jump
	offsets signed_jump

# Nor is one whose flags were overwritten before the jump.
fun flags_lost
	cmp $2, %edi
	test %esi, %esi
	ja flags_lost_default
	mov %edi, %edi
	dispatch flags_lost
	cases flags_lost
endfun flags_lost
	offsets flags_lost

# Nor is one with a negative number.
fun negative
	cmp $-1, %edi
	ja negative_default
	mov %edi, %edi
	dispatch negative
	cases negative
endfun negative
	offsets negative

# Nor is one before a call.
fun call_between
	push %rdi
	cmp $2, %edi
	ja call_between_default
	call gcc
	mov 8(%rsi), %edi
	dispatch call_between
	cases call_between
endfun call_between
	offsets call_between

# A comparison that is a subtraction is none.
fun subtracted
	sub $2, %edi
	ja subtracted_default
	mov %edi, %edi
	dispatch subtracted
	cases subtracted
endfun subtracted
	offsets subtracted

# gcc -O0: the index goes through memory, and is multiplied before.
fun unoptimised
	mov %edi, -4(%rsp)
	cmpl $2, -4(%rsp)
	ja unoptimised_default
	mov -4(%rsp), %eax
	lea 0(, %rax, 4), %rdx
	lea unoptimised_table(%rip), %rax
	mov (%rdx, %rax), %eax
	cltq
	lea unoptimised_table(%rip), %rdx
	add %rdx, %rax
	jmp *%rax
	cases unoptimised
endfun unoptimised
	offsets unoptimised

# The table's address may be taken before the comparison, with a conditional jump between.
fun early_lea
	lea early_lea_table(%rip), %rdx
	cmp $2, %edi
	ja early_lea_default
	mov %edi, %edi
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
	cases early_lea
endfun early_lea
	offsets early_lea

# Its register may live through a call, if calls leave it alone …
fun kept_over_call
	push %rbx
	lea kept_over_call_table(%rip), %rbx
	mov %edi, %edi
	call gcc
	cmp $2, %eax
	ja kept_over_call_default
	mov %eax, %edi
	movslq (%rbx, %rdi, 4), %rax
	add %rbx, %rax
	jmp *%rax
	cases kept_over_call
endfun kept_over_call
	offsets kept_over_call

# … else every table whose address is taken into that register may be meant.
fun lost_in_call
	sub $8, %rsp
	lea lost_in_call_table(%rip), %rdx
	call gcc
	cmp $2, %eax
	ja lost_in_call_default
	mov %eax, %edi
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
	cases lost_in_call
endfun lost_in_call
	offsets lost_in_call

# A bound of a byte is unsigned: 129 entries here, which the table has not; one of them leads elsewhere: skipped.
fun byte_table
	cmp $-128, %sil
	ja byte_table_default
	movzbl %sil, %edi
	dispatch byte_table
	cases byte_table
endfun byte_table
	offsets byte_table

	.data
	.balign 4
variable:
	.long 0
	.section .rodata
	.balign 4
	.long 0x7fffffff
