// An interpreter whose compiler keeps where it begins again in a register, and
// of which some is only come to by a jump to a label.
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static long run(const unsigned char *code, long n) {
	static const void *const op[] = {&&add, &&mix, &&sum, &&more, &&half, &&again, &&done};
	const unsigned char *p = code;
	long a = 1, b = 2, c = 3;
	goto *op[*p++];
add: a += b; goto *op[*p++];
mix: b ^= c; goto *op[*p++];
sum: c += a; goto *op[*p++];
more: a = a * 3 + 1; goto *op[*p++];
half: b = b >> 1 | 1; goto *op[*p++];
again: p = code; if (--n == 0) p += 12; goto *op[*p++];
done: return a + b + c;
}
// It keeps what comes next before it does what came last.
__attribute__((noinline)) static long ahead(const unsigned char *p, long n) {
	static const void *const op[] = {&&add, &&twice, &&back, &&done};
	const unsigned char *code = p;
	const void *next = op[*p++];
	long a = n;
	goto *next;
add: next = op[*p++]; a += n; goto *next;
twice: next = op[*p++]; a ^= a << 1; goto *next;
back: if (--n) p = code; next = op[*p++]; goto *next;
done: return a;
}
int main(int argc, char **argv) {
	static const unsigned char codes[][16] = {{0, 1, 2, 3, 4, 0, 2, 2, 1, 3, 0, 5, 6}, {0, 1, 1, 0, 2, 3}};
	const unsigned char *volatile prog = codes[0], *volatile other = codes[1]; // no compiler knows them
	printf("%ld %ld\n", run(prog, argc > 1 ? atol(argv[1]) : 40), ahead(other, 30));
	return 0;
}
