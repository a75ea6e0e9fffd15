// Small parallel programs with one known cause of imbalance each; goldens.py
// turns their counts into the tables beside this file.
//
//	cc -O2 -g -pthread -DCASE=n planted.c -o planted && ./planted THREADS
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static pthread_barrier_t bar;
static volatile long sink;
static long data[4096];

__attribute__((noinline)) static long step(long x, int n) {
	for (int i = 0; i < n; i++) x = x * 6364136223846793005L + (x >> 7 ^ i);
	return x;
}

#if CASE == 1 // block ownership: few blocks for most threads
static long work(int me) {
	long s = me;
	for (int i = 0; i < 15; i++)
		for (int j = 0; j < 15; j++)
			if ((i + j) % (2 * P) / 2 == me && (i * j) % 3 != 1)
				s += step(s, 300);
	return s;
}
#elif CASE == 2 // one thread alone does something more
static long work(int me) {
	long s = step(me, 5000);
	if (me == 0)
		for (int i = 0; i < 40; i++) s += step(s, 100);
	return s;
}
#elif CASE == 3 // trip counts differ, beside decoys that differ and cost nothing
static long work(int me) {
	long s = me;
	int trips = 100 + 37 * ((me * 5) % P);
	for (int i = 0; i < trips; i++) {
		s += data[(s + i) & 4095];
		s = step(s, 20);
	}
	for (int i = 0; i < (me * 3) % P; i++) sink += i;
	if (me & 1) sink++;
	return s;
}
#elif CASE == 4 // a loop of one block
static long work(int me) {
	long s = me, n = 20000 + 5000 * ((me * 7) % P);
	for (long i = 0; i < n; i++) s = s * 3 + i;
	return s;
}
#elif CASE == 5 // recursion over trees of different sizes
__attribute__((noinline)) static long tree(long x, int depth) {
	if (depth == 0) return x;
	long a = tree(x * 3 + 1, depth - 1);
	if (a & 4) a += tree(a + x, depth - 1);
	return a * 5 + 3;
}
static long work(int me) {
	long s = 0;
	for (int i = 0; i < 4; i++) s += tree(me + i, 6 + (me * 3) % P);
	return s;
}
#elif CASE == 6 // a || b: neither way in is the cause alone
static long work(int me) {
	long s = me;
	for (int i = 0; i < 600; i++) {
		data[i] = i * 2654435761L ^ i >> 3;
		if (data[i] % 11 == me % 5 || (data[i] >> 9) % 13 > 12 - me) {
			s = step(s, 50);
			sink = s;
		}
	}
	return s;
}
#elif CASE == 7 // two causes, nine to one or so
static long work(int me) {
	long s = me;
	for (int i = 0; i < 400; i++) {
		if (i % P <= me) s = step(s, 40);
		if (i * 7 % 5 == me % 5) s = step(s, 23);
		sink = s;
	}
	return s;
}
#elif CASE == 8 // balanced
static long work(int me) {
	long s = me;
	for (int i = 0; i < 300; i++) s = step(s, 20);
	return s;
}
#elif CASE == 9 // two loops of which each makes up for most of the other
static long work(int me) {
	long s = me;
	for (int i = 0; i < 100 + 60 * me; i++) s = s * 5 + data[s & 4095];
	sink = s;
	for (int i = 0; i < 100 + 60 * (P - me) + 25 * (me * me % P); i++) s = s * 7 + data[s >> 3 & 4095];
	return s;
}
#endif

static void *run(void *arg) {
	int me = (int)(long)arg;
	pthread_barrier_wait(&bar);
	for (int k = 0; k < 2; k++) {
		sink += work(me);
		pthread_barrier_wait(&bar);
	}
	return 0;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t t[64];
	pthread_barrier_init(&bar, 0, P);
	for (long i = 0; i < P; i++) pthread_create(&t[i], 0, run, (void *)i);
	for (int i = 0; i < P; i++) pthread_join(t[i], 0);
	printf("%ld\n", sink != 0);
}
