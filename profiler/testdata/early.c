/* A program whose two threads work differently and meet, with libearly.c. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

extern int early_ask(int) __attribute__((weak));
enum { threads = 2, rounds = 20 };
static pthread_barrier_t meet;

static void *work(void *id) {
	volatile long sum = 0;
	for (int r = 0; r < rounds; r++) {
		for (intptr_t i = 0; i < 1000 * (1 + (intptr_t)id); i++)
			sum += i;
		pthread_barrier_wait(&meet);
	}
	return 0;
}

int main(void) {
	pthread_t t[threads];
	pthread_barrier_init(&meet, 0, threads);
	for (intptr_t i = 0; i < threads; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], 0);
	printf("%d\n", early_ask ? early_ask(100) : 0);
	return 5;
}
