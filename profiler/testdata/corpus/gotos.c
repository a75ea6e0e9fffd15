// A small interpreter with computed gotos: a table of labels, and threaded code.
#include <stdio.h>
static long run(const unsigned char *p) {
	static const void *const op[] = {&&add, &&sub, &&dup, &&loop, &&end};
	long a = 1, n = 300;
	goto *op[*p++];
add: a += 3; goto *op[*p++];
sub: a -= 1; goto *op[*p++];
dup: a ^= a << 1; goto *op[*p++];
loop: if (--n) p -= 4; goto *op[*p++];
end: return a;
}
static long threaded(int n) {
	void *code[8];
	void *const t[] = {&&inc, &&twice, &&test, &&out};
	long a = 0;
	for (int i = 0; i < 8; i++)
		code[i] = t[i % 3];
	code[7] = t[3];
	void **pc = code;
	goto **pc++;
inc: a++; goto **pc++;
twice: a += a & 15; goto **pc++;
test: if (n-- > 0) pc = code; goto **pc++;
out: return a;
}
int main(void) {
	static const unsigned char prog[] = {0, 1, 2, 0, 3, 4};
	printf("%ld %ld\n", run(prog), threaded(50));
	return 0;
}
