// exit() deep in a worker while others wait: every thread ends with frames open.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_barrier_t here;
static long out[3];
static __attribute__((noinline)) long down(long id, long n) {
	long s = 0;
	for (long i = 0; i < 20 * n + id; i++) s += i;
	out[id] += s;
	if (n == 0) pthread_exit(NULL);
	return down(id, n - 1) + 1;
}
static void *run(void *a) {
	long id = (long)(intptr_t)a;
	pthread_barrier_wait(&here);
	out[id] += id;
	down(id, 5 + id);
	return NULL;
}
int main(void) {
	pthread_t t[2];
	pthread_barrier_init(&here, NULL, 3);
	for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, run, (void *)(intptr_t)i);
	pthread_barrier_wait(&here);
	for (long i = 0; i < 2; i++) pthread_join(t[i], NULL);
	printf("%ld %ld\n", out[0], out[1]);
	exit(3);
}
