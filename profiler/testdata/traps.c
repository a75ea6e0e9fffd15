// Code behind an instruction that only traps: a handler skips it.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

static volatile int hits, sink;

static void handler(int sig, siginfo_t *info, void *u)
{
	greg_t *pc = &((ucontext_t *)u)->uc_mcontext.gregs[REG_RIP];
	hits++;
	*pc += *(unsigned char *)*pc == 0x0f ? 2 : 1;
}

__attribute__((noinline)) static int skips(int n)
{
	sink = n;
	if (n & 1) {
		__asm__ volatile("ud2");
		for (int i = 0; i < n; i++)
			sink = i;
		if (n & 2)
			__asm__ volatile("hlt");
		sink = 9;
	}
	return sink + 1;
}

__attribute__((noinline)) static int ends(int n)
{
	if (n > 100)
		__builtin_trap();
	return n * 3;
}

int main(void)
{
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	sigaction(SIGILL, &sa, 0);
	sigaction(SIGSEGV, &sa, 0);
	int s = 0;
	for (int i = 0; i < 20; i++)
		s += skips(i) + ends(i);
	printf("%d %d\n", s, hits);
	return 0;
}
