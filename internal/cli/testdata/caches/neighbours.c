// All threads count on their own, but the counters of two share a line.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct { volatile long n; char pad[56]; } apart[8] __attribute__((aligned(64)));
static volatile long together[8] __attribute__((aligned(64)));
static volatile long *counter[8];
static pthread_barrier_t all;

static void *work(void *p) {
	volatile long *n = counter[(long)p];
	for (int round = 0; round < 3000; round++) { // in each of which the line moves, whoever runs when
		for (int k = 0; k < 20; k++)
			*n = *n + 1; /* MISS false */
		pthread_barrier_wait(&all); /* SECTION */
	}
	return 0;
}

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t t[8];
	pthread_barrier_init(&all, 0, n);
	for (long i = 0; i < n; i++) counter[i] = i < 2 ? &together[i] : &apart[i].n;
	for (long i = 0; i < n; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (long i = 0; i < n; i++) pthread_join(t[i], 0);
	printf("%ld\n", together[0] + apart[3].n);
	return 0;
}
