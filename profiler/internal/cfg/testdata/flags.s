# Which flags are live where a block begins: what is read before it is surely written.
	.include "fun.inc"

# The jump of the next block reads what this one compared.
fun across
	cmp %esi, %edi
	jmp across_next
across_next:
	ja across_end
	ret
across_end:
	ret
endfun across

# Around a loop.
fun around
	xor %eax, %eax
around_head:
	adc %eax, %eax
	dec %ecx
	jne around_head
	ret
endfun around

# A flag that the caller would read is not asked for: flags do not pass a return.
fun at_return
	cmp %esi, %edi
	jmp at_return_end
at_return_end:
	ret
endfun at_return

# inc leaves the carry alone.
fun keeps_carry
	cmp %esi, %edi
	jmp keeps_next
keeps_next:
	inc %eax
	jb keeps_end
	ret
keeps_end:
	ret
endfun keeps_carry

# All flags are saved.
fun saves
	jmp saves_next
saves_next:
	pushf
	pop %rax
	ret
endfun saves
