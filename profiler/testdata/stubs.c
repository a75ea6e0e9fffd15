// Four threads, three rounds; library functions called through stubs.
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t barrier;
static long sums[4];

static void *work(void *p)
{
	long id = (long)p;
	for (int round = 0; round < 3; round++) {
		for (long i = 0; i < 1000 * (id + 1); i++)
			sums[id] += i ^ round;
		pthread_barrier_wait(&barrier);
	}
	return 0;
}

int main(void)
{
	pthread_t t[4];
	pthread_barrier_init(&barrier, 0, 4);
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	printf("%ld %ld %ld %ld\n", sums[0], sums[1], sums[2], sums[3]);
	return 0;
}
