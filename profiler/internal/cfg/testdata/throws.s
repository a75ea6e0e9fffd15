# Where exceptions may pass through, calls may not come back, unless their names say otherwise.
	.include "fun.inc"
	.macro ask name
fun ask_\name
	sub $8, %rsp
	xor %eax, %eax
	call \name@plt
	add $8, %rsp
	ret
endfun ask_\name
	.endm

# A landing pad is a way in from START; the call that throws has a way out.
fun catches
	.cfi_startproc
	.cfi_lsda 0x1b, catches_lsda
	sub $8, %rsp
	.cfi_def_cfa_offset 16
catches_try:
	xor %eax, %eax
	call _Z5throwv@plt
catches_end:
	add $8, %rsp
	ret
catches_pad:
	mov %rax, %rdi
	call __cxa_begin_catch@plt
	call __cxa_end_catch@plt
	add $8, %rsp
	ret
	.cfi_endproc
endfun catches

# A landing pad in the middle of an instruction that is reached otherwise: skipped.
fun bad_pad
	.cfi_startproc
	.cfi_lsda 0x1b, bad_pad_lsda
	test %edi, %edi
	je bad_pad_end
bad_pad_mov:
	mov $0x90909090, %eax
bad_pad_end:
	ret
	.cfi_endproc
endfun bad_pad

# A tail call through a pointer may not come back.
fun tail_pointer
	jmp *%rdi
endfun tail_pointer

# Memory and strings throw nothing.
ask memcpy
ask strlen
# Allocation in C does not.
ask malloc
# Anything of C++ may.
ask _Znwm
# But delete does not.
ask _ZdlPv
# Rust's names too.
ask _RNvC1a1b
# C's plain names do not.
ask read
# What calls the program back may let its exception through.
ask bsearch
# To end the program is not to throw …
ask exit
# … but to end the thread is.
ask pthread_exit
# To throw is to not return.
ask __cxa_throw
# So do the standard library's throwing helpers.
ask _ZSt20__throw_length_errorPKc

	.section .gcc_except_table, "a", @progbits
catches_lsda:
	.byte 0xff, 0xff, 0x01
	.uleb128 4
	.uleb128 catches_try - catches
	.uleb128 catches_end - catches_try
	.uleb128 catches_pad - catches
	.uleb128 0
bad_pad_lsda:
	.byte 0xff, 0xff, 0x01
	.uleb128 4
	.uleb128 0
	.uleb128 1
	.uleb128 bad_pad_mov + 1 - bad_pad
	.uleb128 0
