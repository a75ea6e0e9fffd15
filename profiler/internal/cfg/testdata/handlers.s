# What is on the stack may be returned to: handlers of exceptions, as OCaml has them.
	.include "fun.inc"

# The handler stands in the function, and nothing else leads there.
fun tries
	lea .Lhandler(%rip), %r11
	push %r11
	push 0x10(%r14)
	mov %rsp, 0x10(%r14)
	call raises
	pop 0x10(%r14)
	add $8, %rsp
	jmp .Lover
.Lhandler:
	mov $1, %eax
.Lover:
	ret
endfun tries

# Where it is raised is a return like any other.
fun raises
	mov 0x10(%r14), %rsp
	pop 0x10(%r14)
	ret
endfun raises

# What is no label of its own may be put there, and its own entry.
fun others
	lea raises(%rip), %r11
	push %r11
	lea others(%rip), %rax
	push %rax
	add $16, %rsp
	ret
endfun others
