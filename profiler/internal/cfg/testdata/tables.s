# What a table can hold, and where one ends.
	.include "fun.inc"
	.macro dispatch table
	lea \table(%rip), %rdx
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
	.endm

# A function that is larger than all others here, so that nobody takes it for a part.
fun elsewhere
	.fill 100, 2, 0xc0ff
elsewhere_in:
	ret
endfun elsewhere

# Without a bound a table goes on to the next one whose address the code takes.
fun unbound
	dispatch unbound_table
unbound_a:
	ret
unbound_b:
	ret
unbound_not:
	ret
endfun unbound

fun next_table
	lea unbound_end(%rip), %rax
	ret
endfun next_table

# An entry that leads elsewhere is passed over: it need not be the end.
fun holes
	dispatch holes_table
holes_a:
	ret
holes_b:
	ret
endfun holes

# But 65 of them in a row are the end.
fun far
	dispatch far_table
far_a:
	ret
far_b:
	ret
endfun far

# An entry of a bound table that leaves the function: skipped.
fun leaves
	cmp $1, %edi
	ja leaves_a
	mov %edi, %edi
	dispatch leaves_table
leaves_a:
	ret
endfun leaves

# clang writes the end of the function for what never happens.
fun unreachable
	cmp $2, %edi
	ja unreachable_a
	mov %edi, %edi
	dispatch unreachable_table
unreachable_a:
	ret
unreachable_b:
	nop
	ret
unreachable_end:
endfun unreachable
	nop

# Where the next function begins there, it is taken for a part: a target too many.
fun adjacent
	cmp $1, %edi
	ja adjacent_a
	mov %edi, %edi
	dispatch adjacent_table
adjacent_a:
	ret
endfun adjacent

fun next_to_it
	nop
	ret
endfun next_to_it

# An entry may lead into a small neighbour, which is then a part, entered at its start by itself too.
fun neighbourly
	cmp $1, %edi
	ja neighbourly_a
	mov %edi, %edi
	dispatch neighbourly_table
neighbourly_a:
	ret
endfun neighbourly
	nop

fun neighbour
	nop
neighbour_in:
	ret
endfun neighbour

# An entry may lead into a cold part, which becomes the function's.
fun partly
	cmp $1, %edi
	ja partly_a
	mov %edi, %edi
	dispatch partly_table
partly_a:
	ret
endfun partly

localfun partly.cold
	nop
	ret
endfun partly.cold

# A switch within a case of another one.
fun within
	cmp $1, %edi
	ja within_a
	mov %edi, %edi
	dispatch within_table
within_a:
	ret
within_b:
	mov %esi, %edi
	cmp $1, %edi
	ja within_a
	mov %edi, %edi
	dispatch within_inner_table
within_c:
	ret
within_d:
	nop
	ret
endfun within

# A table of addresses is bound by the index of the jump itself.
fun wide
	cmp $1, %edi
	ja wide_a
	mov %edi, %edi
	lea wide_table(%rip), %rdx
	jmp *(%rdx, %rdi, 8)
wide_a:
	ret
wide_b:
	ret
wide_not:
	ret
endfun wide

# Without a bound one ends where an address leads elsewhere.
fun wide_unbound
	lea wide_unbound_table(%rip), %rdx
	jmp *(%rdx, %rdi, 8)
wide_unbound_a:
	ret
wide_unbound_b:
	ret
wide_unbound_not:
	ret
endfun wide_unbound

# A table of addresses with a load before the jump.
fun wide_load
	cmp $1, %edi
	ja wide_load_a
	mov %edi, %edi
	lea wide_load_table(%rip), %rdx
	mov (%rdx, %rdi, 8), %rax
	jmp *%rax
wide_load_a:
	ret
wide_load_b:
	ret
endfun wide_load

# Of two tables that may be meant, the bound tells which one fits.
fun two_tables
	test %esi, %esi
	je two_other
	lea two_first(%rip), %rdx
	jmp two_go
two_other:
	lea two_second(%rip), %rdx
	jmp two_go
two_go:
	cmp $1, %edi
	ja two_a
	mov %edi, %edi
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
two_a:
	ret
two_b:
	ret
two_c:
	nop
	ret
endfun two_tables

# Where none of them fits, the bound is another's, and all are read without.
fun none_fits
	test %esi, %esi
	je none_other
	lea none_first(%rip), %rdx
	jmp none_go
