// Many targets at one call site: more than the two that are counted in line.
#include <stdio.h>
#define F(n) static __attribute__((noinline)) long f##n(long x) { return x * (n + 3) ^ (x >> n % 7); }
#define F8(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)
F8(1) F8(2) F8(3) F8(4)
#define P8(n) f##n##0, f##n##1, f##n##2, f##n##3, f##n##4, f##n##5, f##n##6, f##n##7
static long (*volatile table[])(long) = {P8(1), P8(2), P8(3), P8(4)};
static __attribute__((noinline)) long apply(long (*f)(long), long x) { return f(x) + 1; }
int main(void) {
	long s = 1;
	for (long i = 0; i < 2000; i++) {
		s += table[i % 32](s & 0xffff);
		s ^= apply(table[i * i % 5], i);
		if (i % 3 == 0) s += table[s & 1](i);
	}
	printf("%ld\n", s);
	return 0;
}
