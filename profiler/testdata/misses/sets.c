/* Memory that is cleared, by the allocator and by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level.h"

static __attribute__((noinline)) int work(void)
{
	enum { ROWS = 300 };
	char *row[ROWS];
	unsigned sum = 0;
	for (int k = 0; k < 5; k++) {
		for (int i = 0; i < ROWS; i++)
			row[i] = calloc(1, 1000 + 97 * i);
		for (int i = 0; i < ROWS; i++)
			memset(row[i] + 3, k + i, 900 + 97 * i);
		for (int i = 0; i < ROWS; i++)
			sum += row[i][500], free(row[i]);
	}
	char *big = malloc(4 << 20);
	for (int i = 0; i < 6; i++) {
		memset(big + i, i, 4000000);
		for (int k = 0; k < 4000000; k += 64)
			sum += big[k];
	}
	printf("%u %d\n", sum, big[12345]);
	return 0;
}
