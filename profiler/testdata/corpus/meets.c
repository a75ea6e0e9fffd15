// Threads that meet at barriers from different depths, with a helper between.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#define NI __attribute__((noinline))
enum { N = 4 };
static pthread_barrier_t bar;
static long out[N];
static NI long work(long id, long k) {
	long s = 0;
	for (long i = 0; i < 100 * (id + 1) + k; i++) s += i * k ^ id;
	return s;
}
static NI void step(long id, long k, long depth) {
	if (depth > 0) { step(id, k, depth - 1); out[id] += depth; return; }
	out[id] += work(id, k);
	pthread_barrier_wait(&bar);
	if (k % 3 == id % 3) out[id] += work(id, 7);
}
static void *run(void *a) {
	long id = (long)(intptr_t)a;
	for (long k = 0; k < 20; k++) step(id, k, (id + k) % 5);
	pthread_barrier_wait(&bar);
	return NULL;
}
int main(void) {
	pthread_t t[N];
	pthread_barrier_init(&bar, NULL, N);
	for (long i = 1; i < N; i++) pthread_create(&t[i], NULL, run, (void *)(intptr_t)i);
	run(0);
	for (long i = 1; i < N; i++) pthread_join(t[i], NULL);
	printf("%ld %ld %ld %ld\n", out[0], out[1], out[2], out[3]);
	return 0;
}
