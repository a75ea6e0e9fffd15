// Gives up by siglongjmp from the handler of a signal from outside: of a timer,
// or, with an argument, its own.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#define NI __attribute__((noinline))
static sigjmp_buf back;
static volatile long entries, exits, others;

static void leap(int sig) { siglongjmp(back, 1); }

NI static long work(long n) {
	long x = 1;
	entries++;
	for (long i = 0; i < n; i++) x = x * 3 + i;
	if (entries % 1000 == 0) raise(SIGUSR1);
	exits++;
	return x;
}

NI static long other(long n) {
	others++;
	return n * 7 + 1;
}

int main(int argc, char **argv) {
	volatile long s = 0;
	signal(SIGALRM, leap);
	signal(SIGUSR1, argc > 1 ? leap : SIG_IGN);
	for (volatile int k = 0; k < 20; k++) {
		struct itimerval it = {{0, 0}, {0, argc > 1 ? 0 : 2000}};
		s += other(k);
		if (sigsetjmp(back, 1)) continue;
		setitimer(ITIMER_REAL, &it, NULL);
		for (;;) s += work(300);
	}
	printf("%d\n", entries > exits && others == 20);
	return 0;
}
