// String instructions, bit scans, carries across branches, long flag lives.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#define NI __attribute__((noinline))
static NI void copy(char *d, const char *s, long n) { __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory"); }
static NI uint64_t add3(uint64_t *a, const uint64_t *b, long n) {
	unsigned char c = 0;
	for (long i = 0; i < n; i++) c = __builtin_ia32_addcarryx_u64(c, a[i], b[i], (unsigned long long *)&a[i]);
	return c;
}
static NI long flags(long a, long b) {
	long r = 0;
	__asm__ volatile("cmp %2, %1\n\tmov $0, %0\n\tjl 1f\n\tjmp 2f\n1:\tmov $1, %0\n2:\tjbe 3f\n\tadd $2, %0\n3:\tnop" : "=&r"(r) : "r"(a), "r"(b) : "cc");
	return r;
}
static NI long loopy(long n) {
	long r = 0;
	__asm__ volatile("1:\tadd %1, %0\n\tloop 1b\n\tjrcxz 2f\n\tadd $1000, %0\n2:" : "+r"(r), "+c"(n) : : "cc");
	return r;
}
int main(void) {
	char x[300], y[300];
	uint64_t a[9] = {~0ull, ~0ull, 5}, b[9] = {1};
	long s = 0;
	for (long i = 0; i < 200; i++) {
		memset(x, (int)i, sizeof x);
		copy(y, x, i);
		s += y[i / 2] + (long)add3(a, b, 9) + flags(i % 10, 5) + flags(-i, i) + loopy(i + 1) + __builtin_ctzl(i + 1);
	}
	printf("%ld %ld\n", s, (long)a[3]);
	return 0;
}
