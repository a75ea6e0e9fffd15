// Handlers that skip the instruction that faulted, or fix what it reads. With
// an argument nothing faults, and peek and sum execute the same instructions.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#define NI __attribute__((noinline))
static char *page;
static volatile long skipped, fixed, acc;
static NI long mill(long n) {
	long s = 0;
	for (long i = 0; i < n; i++) s = s * 3 + (i & s);
	return s;
}
static void skip(int sig, siginfo_t *si, void *c) {
	skipped++;
	acc += mill(5);
	((ucontext_t *)c)->uc_mcontext.gregs[REG_RIP] += 3;
}
static void fix(int sig, siginfo_t *si, void *c) {
	fixed++;
	acc += mill(7);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
static void handle(void (*h)(int, siginfo_t *, void *)) {
	struct sigaction sa = {.sa_sigaction = h, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &sa, NULL);
}
static NI long peek(long *p, long n) {
	long s = mill(n), x;
	do {
		s = s * 5 + n;
		__asm__ volatile("mov $1, %%ebx\n\tmov (%%rax), %%rbx" : "=b"(x) : "a"(p));
		s += x;
	} while (n-- % 7);
	return s;
}
// These fault where functions begin, and where calls return to.
long first(long *p), behind(long *p);
__asm__(".text\n.type first, @function\nfirst: mov (%rdi), %rcx\n\tlea 1(%rdi), %rax\n\tret\n.size first, . - first\n"
	".type behind, @function\nbehind: push %rdi\n\tcall nothing\n\tmov (%rdi), %rcx\n\tcall first\n\tpop %rdi\n"
	"\tret\n.size behind, . - behind\n.type nothing, @function\nnothing: mov $9, %eax\n\tret\n.size nothing, . - nothing\n");
static NI long sum(const char *p, long n) {
	long s = 0;
	for (long i = 0; i < n; i++)
		if (p[i] != i % 3) s += p[i] * 3 + i;
	return s;
}
int main(int argc, char **argv) {
	long *nowhere = argc > 1 ? (long *)&acc : NULL;
	int access = argc > 1 ? PROT_READ : PROT_NONE;
	page = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (long i = 0; i < 50; i++) {
		handle(skip);
		acc += peek(nowhere, i) + peek((long *)&acc, i) + first(nowhere) + behind(nowhere);
		mprotect(page, 4096, access);
		handle(fix);
		acc += sum(page, i * 3);
		mprotect(page, 4096, access);
		acc += i % 2 ? first((long *)page) : behind((long *)page);
	}
	return (skipped != 0) + (fixed != 0);
}