none_other:
	lea none_second(%rip), %rdx
	jmp none_go
none_go:
	cmp $100, %edi
	ja none_a
	mov %edi, %edi
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
none_a:
	ret
none_b:
	ret
endfun none_fits

# Few bits are left of an index, and nothing is compared: what lies behind the table is not
# of it, and does not lead into the middle of a function.
fun masked
	and $1, %edi
	lea masked_table(%rip), %rdx
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
masked_a:
	ret
masked_b:
	nop
	ret
endfun masked

fun shifted
	shr $31, %edi
	lea shifted_table(%rip), %rdx
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
shifted_a:
	ret
shifted_b:
	nop
	ret
endfun shifted

fun beside
	nop
beside_in:
	nop
	ret
endfun beside

# Where it may also come from elsewhere, more may be of it; that may show only behind the table.
fun joined
	test %esi, %esi
	je joined_far
	and $1, %edi
joined_load:
	lea joined_table(%rip), %rdx
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
joined_a:
	ret
joined_b:
	nop
	ret
joined_c:
	nop
	nop
	ret
joined_far:
	mov $2, %edi
	jmp joined_load
endfun joined

fun late
	and $1, %edi
late_load:
	lea late_table(%rip), %rdx
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
late_a:
	ret
late_b:
	mov $2, %edi
	jmp late_load
late_c:
	nop
	nop
	ret
endfun late

# A table among the code is none that is known.
fun in_code
	lea in_code_table(%rip), %rdx
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
	ret
endfun in_code
in_code_table:
	.long in_code - in_code_table

# A table's address that is computed otherwise is not known.
fun computed
	mov %rsi, %rdx
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	jmp *%rax
endfun computed

# A jump through an object's method is not one through a table, nor one through an array of something else.
fun method
	mov (%rdi), %rax
	jmp *16(%rax)
endfun method

fun array
	jmp *(%rsi, %rdi, 4)
endfun array

	.section .rodata
	.balign 8
unbound_table:
	.long unbound_a - unbound_table, unbound_b - unbound_table
unbound_end:
	.long unbound_not - unbound_table
	.balign 8
holes_table:
	.long holes_a - holes_table, elsewhere - holes_table, holes_b - holes_table
	.fill 70, 4, 0x10000000
far_table:
	.long far_a - far_table
	.fill 65, 4, 0x10000000
	.long far_b - far_table
	.fill 70, 4, 0x10000000
leaves_table:
	.long leaves_a - leaves_table, elsewhere_in - leaves_table
adjacent_table:
	.long adjacent_a - adjacent_table, next_to_it - adjacent_table
unreachable_table:
	.long unreachable_a - unreachable_table, unreachable_end - unreachable_table, unreachable_b - unreachable_table
neighbourly_table:
	.long neighbourly_a - neighbourly_table, neighbour_in - neighbourly_table
partly_table:
	.long partly_a - partly_table, partly.cold - partly_table
within_table:
	.long within_a - within_table, within_b - within_table
within_inner_table:
	.long within_c - within_inner_table, within_d - within_inner_table
two_first:
	.long two_a - two_first, two_b - two_first
two_second:
	.long two_c - two_second, elsewhere - two_second
	.fill 70, 4, 0x10000000
none_first:
	.long none_a - none_first, 0x10000000
none_second:
	.long none_b - none_second, 0x10000000
	.fill 70, 4, 0x10000000
	.balign 8
masked_table:
	.long masked_a - masked_table, masked_b - masked_table, beside_in - masked_table
	.fill 70, 4, 0x10000000
shifted_table:
	.long shifted_a - shifted_table, shifted_b - shifted_table, beside_in - shifted_table
	.fill 70, 4, 0x10000000
joined_table:
	.long joined_a - joined_table, joined_b - joined_table, joined_c - joined_table
	.fill 70, 4, 0x10000000
late_table:
	.long late_a - late_table, late_b - late_table, late_c - late_table
	.fill 70, 4, 0x10000000
	.section .data.rel.ro, "aw"
	.balign 8
wide_table:
	.quad wide_a, wide_b, wide_not
wide_load_table:
	.quad wide_load_a, wide_load_b
wide_unbound_table:
	.quad wide_unbound_a, wide_unbound_b, elsewhere, wide_unbound_not
