# The ward stands at the beginning of mprotect: who makes code writable that was
# moved stops here, and nobody else. rdi is the address, rsi the size, edx what is
# to be allowed; rax, rcx and the flags are free, as the system call takes them.
# Behind it are the ranges of that code: begin and end of each, up to an end of 0.

	.text
	testb	$2, %dl			# PROT_WRITE
	je	3f
	lea	(%rdi,%rsi), %rax
	lea	ranges(%rip), %rcx
1:	cmpq	$0, 8(%rcx)
	je	3f
	cmpq	%rdi, 8(%rcx)
	jbe	2f
	cmpq	%rax, (%rcx)
	jb	4f
2:	add	$16, %rcx
	jmp	1b
3:	mov	$10, %eax		# what the jump to here was written over
	.byte	0xe9			# jmp behind that
back:	.long	0
4:	int3
trapped:
	.balign	16, 0xcc
ranges:
