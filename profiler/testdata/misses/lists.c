/* Lists of nodes of many sizes that come and go. */
#include <stdio.h>
#include <stdlib.h>

#include "level.h"

struct node {
	struct node *next;
	long value;
	char rest[];
};

static __attribute__((noinline)) int work(void)
{
	enum { HEADS = 64 };
	struct node *head[HEADS] = {0};
	unsigned x = 1;
	long sum = 0;
	for (int i = 0; i < 150000; i++) {
		x = x * 1103515245 + 12345;
		struct node **h = &head[(x >> 10) % HEADS], *n = *h;
		if (x >> 30 && n && i > 50000) {
			*h = n->next;
			free(n);
		}
		if (x >> 29 || i < 30000) {
			n = malloc(sizeof *n + (x >> 12) % 200);
			n->next = *h, n->value = i;
			*h = n;
		}
	}
	for (int k = 0; k < 9; k++)
		for (int i = 0; i < HEADS; i++)
			for (struct node *n = head[i]; n; n = n->next)
				sum += n->value++;
	char *grows = 0;
	for (int i = 1; i < 1200; i++) {
		grows = realloc(grows, i * 100);
		grows[i * 100 - 1] = i;
	}
	printf("%ld %d\n", sum, grows[199]);
	return 0;
}
