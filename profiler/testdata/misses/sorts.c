/* Sorts that call back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level.h"

static int byValue(const void *a, const void *b)
{
	return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

static int byName(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static __attribute__((noinline)) int work(void)
{
	enum { N = 300000, NAMES = 30000 };
	int *v = malloc(N * sizeof *v);
	char **name = malloc(NAMES * sizeof *name);
	long found = 0;
	for (int i = 0; i < N; i++)
		v[i] = (int)(i * 7919L % 1000003);
	for (int i = 0; i < NAMES; i++) {
		name[i] = malloc(24);
		sprintf(name[i], "name %ld", i * 104729L % 1000003);
	}
	qsort(v, N, sizeof *v, byValue);
	qsort(name, NAMES, sizeof *name, byName);
	for (int i = 0; i < 200000; i++) {
		int k = (int)(i * 104729L % 1000003);
		found += bsearch(&k, v, N, sizeof *v, byValue) != 0;
	}
	printf("%ld %s\n", found, name[77]);
	return 0;
}
