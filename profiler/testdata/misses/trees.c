/* Trees and tables of the C library. */
#define _GNU_SOURCE
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level.h"

static long total;

static int byText(const void *a, const void *b) { return strcmp(a, b); }

static void visit(const void *node, VISIT which, int depth)
{
	if (which == leaf || which == postorder)
		total += depth + **(const char *const *)node;
}

static __attribute__((noinline)) int work(void)
{
	enum { N = 20000 };
	void *root = 0;
	struct hsearch_data table = {0};
	hcreate_r(2 * N, &table);
	for (int i = 0; i < N; i++) {
		char *s;
		if (asprintf(&s, "key %ld", i * 104729L % 1000003) < 0)
			return 1;
		tsearch(s, &root, byText);
		ENTRY *e, x = {s, s};
		hsearch_r(x, ENTER, &e, &table);
	}
	twalk(root, visit);
	for (int i = 0; i < 3 * N; i++) {
		char s[40];
		sprintf(s, "key %ld", i * 7919L % 1000003);
		total += tfind(s, &root, byText) != 0;
		ENTRY *e, x = {s, 0};
		total += hsearch_r(x, FIND, &e, &table);
	}
	srandom(5);
	for (int i = 0; i < 100000; i++)
		total += random() % 3;
	printf("%ld\n", total);
	return 0;
}
