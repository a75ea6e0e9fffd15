// Each thread writes a buffer and reads one: some their own, two each other's.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 2048 };
static long buffer[8][N] __attribute__((aligned(64)));
static int from[8];
static pthread_barrier_t written, read_;
static long sum[8 * 16];

static void *work(void *p) {
	long id = (long)p, s = 0;
	long *mine = buffer[id], *other = buffer[from[id]];
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < N; i++)
			mine[i] = round + i; /* WRITE */
		pthread_barrier_wait(&written);
		for (int i = 0; i < N; i++)
			s += other[i]; /* MISS true */
		pthread_barrier_wait(&read_); /* SECTION */
	}
	sum[id * 16] = s;
	return 0;
}

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t t[8];
	pthread_barrier_init(&written, 0, n);
	pthread_barrier_init(&read_, 0, n);
	for (long i = 0; i < n; i++) from[i] = i < 2 ? 1 - i : i;
	for (long i = 0; i < n; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (long i = 0; i < n; i++) pthread_join(t[i], 0);
	printf("%ld\n", sum[0]);
	return 0;
}
