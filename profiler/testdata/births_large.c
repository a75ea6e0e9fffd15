// Many threads are born and die in a program of 220,000 instructions; then who created
// them enters functions for the first time.
#include <pthread.h>
#include <stdio.h>

static long sum;

static void *brief(void *n) {
	__atomic_fetch_add(&sum, (long)n % 7, __ATOMIC_RELAXED);
	return 0;
}

#define LARGE(name, step)                                                                      \
	__attribute__((noinline)) static long name(long n) {                                   \
		for (int i = 0; i < 3; i++)                                                    \
			__asm__ volatile(".rept 55000\n\tlea " step "(%0), %0\n\t.endr" : "+r"(n)); \
		return n;                                                                      \
	}
LARGE(one, "1")
LARGE(two, "2")
LARGE(three, "3")
LARGE(four, "4")

int main(void) {
	for (long i = 0; i < 1000; i++) {
		pthread_t t;
		if (pthread_create(&t, 0, brief, (void *)i))
			return 1;
		pthread_join(t, 0);
	}
	printf("%ld %ld\n", sum, one(1) + two(2) + three(3) + four(4));
	return 0;
}
