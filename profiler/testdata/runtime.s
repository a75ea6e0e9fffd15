# Code of a language whose runtime knows frames by their return addresses: the
# collector goes from frame to frame, each of 16 bytes, and looks them up.
	.section .note.GNU-stack,"",@progbits
	.text
	.globl	main
	.type	collect, @function
collect:			# rdi: stack pointer of the first frame
	lea	table(%rip), %rdx
1:	mov	(%rdi), %rax
	xor	%ecx, %ecx
2:	cmp	(%rdx,%rcx,8), %rax
	je	3f
	inc	%ecx
	cmp	$4, %ecx
	jb	2b
	ud2			# not a frame of ours
3:	cmp	$3, %ecx
	je	4f
	add	$16, %rdi
	jmp	1b
4:	ret
	.size	collect, .-collect

	.type	allocate, @function
allocate:
	sub	$16, %r15
	cmp	%r14, %r15
	ja	1f
	mov	%rsp, %rdi
	sub	$8, %rsp
	call	collect
	add	$8, %rsp
	mov	%r13, %r15
1:	mov	%r15, %rax
	ret
	.size	allocate, .-allocate

	.type	inner, @function
inner:
	sub	$8, %rsp
	call	allocate
r0:	add	$8, %rsp
	ret
	.size	inner, .-inner

	.type	outer, @function
outer:
	sub	$8, %rsp
	call	inner
r1:	call	inner
r2:	add	$8, %rsp
	ret
	.size	outer, .-outer

	.type	main, @function
main:
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rbx
	lea	heap(%rip), %r14
	lea	4096(%r14), %r13
	mov	%r13, %r15
	mov	$5000, %ebx
1:	call	outer
r3:	dec	%ebx
	jne	1b
	lea	text(%rip), %rdi
	call	puts@plt
	xor	%eax, %eax
	pop	%rbx
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	ret
	.size	main, .-main

	.section .rodata
text:	.string	"collected"
	.section .data.rel.ro,"aw"
	.balign 8
table:	.quad	r0, r1, r2, r3
	.bss
	.balign 16
heap:	.zero	4096
