// exit() called from frames deep in main's stack.
#include <stdio.h>
#include <stdlib.h>
#define NI __attribute__((noinline))
static volatile long acc;
static NI void down(long n) {
	for (long i = 0; i < n; i++) acc += i;
	if (n == 3) { printf("%ld\n", acc); exit((int)(acc & 7)); }
	down(n - 1);
	acc++;
}
int main(void) {
	for (long i = 0; i < 100; i++) acc += i * i;
	down(12);
	return 0;
}
