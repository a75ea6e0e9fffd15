/* Records that are printed into memory, and read from there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level.h"

static __attribute__((noinline)) int work(void)
{
	enum { N = 60000, EACH = 64 };
	char *text = malloc(N * EACH);
	double sum = 0;
	long ints = 0;
	for (int i = 0; i < N; i++)
		snprintf(text + i * EACH, EACH, "%d %.3f %08lx %s", i, i * .37, i * 2654435761UL & 0xffffffff, i & 1 ? "odd" : "even");
	for (int i = 0; i < N; i++) {
		int k;
		double d;
		unsigned long h;
		char word[EACH];
		if (sscanf(text + i * 7919L % N * EACH, "%d %lf %lx %s", &k, &d, &h, word) == 4)
			sum += d, ints += k + (long)h + word[0];
	}
	for (int i = 0; i < N; i++) {
		char *end;
		ints += strtol(text + i * EACH, &end, 10);
		sum += strtod(end, 0);
	}
	printf("%f %ld\n", sum, ints);
	return 0;
}
