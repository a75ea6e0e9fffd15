// Memory-bound, and all alike: there is no cause.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long *own[8];
static pthread_barrier_t all;
static long sum[8 * 16];

static void *work(void *p) {
	long id = (long)p, s = 0;
	long *a = own[id];
	unsigned x = 1;
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 50000; i++) {
			x = x * 1103515245 + 12345;
			s += a[(x >> 8) & ((1 << 17) - 1)];
		}
		pthread_barrier_wait(&all); /* SECTION */
	}
	sum[id * 16] = s;
	return 0;
}

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t t[8];
	pthread_barrier_init(&all, 0, n);
	for (long i = 0; i < n; i++) {
		own[i] = calloc(1 << 17, sizeof(long));
		for (int k = 0; k < 1 << 17; k += 8) own[i][k] = k;
	}
	for (long i = 0; i < n; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (long i = 0; i < n; i++) pthread_join(t[i], 0);
	printf("%ld\n", sum[0]);
	return 0;
}
