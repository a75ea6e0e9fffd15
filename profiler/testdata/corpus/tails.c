// Tail calls: direct, mutual, through pointers; and deep recursion beside them.
#include <stdio.h>
#define NI __attribute__((noinline))
static NI long even(long n, long a);
static NI long odd(long n, long a) { return n == 0 ? a : even(n - 1, a + 1); }
static NI long even(long n, long a) { return n == 0 ? -a : odd(n - 1, a ^ 3); }
static NI long plus(long x) { return x + 1; }
static NI long times(long x) { return x * 3 & 0xffff; }
static NI long minus(long x) { return x - 7; }
static long (*volatile table[3])(long) = {plus, times, minus};
static NI long jump(long i, long x) { return table[i % 3](x); }
static NI long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
	long s = 0;
	for (long i = 0; i < 500; i++) {
		s += even(i % 17, i) + jump(i, s);
		if (i % 100 == 0) s ^= fib(12);
	}
	printf("%ld\n", s);
	return 0;
}
