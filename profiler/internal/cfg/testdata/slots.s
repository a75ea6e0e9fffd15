# Calls through a register that was loaded from a slot long before.
	.include "fun.inc"
	.macro waits name, early, late
fun \name
	.cfi_startproc
	.cfi_lsda 0x1b, \name\()_lsda
	push %r14
	.cfi_def_cfa_offset 16
	.cfi_offset %r14, -16
	\early
\name\()_try:
	call _Z5throwv@plt
\name\()_end:
	\late
\name\()_wait:
	call *%r14
	pop %r14
	ret
\name\()_pad:
	mov %rax, %rdi
	call __cxa_begin_catch@plt
	call __cxa_end_catch@plt
	jmp \name\()_wait
	.cfi_endproc
endfun \name
	.pushsection .gcc_except_table, "a", @progbits
\name\()_lsda:
	.byte 0xff, 0xff, 0x01
	.uleb128 4
	.uleb128 \name\()_try - \name
	.uleb128 \name\()_end - \name\()_try
	.uleb128 \name\()_pad - \name
	.uleb128 0
	.popsection
	.endm

# Where an exception lands registers hold what they did at the call that it came out of.
waits caught "mov sem_wait@GOTPCREL(%rip), %r14", "nop"
# There that was not loaded yet.
waits unloaded "nop", "mov sem_wait@GOTPCREL(%rip), %r14"
