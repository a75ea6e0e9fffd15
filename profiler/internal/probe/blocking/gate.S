# A gate stands before one system call, as stub.S does around others: behind the
# instructions that were moved to make room. rcx, r11 and the flags are free.

	.set GUARD,    0xc0

	.text
	cmpl	$0, %gs:GUARD
	jne	2f
1:	syscall
after:	.byte	0x48, 0x8d, 0x0d	# lea, which rcx has behind the original
site:	.long	0
	.byte	0xe9		# jmp there
back:	.long	0
2:	lea	1b(%rip), %r11
	lea	after(%rip), %rcx
	.byte	0xe9		# jmp guard
guard:	.long	0
