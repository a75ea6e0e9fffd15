// Threads that end by pthread_exit six frames deep, and ones that return.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#define NI __attribute__((noinline))
static long out[8];
static NI long down(long id, long n) {
	long s = 0;
	for (long i = 0; i < 50 + n; i++) s += i ^ id;
	out[id] += s;
	if (n == 0) pthread_exit(NULL);
	long r = down(id, n - 1);
	out[id] += r;
	return r + 1;
}
static void *leave(void *a) { down((long)(intptr_t)a, 6); return NULL; }
static void *stay(void *a) {
	long id = (long)(intptr_t)a;
	for (long i = 0; i < 1000 * id; i++) out[id] += i;
	return NULL;
}
int main(void) {
	pthread_t t[4];
	for (long i = 0; i < 4; i++) {
		pthread_create(&t[i], NULL, i % 2 ? leave : stay, (void *)(intptr_t)i);
		pthread_join(t[i], NULL);
	}
	printf("%ld %ld %ld %ld\n", out[0], out[1], out[2], out[3]);
	return 0;
}
