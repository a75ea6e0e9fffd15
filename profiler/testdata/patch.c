// Changes its own code: how often, how many other threads run meanwhile, and
// whether a child protects memory of its own, are its arguments.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NI __attribute__((noinline))
#define MARK 0x12345678

NI static long answer(long x) { // an immediate operand is changed
	long r = x;
	__asm__ volatile("add $0x12345678, %0" : "+r"(r));
	return r;
}

NI static long other(long x) { return x % 3 ? x * 7 : x + 1; }

static void set(void *code, int from, int to) {
	unsigned char *p = code;
	while (memcmp(p, &from, 4)) p++;
	uintptr_t page = (uintptr_t)p & -4096;
	size_t n = (uintptr_t)p + 4 - page;
	if (mprotect((void *)page, n, PROT_READ | PROT_WRITE | PROT_EXEC)) abort();
	memcpy(p, &to, 4);
	if (mprotect((void *)page, n, PROT_READ | PROT_EXEC)) abort();
}

static volatile int stop;
static void *beside(void *p) {
	long s = 0;
	for (long i = 0; !stop; i++) s += other(i) + other(i + 1);
	return (void *)(s & 1);
}

int main(int argc, char **argv) {
	int rounds = argc > 1 ? atoi(argv[1]) : 3, threads = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t t[8];
	long s = 0;
	for (int i = 0; i < threads; i++) pthread_create(&t[i], NULL, beside, NULL);
	for (int i = 0; i < 1000; i++) s += answer(i) + other(i);
	for (int r = 0; r < rounds; r++) {
		set(answer, r ? 1000 * r : MARK, 1000 * (r + 1));
		long before = s;
		for (int i = 0; i < 1000; i++) s += answer(i) + other(i);
		printf("%d: %ld\n", r, s - before);
	}
	if (argc > 3) {
		int status = 0;
		if (!fork()) {
			void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			_exit(mprotect(p, 4096, PROT_READ | PROT_WRITE) ? 1 : 42);
		}
		wait(&status);
		printf("child %x\n", status);
	}
	stop = 1;
	for (int i = 0; i < threads; i++) pthread_join(t[i], NULL);
	printf("%ld\n", s);
	return 0;
}
