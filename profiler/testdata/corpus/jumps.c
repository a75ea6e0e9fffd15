// setjmp and longjmp out of nested frames, again and again.
#include <setjmp.h>
#include <stdio.h>
#define NI __attribute__((noinline))
static jmp_buf out;
static volatile long depth;
static NI void down(long n) {
	depth++;
	if (n == 0) longjmp(out, 1 + (int)(depth % 5));
	down(n - 1);
	depth--;
}
static NI long once(long n) {
	volatile long r = 0;
	switch (setjmp(out)) {
	case 0: down(n); break;
	case 1: r = 10; break;
	case 2: r = 20; break;
	default: r = 30;
	}
	return r + depth % 7;
}
int main(void) {
	long s = 0;
	for (long i = 0; i < 400; i++) s += once(i % 13);
	printf("%ld\n", s);
	return 0;
}
