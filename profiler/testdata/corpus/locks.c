// Threads in strict turns: a mutex and condition variables, with a schedule
// that the program itself fixes, so that counts repeat.
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
enum { N = 4 };
static sem_t turn[N];
static long out[N], shared;
static __attribute__((noinline)) long work(long id, long k) { long s = 0; for (long i = 0; i < 50 * (id + 1) + k; i++) s += i ^ k; return s; }
static void *run(void *a) {
	long id = (long)(intptr_t)a;
	for (long k = 0; k < 30; k++) {
		sem_wait(&turn[id]);
		if ((shared + id) % 3 == 0) out[id] += work(id, k);
		shared += id + 1;
		sem_post(&turn[(id + 1) % N]);
	}
	return NULL;
}
int main(void) {
	pthread_t t[N];
	for (int i = 0; i < N; i++) sem_init(&turn[i], 0, i == 0);
	for (long i = 0; i < N; i++) pthread_create(&t[i], NULL, run, (void *)(intptr_t)i);
	for (long i = 0; i < N; i++) pthread_join(t[i], NULL);
	printf("%ld %ld %ld %ld\n", out[0], out[1], out[2], out[3]);
	return 0;
}
