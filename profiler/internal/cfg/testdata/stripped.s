# Without symbols the unwind table tells functions and parts apart, and who names whom.
#! strip
#! ld -shared -Bsymbolic
	.include "fun.inc"
	.macro piece name
\name:
	.cfi_startproc
	.endm
	.macro endpiece name
	.cfi_endproc
	.endm

# A part begins by saying what has been pushed: midway.
	piece frame
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	test %edi, %edi
	js frame_cold
frame_back:
	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	endpiece frame

	piece frame_cold
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	neg %edi
	jmp frame_back
	endpiece frame_cold

# Of two that nothing names, the smaller one is the part.
	piece big
	test %edi, %edi
	je bit_middle
	inc %eax
	inc %eax
	inc %eax
	ret
	endpiece big

	piece bit
	inc %eax
bit_middle:
	ret
	endpiece bit

# A small one that is called is the function, and the large one its part.
	piece called_small
	test %edi, %edi
	je long_middle
	ret
	endpiece called_small

	piece long
	inc %eax
	inc %eax
	inc %eax
	inc %eax
	inc %eax
long_middle:
	ret
	endpiece long

	piece calls_small
	sub $8, %rsp
	xor %eax, %eax
	call called_small
	add $8, %rsp
	ret
	endpiece calls_small

# So is one whose address the data holds …
	piece pointed_small
	test %edi, %edi
	je pointed_middle
	ret
	endpiece pointed_small

	piece pointed_long
	inc %eax
	inc %eax
	inc %eax
	inc %eax
	inc %eax
pointed_middle:
	ret
	endpiece pointed_long

# … or a lea takes.
	piece taken_small
	test %edi, %edi
	je taken_middle
	ret
	endpiece taken_small

	piece taken_long
	inc %eax
	inc %eax
	inc %eax
	inc %eax
	inc %eax
taken_middle:
	ret
	endpiece taken_long

	piece takes
	lea taken_small(%rip), %rax
	ret
	endpiece takes

	.data
	.balign 8
	.quad pointed_small
