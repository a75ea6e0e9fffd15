# A library that runs beside another one.
	.include "fun.inc"

fun of_library
	ret
endfun of_library
