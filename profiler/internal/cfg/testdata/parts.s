# Which bytes belong to which function: cold parts, pieces, shared ones, entries in the middle.
	.include "fun.inc"

# A part that its name calls cold belongs to the function that jumps into it.
fun hot
	test %edi, %edi
	js hot.cold
	mov %edi, %eax
hot_back:
	ret
endfun hot

localfun hot.cold
	neg %edi
	jmp hot_back
endfun hot.cold

# Behind a jump into a part the stack is as high as before it: rbp is no frame's pointer here.
fun high
	push %rbx
	push %rbp
	test %edi, %edi
	js high.cold
	mov %rsp, %rbp
	mov 8(%rbp), %eax
high_back:
	pop %rbp
	pop %rbx
	ret
endfun high

localfun high.cold
	neg %edi
	jmp high_back
endfun high.cold

# A smaller neighbour whose middle is jumped into is a part; it may be entered at its start by itself.
fun large
	test %edi, %edi
	je small_middle
	inc %eax
	inc %eax
	inc %eax
	inc %eax
	ret
endfun large

localfun small
	inc %eax
small_middle:
	ret
endfun small

# A small piece that jumps into the middle of a large function is that one's part.
fun giant
	test %edi, %edi
	je piece
	inc %eax
	inc %eax
giant_middle:
	inc %eax
	inc %eax
	ret
endfun giant

localfun piece
	dec %eax
	jmp giant_middle
endfun piece

# Two functions that share a cold part cannot be moved without each other: both skipped.
fun shares_one
	test %edi, %edi
	js shared.cold
	ret
endfun shares_one

fun shares_two
	test %edi, %edi
	js shared.cold
	ret
endfun shares_two

localfun shared.cold
	ud2
endfun shared.cold

# A function that stays jumps into the middle of another one, which therefore stays.
fun stays
	test %edi, %edi
	je entered_middle
	inc %eax
	inc %eax
	inc %eax
	inc %eax
	.byte 0x06
endfun stays

fun entered
	inc %eax
entered_middle:
	inc %eax
	inc %eax
	inc %eax
	inc %eax
	ret
endfun entered

# Code between functions that jumps into the middle of one.
	.byte 0x06
	jmp between_middle

fun between
	inc %eax
between_middle:
	inc %eax
	ret
endfun between

# A jump to the beginning of another function is a tail call.
fun tails
	jmp between
endfun tails

# A jump to nothing that is known is one too.
fun tails_unknown
	jmp no_function
endfun tails_unknown

no_function:
	ret

# A part that overlaps the function that jumps into it: skipped.
fun overlapping
	test %edi, %edi
	je overlapping_far
	inc %eax
	inc %eax
overlapping_part:
	ret
endfun overlapping
overlapping_far:
	inc %eax
	ret
	.type overlapping_part, @function
	.size overlapping_part, . - overlapping_part

# A function may have two names.
fun alias
	ret
endfun alias
	.globl alias_too
	.type alias_too, @function
	.set alias_too, alias
	.size alias_too, 1

# A cold part that nothing jumps into belongs to nobody, and is no function: it is not listed.
localfun lonely.cold
	ret
endfun lonely.cold
