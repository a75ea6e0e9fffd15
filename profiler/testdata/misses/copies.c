/* Copies of all sizes, far apart and over themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level.h"

static __attribute__((noinline)) int work(void)
{
	enum { SIZE = 3 << 20 };
	char *a = malloc(SIZE), *b = malloc(SIZE);
	unsigned x = 1, sum = 0;
	for (int i = 0; i < SIZE; i++)
		a[i] = i;
	for (int i = 0; i < 6; i++)
		memcpy(b + i, a, SIZE - 64);
	for (int i = 0; i < 40000; i++) {
		x = x * 1103515245 + 12345;
		memcpy(b + (x >> 8) % (SIZE - 9000), a + (x >> 10) % (SIZE - 9000), x >> 20);
	}
	for (int i = 0; i < 4000; i++) {
		x = x * 1103515245 + 12345;
		memmove(a + (x >> 8) % (SIZE - 9000), a + (x >> 8) % (SIZE - 9000) + (x >> 28), x >> 19);
	}
	for (int i = 0; i < 20; i++)
		sum += memcmp(a, b + i, SIZE - 64) > 0;
	printf("%u %d %d\n", sum, a[77], b[99]);
	return 0;
}
