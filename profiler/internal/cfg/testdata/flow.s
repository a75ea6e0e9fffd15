# Where blocks begin and end, how control goes between them, and what is not understood.
	.include "fun.inc"

# One block; nothing is called, so it is a leaf.
fun straight
	mov %edi, %eax
	add $1, %eax
	ret
endfun straight

# A conditional jump ends a block and begins two.
fun branch
	test %edi, %edi
	jne branch_else
branch_then:
	mov $1, %eax
	ret
branch_else:
	xor %eax, %eax
	ret
endfun branch

# A jump into a block cuts it in two, which a fall joins.
fun join
	test %edi, %edi
	je join_end
	inc %eax
join_end:
	inc %eax
	ret
endfun join

# A loop goes round ten times, and is left one time in ten.
fun loops
	mov $10, %ecx
loops_head:
	dec %ecx
	jne loops_head
	ret
endfun loops

# Loops nest; the inner one is innermost.
fun nested
	mov %edi, %ecx
nested_outer:
	mov %esi, %edx
nested_inner:
	dec %edx
	jne nested_inner
	dec %ecx
	jne nested_outer
	ret
endfun nested

# Two ways back to one head are one loop.
fun two_latches
	mov %edi, %ecx
two_head:
	dec %ecx
	je two_end
	test $1, %ecx
	je two_head
	add %ecx, %eax
	jmp two_head
two_end:
	ret
endfun two_latches

# A cycle with two ways in is no natural loop.
fun irreducible
	test %edi, %edi
	je irr_b
irr_a:
	dec %edi
	je irr_end
irr_b:
	dec %edi
	jne irr_a
irr_end:
	ret
endfun irreducible

# jrcxz and loop are conditional jumps too.
fun short_jumps
	jrcxz short_end
short_head:
	inc %eax
	loop short_head
short_end:
	ret
endfun short_jumps

# Nothing goes on behind ud2; the way to it is cold.
fun stops
	test %edi, %edi
	js stops_bad
	ret
stops_bad:
	ud2
endfun stops

# A breakpoint in the code is passed, if a handler goes on behind it …
fun breakpoint
	int3
	ret
endfun breakpoint

# … but two of them are padding.
fun padding
	test %edi, %edi
	je padding_end
	ret
padding_end:
	int3
	int3
	ret
endfun padding

# An endless loop never returns.
fun endless
	pause
	jmp endless
endfun endless

# What is reached by no way is not decoded: here bytes that are no instruction.
fun data_within
	jmp data_end
	.byte 0x06, 0x06
data_end:
	ret
endfun data_within

# The end of the function is not the end of the flow: skipped.
fun falls_out
	inc %eax
endfun falls_out
	.byte 0x06, 0x06, 0x06

# Nor is a jump that goes on behind the end understood: what it overlaps is not this function's. Skipped.
fun cut_short
	inc %eax
	.byte 0xe9, 0, 0
endfun cut_short
	.byte 0, 0

# A byte that is no instruction: skipped.
fun not_understood
	inc %eax
	.byte 0x06
	ret
endfun not_understood

# A jump into the middle of an instruction: skipped.
fun overlapping
	test %edi, %edi
	je overlapping_mov + 1
overlapping_mov:
	mov $0xc3c3c3c3, %eax
	ret
endfun overlapping

# An instruction that goes on over one that began earlier: skipped.
fun overlapped
	jmp overlapped_in
overlapped_out:
	.byte 0xb8
overlapped_in:
	dec %edi
	je overlapped_out
	ret
	nop
endfun overlapped

# A jump to the beginning is a loop through the entry.
fun back_to_entry
	dec %edi
	jne back_to_entry
	ret
endfun back_to_entry

# Thread-local data of the program's own through GS is noted.
fun uses_gs
	mov %gs:0, %rax
	ret
endfun uses_gs

# Leaving by jrcxz cannot be moved: its displacement is one byte.
fun leaves_short
	jrcxz leaves_target
	ret
endfun leaves_short

localfun leaves_target
	ret
endfun leaves_target
