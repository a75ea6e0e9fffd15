# A program at a fixed address: its entry stays, an immediate may name a function.
#! strip
#! ld -static -e begin
	.include "fun.inc"

# The program's entry runs before anything is set up: skipped.
fun begin
	.cfi_startproc
	mov $named_small, %edi
	call reads_table
	hlt
	.cfi_endproc
endfun begin

# Of two neighbours the one that an immediate names is the function, however small.
fun named_small
	.cfi_startproc
	test %edi, %edi
	je named_middle
	ret
	.cfi_endproc
endfun named_small

localfun named_long
	.cfi_startproc
	inc %eax
	inc %eax
	inc %eax
	inc %eax
	inc %eax
named_middle:
	ret
	.cfi_endproc
endfun named_long

# A jump through a table of addresses at a fixed place, bound by a comparison.
fun reads_table
	.cfi_startproc
	cmp $2, %edi
	ja reads_default
	mov %edi, %edi
	jmp *reads_addresses(, %rdi, 8)
reads_one:
	mov $1, %eax
	ret
reads_two:
	mov $2, %eax
	ret
reads_default:
	xor %eax, %eax
	ret
	.cfi_endproc
endfun reads_table

# The same with a load before the jump.
fun loads_table
	.cfi_startproc
	cmp $1, %edi
	ja loads_default
	mov %edi, %edi
	mov loads_addresses(, %rdi, 8), %rax
	jmp *%rax
loads_one:
	mov $1, %eax
	ret
loads_two:
	mov $2, %eax
	ret
loads_default:
	xor %eax, %eax
	ret
	.cfi_endproc
endfun loads_table

# Static programs hold the C library: a tail call through a pointer may hold the thread.
fun tail_pointer
	.cfi_startproc
	jmp *%rdi
	.cfi_endproc
endfun tail_pointer

	.section .rodata
	.balign 8
reads_addresses:
	.quad reads_one, reads_two, reads_one
loads_addresses:
	.quad loads_one, loads_two
