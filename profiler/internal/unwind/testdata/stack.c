/* Stacks of all kinds. stop() lets the C library's own unwinder walk the stack
   first, and then traps: whoever traces the program compares. */
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

void *trace[256];
int frames;
volatile int sink;

NOINLINE void stop(void) {
	frames = backtrace(trace, 256);
	__asm__ volatile("int3" ::: "memory");
}

NOINLINE int inner(int x) {
	stop();
	return x + sink;
}
NOINLINE int middle(int x) { return inner(x + 1) * 2 + sink; }
NOINLINE int outer(int x) { return middle(x * 3) ^ sink; }

/* A frame whose size is known at run time only: its CFA is kept in rbp. */
NOINLINE int dynamic(int n) {
	char *p = __builtin_alloca(n);
	memset(p, n, n);
	sink = p[n / 2];
	int r = outer(n) + p[0];
	sink = (int)(uintptr_t)p;
	return r;
}

/* A frame that is aligned: where the caller's is stands in an expression, with
   some compilers. */
NOINLINE int aligned(int n) {
	volatile char buf[256] __attribute__((aligned(128)));
	char *p = __builtin_alloca(n);
	buf[n] = 1;
	p[0] = 2;
	sink = p[0];
	return dynamic(n) + buf[n];
}

/* Every callee-saved register is in use across the call. */
NOINLINE int busy(int a, int b, int c, int d, int e, int f) {
	int x = a * b, y = b * c, z = c * d, u = d * e, v = e * f, w = f * a;
	int r = outer(a);
	return r + x * y - z * u + v * w + a + b * c - d + e * f;
}

NOINLINE int recursive(int n) {
	if (n == 0)
		return outer(n);
	return recursive(n - 1) + sink;
}

/* Its call is its last instruction: the address behind it is another function's. */
NOINLINE __attribute__((noreturn)) void leaves(void) {
	stop();
	_exit(0);
}
NOINLINE void last_call(int x) {
	sink = x;
	leaves();
}

/* Frames of the C library lie between. */
static int compare(const void *a, const void *b) {
	static int once;
	if (!once++)
		sink = outer(1);
	return *(const int *)a - *(const int *)b;
}
NOINLINE int callback(void) {
	int v[4] = {3, 1, 4, 1};
	qsort(v, 4, sizeof *v, compare);
	return v[0] + sink;
}

static void handler(int sig) {
	(void)sig;
	sink = outer(2);
	_exit(0);
}
/* The signal comes at an instruction, not behind a call. */
NOINLINE int faults(volatile int *p) {
	int r = *p;
	return r + sink;
}
NOINLINE int signalled(int alt) {
	struct sigaction a = {0};
	stack_t s = {0};
	if (alt) {
		s.ss_size = 1 << 16;
		s.ss_sp = malloc(s.ss_size);
		sigaltstack(&s, 0);
		a.sa_flags = SA_ONSTACK;
	}
	a.sa_handler = handler;
	sigaction(SIGSEGV, &a, 0);
	return faults((volatile int *)(uintptr_t)8) + sink;
}

static void *thread(void *p) {
	sink = outer((int)(uintptr_t)p);
	return 0;
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "";
	void *warm[2];
	backtrace(warm, 2); /* loads libgcc */
	if (!strcmp(what, "chain"))
		sink = outer(argc);
	if (!strcmp(what, "dynamic"))
		sink = dynamic(argc * 40);
	if (!strcmp(what, "aligned"))
		sink = aligned(argc * 40);
	if (!strcmp(what, "busy"))
		sink = busy(argc, 2, 3, 4, argc, 6);
	if (!strcmp(what, "recursive"))
		sink = recursive(100);
	if (!strcmp(what, "last"))
		last_call(argc);
	if (!strcmp(what, "callback"))
		sink = callback();
	if (!strcmp(what, "signal"))
		sink = signalled(0);
	if (!strcmp(what, "altstack"))
		sink = signalled(1);
	if (!strcmp(what, "thread")) {
		pthread_t t;
		pthread_create(&t, 0, thread, (void *)7);
		pthread_join(t, 0);
	}
	return sink == 12345;
}
