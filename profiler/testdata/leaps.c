// Faults whose handler goes elsewhere, or back.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf env;
static ucontext_t context;
static volatile int hits, how, sink;
static int good = 3;

static void handler(int sig, siginfo_t *info, void *u)
{
	ucontext_t *c = u;
	hits++;
	switch (how) {
	case 1: siglongjmp(env, 1);
	case 2: setcontext(&context);
	case 3: c->uc_mcontext.gregs[REG_RAX] = (greg_t)&good; return; // and again
	case 4: printf("%d hits\n", hits); exit(0);
	case 5: siglongjmp(env, 1);
	}
}

__attribute__((noinline)) static int load(int *p, int n)
{
	int s = 0;
	if (n & 1) {
		sink = n;
		__asm__ volatile("mov (%%rax), %0" : "=r"(s) : "a"(p));
		sink = s + 1;
		s += sink;
	} else {
		sink = n + 2;
	}
	return s + n;
}

__attribute__((noinline)) static int once(int n)
{
	int r = load(n % 4 == 3 && how != 5 ? (int *)8 : &good, n);
	if (n % 4 == 3 && how == 5)
		r += strlen((char *)8); // it is in the library that it faults
	sink = r;
	return r + 1;
}

__attribute__((noinline)) static int other(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += i ^ sink;
	return s;
}

int main(int argc, char **argv)
{
	static char alt[65536];
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof alt};
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER};
	how = atoi(argv[1]);
	if (argc > 2) {
		sigaltstack(&ss, 0);
		sa.sa_flags |= SA_ONSTACK;
	}
	sigaction(SIGSEGV, &sa, 0);
	volatile int s = 0, i = 0;
	getcontext(&context);
	for (; i < 100;) {
		i++;
		if (sigsetjmp(env, 1) == 0)
			s += once(i) + (other(i) & 1);
	}
	printf("%d %d\n", s & 1, hits);
	return 0;
}
