# One function for each way that a table can say where a register is.
	.macro fun name
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	.endm
	.macro endfun name
	nop
	nop
	.cfi_endproc
	.size \name, . - \name
	.endm
	.text

fun offset
	.cfi_offset %rbx, -16
	endfun offset

# DW_CFA_val_offset_sf rbx, 2. (delve forgets to scale the form without sign,
# which no compiler writes on this processor.)
fun val_offset
	.cfi_escape 0x15, 3, 2
	endfun val_offset

fun register
	.cfi_register %rbx, %r12
	endfun register

fun same_value
	.cfi_offset %rbx, -16
	.cfi_same_value %rbx
	endfun same_value

fun undefined
	.cfi_undefined %rbx
	endfun undefined

# DW_CFA_expression rbx: DW_OP_breg7 +24
fun expression
	.cfi_escape 0x10, 3, 2, 0x77, 24
	endfun expression

# DW_CFA_val_expression rbx: DW_OP_breg7 +24
fun val_expression
	.cfi_escape 0x16, 3, 2, 0x77, 24
	endfun val_expression

# DW_CFA_def_cfa_expression: DW_OP_breg7 +32, DW_OP_deref
fun cfa_expression
	.cfi_escape 0x0f, 3, 0x77, 32, 0x06
	.cfi_offset %rbx, -16
	endfun cfa_expression

fun cfa_register
	.cfi_def_cfa %rbp, 16
	.cfi_offset %rbx, -16
	endfun cfa_register

fun outermost
	.cfi_undefined %rip
	endfun outermost

# A register that there is none of here (xmm0) is passed over.
fun vector
	.cfi_offset 17, -16
	endfun vector

# Bad ones: a CFA from a vector register, an expression that is none, a register from one there is none of.
fun bad_cfa
	.cfi_escape 0x0c, 17, 8
	endfun bad_cfa

fun bad_expression
	.cfi_escape 0x10, 3, 1, 0x06
	endfun bad_expression

fun bad_register
	.cfi_escape 0x09, 3, 40
	endfun bad_register

fun bad_opcode
	.cfi_escape 0x3e
	endfun bad_opcode
