/* Threads count in neighbouring words: one cache line goes to and fro. */
#include <pthread.h>
#include <stdlib.h>

static volatile unsigned long counters[64] __attribute__((aligned(64)));
static unsigned long each;

static void *count(void *a)
{
	volatile unsigned long *c = &counters[(long)a];
	for (unsigned long i = 0; i < each; i++)
		++*c; /* PLANTED */
	return 0;
}

int main(int n, char **v)
{
	int p = n > 1 ? atoi(v[1]) : 1;
	pthread_t t[64];
	each = (n > 2 ? strtoul(v[2], 0, 10) : 100000000) / p;
	for (long i = 0; i < p; i++)
		pthread_create(&t[i], 0, count, (void *)i);
	for (int i = 0; i < p; i++)
		pthread_join(t[i], 0);
	return 0;
}
