// alloca, variable-length arrays, varargs, large frames, red zones.
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#define NI __attribute__((noinline))
static NI long sum(int n, ...) {
	va_list v;
	va_start(v, n);
	long s = 0;
	for (int i = 0; i < n; i++) s += va_arg(v, long);
	va_end(v);
	return s;
}
static NI double mix(int n, ...) {
	va_list v;
	va_start(v, n);
	double s = 0;
	for (int i = 0; i < n; i++) s += va_arg(v, double);
	va_end(v);
	return s;
}
static NI long grow(long n) {
	char *p = alloca(16 + n * 8);
	memset(p, (int)n, 16 + n * 8);
	long a[n + 1];
	for (long i = 0; i <= n; i++) a[i] = p[i] + i;
	return a[n / 2] + a[n];
}
static NI long leaf(long a, long b) {
	volatile long t[12];
	for (int i = 0; i < 12; i++) t[i] = a * i ^ b;
	return t[a & 7] + t[11];
}
int main(void) {
	long s = 0;
	for (long i = 0; i < 200; i++) {
		s += sum((int)(i % 5), i, i + 1, i + 2, i + 3, i + 4) + grow(i % 40) + leaf(i, s);
		s += (long)mix((int)(i % 4), 1.5, 2.5, 3.5, 4.5);
	}
	printf("%ld\n", s);
	return 0;
}
