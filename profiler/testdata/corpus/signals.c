// A handler that runs the same counted code as what it interrupts. Signals
// are raised, not timed, so that counts repeat.
#include <signal.h>
#include <stdio.h>
#define NI __attribute__((noinline))
static volatile long hits, acc;
static NI long mill(long n) {
	long s = 0;
	for (long i = 0; i < n; i++) s = s * 3 + (i & s);
	return s;
}
static void handler(int sig) { hits++; acc += mill(10 + sig); }
int main(void) {
	struct sigaction sa = {.sa_handler = handler};
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	for (long i = 0; i < 300; i++) {
		acc += mill(i);
		if (i % 7 == 0) raise(i % 2 ? SIGUSR1 : SIGUSR2);
	}
	printf("%ld %ld\n", hits, acc);
	return 0;
}
