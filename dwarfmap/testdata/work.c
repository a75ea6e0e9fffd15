#include <stdio.h>
#include <stdlib.h>
#include "step.h"

static double table[64];

/* Cold and hot parts, nested inlining, a switch, a callback. */
static int compare(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double kind(int k, double x) {
	switch (k % 7) {
	case 0: return x + 1;
	case 1: return x * 2;
	case 2: return step(x, 3);
	case 3: return other(x, k);
	case 4: return clamp(-x) + clamp(x);
	case 5: abort();
	default: return x;
	}
}

__attribute__((noinline)) double work(int n) {
	double s = 0;
	for (int i = 0; i < n; i++) {
		table[i % 64] += kind(i % 5, s);
		if (__builtin_expect(table[i % 64] > 1e9, 0)) {
			fprintf(stderr, "too much: %g\n", table[i % 64]);
			exit(1);
		}
		s += step(table[i % 64], i & 3);
	}
	qsort(table, 64, sizeof table[0], compare);
	return s;
}

int main(int argc, char **argv) {
	double s = 0;
	for (int i = 0; i < argc * 10; i++)
		s += work(i);
	printf("%g\n", s);
	return argv[0] == 0;
}
