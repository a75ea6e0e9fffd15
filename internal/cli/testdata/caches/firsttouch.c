// All do the same, but one of them in memory that nobody has touched yet.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGES = 4000, ROUNDS = 4 };
static char *own[8];
static pthread_barrier_t all;
static long sum[8 * 16];

static void *work(void *p) {
	long id = (long)p, s = 0;
	char *a = own[id];
	for (int round = 0; round < ROUNDS; round++) {
		char *b = a + (long)round * PAGES * 4096;
		for (int i = 0; i < PAGES; i++)
			for (int k = 0; k < 50; k++)
				s += b[i * 4096 + k]++; /* PAGEFAULT */
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
		long size = (long)PAGES * ROUNDS * 4096;
		own[i] = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (i ? MAP_POPULATE : 0), -1, 0);
		if (!i) madvise(own[i], size, MADV_NOHUGEPAGE);
	}
	for (long i = 0; i < n; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (long i = 0; i < n; i++) pthread_join(t[i], 0);
	printf("%ld\n", sum[0]);
	return 0;
}
