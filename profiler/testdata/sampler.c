// To be preloaded: samples stacks, and lets the program fail where the addresses
// are not of its code.
#define _GNU_SOURCE
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static int seen;
static char *begins, *ends; // of the program

static int find(struct dl_phdr_info *i, size_t size, void *data)
{
	begins = (char *)i->dlpi_addr;
	for (int k = 0; k < i->dlpi_phnum; k++)
		if (i->dlpi_phdr[k].p_flags & PF_X)
			ends = begins + i->dlpi_phdr[k].p_vaddr + i->dlpi_phdr[k].p_memsz;
	return 1; // the first one is the program
}

#ifdef BY_HAND
extern char **environ;
static int frames(void **a, int max, ucontext_t *c)
{
	long *bp = (long *)c->uc_mcontext.gregs[REG_RBP], *below = (long *)&bp;
	int n = 0;
	for (; n < max && bp > below && (char *)bp < (char *)environ; below = bp, bp = (long *)bp[0])
		a[n++] = (void *)bp[1];
	return n;
}
#else
static int frames(void **a, int max, ucontext_t *c) { return backtrace(a, max); }
#endif

static void handler(int sig, siginfo_t *info, void *context)
{
	void *a[64];
	int n = frames(a, 64, context);
	int inside = 0;
	for (int i = 0; i < n; i++)
		inside += (char *)a[i] >= begins && (char *)a[i] < ends;
	seen += inside >= 10;
}

__attribute__((constructor)) static void begin(void)
{
	void *a[4];
	backtrace(a, 4); // loads what it needs
	dl_iterate_phdr(find, 0);
	struct sigaction sa = {0};
	sa.sa_sigaction = handler;
	sa.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGUSR1, &sa, 0);
}

__attribute__((destructor)) static void end(void)
{
	if (seen != 100)
		_exit(7);
}
