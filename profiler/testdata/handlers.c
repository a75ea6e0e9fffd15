// What handlers of signals see of the place that they interrupt, and do to it;
// the argument says what. What is printed must not depend on who looks on.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NI __attribute__((noinline))
#define PC(c) ((c)->uc_mcontext.gregs[REG_RIP])
extern char __executable_start[], etext[];
static atomic_long ticks, strange, shallow;
static sigjmp_buf back;
static char *page;

static long ours(long pc) { return pc >= (long)__executable_start && pc < (long)etext ? pc - (long)__executable_start : 0; }

// Code that files hold, and the kernel's; noted before, since a handler must
// not ask the dynamic linker, whose locks the thread may hold.
static struct { long lo, hi; } code[64];
static int codes;
static void note_code(void) {
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4200], mode[8], path[4096];
	while (f && codes < 64 && fgets(line, sizeof line, f)) {
		*path = 0;
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %4095s", (unsigned long *)&code[codes].lo, (unsigned long *)&code[codes].hi, mode, path) >= 3)
			codes += mode[2] == 'x' && (*path == '/' || *path == '[');
	}
	if (f) fclose(f);
}
static int known(long pc) {
	for (int i = 0; i < codes; i++)
		if (pc >= code[i].lo && pc < code[i].hi) return 1;
	return 0;
}

// Code that has counters of all kinds: in loops, with flags alive, in calls,
// through pointers, in switches.
static NI long mill(long n) {
	long s = 0;
	for (long i = 0; i < n; i++)
		s = s * 3 + (i & s);
	return s;
}
static NI long one(long x) { return x + 1; }
static NI long two(long x) { return x ^ 2; }
static long (*volatile both[])(long) = {one, two};
static NI long choose(long x) {
	switch (x % 7) {
	case 0: return x * 5;
	case 1: return x - 3;
	case 2: return one(x);
	case 3: return x ^ 77;
	case 4: return two(x) + one(x);
	case 5: return -x;
	}
	return x;
}
static NI long flags(long a, long n) { // the carry lives across a branch
	long s = a;
	for (long i = 0; i < n; i++)
		__asm__ volatile("add %1, %0\n\tjs 1f\n\tadc $3, %0\n1:\tadc $1, %0" : "+r"(s) : "r"(i) : "cc");
	return s;
}
static NI long deep(long n) { return n < 2 ? n : deep(n - 1) + (deep(n - 2) & 0xff); }
static NI long work(long n) {
	long s = 0;
	for (long i = 0; i < n; i++)
		s += choose(s + i) + both[i & 1](s) + flags(s, 5) + deep(6);
	return s + mill(n);
}

static void look(int sig, siginfo_t *si, void *c) {
	ticks++;
	strange += !known(PC((ucontext_t *)c));
}
static void trace(int sig, siginfo_t *si, void *c) {
	void *f[64];
	int n = backtrace(f, 64), found = 0;
	Dl_info i;
	ticks++;
	for (int k = 0; k < n; k++)
		found |= dladdr(f[k], &i) && i.dli_sname && !strcmp(i.dli_sname, "main");
	shallow += !found;
}
static void print_frames(int sig, siginfo_t *si, void *c) {
	void *f[64];
	int n = backtrace(f, 64);
	for (int k = 0; k < n; k++)
		printf("%lx%c", ours((long)f[k]), k + 1 < n ? ' ' : '\n');
	longjmp(back, 1);
}
static void handle(int sig, void (*h)(int, siginfo_t *, void *), int flags) {
	struct sigaction sa = {.sa_sigaction = h, .sa_flags = SA_SIGINFO | flags};
	if (!flags) sigfillset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}
static void timer(int which, long us) {
	struct itimerval it = {{0, us}, {0, us}};
	setitimer(which, &it, NULL);
}
static NI long faulty(long *p) { // three bytes long
	long x = 7;
	__asm__ volatile("mov (%%rax), %%rbx" : "+b"(x) : "a"(p));
	return x;
}
static NI long faulty_long(long *p) { // eight
	long x = 9;
	__asm__ volatile("mov 0x1000(%%rax,%%rax), %%rbx" : "+b"(x) : "a"(p));
	return x;
}
static void skip(int sig, siginfo_t *si, void *c) {
	unsigned char *pc = (unsigned char *)PC((ucontext_t *)c);
	ticks++;
	strange += !known((long)pc);
	PC((ucontext_t *)c) += *pc == 0x48 && pc[2] == 0x18 ? 3 : 8;
}
static long seven = 7, first_pc;
static void fix(int sig, siginfo_t *si, void *c) {
	ucontext_t *u = c;
	if (!first_pc) first_pc = ours(PC(u));
	strange += ours(PC(u)) != first_pc;
	u->uc_mcontext.gregs[REG_RAX] = (long)&seven;
}
static void leap(int sig, siginfo_t *si, void *c) { ticks++; siglongjmp(back, 1); }
// Faults where functions begin, and where calls return to.
long first(long *p), behind(long *p);
__asm__(".text\n.type first, @function\nfirst: mov (%rdi), %rax\n\tadd $1, %rax\n\tret\n.size first, . - first\n"
	".type behind, @function\nbehind: .cfi_startproc\n\tpush %rdi\n\t.cfi_adjust_cfa_offset 8\n\tcall last\n\tmov (%rdi), %rcx\n\tadd %rcx, %rax\n"
	"\tpop %rdi\n\t.cfi_adjust_cfa_offset -8\n\tret\n.cfi_endproc\n.size behind, . - behind\n.type last, @function\nlast: mov $9, %eax\n\tret\n.size last, . - last\n");
static int depth;
static void fix_argument(int sig, siginfo_t *si, void *c) {
	strange += !known(PC((ucontext_t *)c));
	if (depth++ < 3) ticks += first(0) + behind(0) + work(1);
	depth--;
	((ucontext_t *)c)->uc_mcontext.gregs[REG_RDI] = (long)&seven;
}
static void skip_three(int sig, siginfo_t *si, void *c) {
	if (ticks++ < 5) printf("%lx\n", ours(PC((ucontext_t *)c)));
	PC((ucontext_t *)c) += 3;
	first(&seven);
}
static void divide(int sig, siginfo_t *si, void *c) {
	strange += (long)si->si_addr != PC((ucontext_t *)c) || !known((long)si->si_addr);
	((ucontext_t *)c)->uc_mcontext.gregs[REG_RCX] = 3;
}
static void where(int sig, siginfo_t *si, void *c) { printf("%d at %lx\n", sig, ours(PC((ucontext_t *)c))); ticks++; }
static void again(int sig, siginfo_t *si, void *c) {
	look(sig, si, c);
	if (ticks % 3) raise(SIGUSR1);
	if (sig == SIGUSR1) { faulty(0); work(1); }
}
static void unlock(int sig, siginfo_t *si, void *c) { ticks++; mprotect(page, 4096, PROT_READ | PROT_WRITE); }
static NI long overflow(long n) {
	volatile char a[256];
	a[n % 256] = n;
	return overflow(n + 1) + a[(n + 1) % 256];
}
static pthread_barrier_t meeting;
static void *meet(void *a) {
	long s = (long)a;
	for (int i = 0; i < 3000; i++) { s += work(s & 3); pthread_barrier_wait(&meeting); }
	return (void *)s;
}
static void *worker(void *a) { return (void *)work((long)a); }
static atomic_int stop;
static void *busy(void *a) {
	while (!stop) work(10);
	return NULL;
}

static void run(const char *what) {
	long s = 0;
	pthread_t t[4], u;
	void *r;
	if (!strcmp(what, "look")) {
		handle(SIGALRM, look, SA_RESTART);
		timer(ITIMER_REAL, 500);
		while (ticks < 400) s |= work(100) != work(100);
		timer(ITIMER_REAL, 0);
	} else if (!strcmp(what, "trace")) {
		handle(SIGALRM, trace, SA_RESTART);
		backtrace((void *[1]){0}, 1); // loads what it needs
		timer(ITIMER_REAL, 1000);
		while (ticks < 200) s |= work(100) != work(100);
		timer(ITIMER_REAL, 0);
	} else if (!strcmp(what, "frames")) {
		handle(SIGSEGV, print_frames, SA_NODEFER);
		for (int i = 0; i < 3; i++)
			if (!setjmp(back)) s += one(faulty(0));
	} else if (!strcmp(what, "skip")) {
		handle(SIGSEGV, skip, 0);
		for (int i = 0; i < 100; i++) s += faulty(0) * i + faulty_long(0) + faulty(&seven);
	} else if (!strcmp(what, "skip-timer")) {
		handle(SIGSEGV, skip, 0);
		handle(SIGALRM, look, SA_RESTART);
		timer(ITIMER_REAL, 500);
		for (int i = 0; i < 3000; i++) s += faulty(0) * i + faulty_long(0) + work(5);
		timer(ITIMER_REAL, 0);
		ticks = 0;
	} else if (!strcmp(what, "fix")) {
		handle(SIGSEGV, fix, 0);
		for (int i = 0; i < 100; i++) s += faulty(0);
		printf("%lx\n", first_pc);
	} else if (!strcmp(what, "first")) {
		handle(SIGSEGV, fix_argument, SA_NODEFER);
		for (int i = 0; i < 30; i++) s = s * 3 + first(0) + behind(0);
		handle(SIGSEGV, skip_three, 0);
		for (int i = 0; i < 30; i++) s = s * 3 + (first(0) & 1) + (behind(0) & 1) + first(&seven);
		handle(SIGSEGV, leap, 0);
		for (volatile int i = 0; i < 30; i++)
			if (!sigsetjmp(back, 1)) s += i % 2 ? first(0) : behind(0);
		handle(SIGSEGV, fix_argument, SA_NODEFER);
		for (int i = 0; i < 30; i++) s = s * 3 + first(0) + behind(0);
		handle(SIGSEGV, print_frames, SA_NODEFER);
		for (volatile int i = 0; i < 3; i++)
			if (!setjmp(back)) s += i % 2 ? first(0) : behind(0);
	} else if (!strcmp(what, "divide")) {
		handle(SIGFPE, divide, 0);
		for (long i = 0; i < 100; i++) {
			long q = i, rem = 0;
			__asm__ volatile("idiv %%rcx" : "+a"(q), "+d"(rem) : "c"(0L) : "cc");
			s += q;
		}
	} else if (!strcmp(what, "page")) {
		page = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		handle(SIGSEGV, unlock, 0);
		for (int i = 0; i < 100; i++) {
			page[i] += i;
			for (int k = 0; k <= i; k++) s += page[k];
			mprotect(page, 4096, PROT_NONE);
		}
	} else if (!strcmp(what, "leap")) {
		handle(SIGSEGV, leap, 0);
		for (volatile int i = 0; i < 100; i++)
			if (!sigsetjmp(back, 1)) s += faulty(0) + i;
	} else if (!strcmp(what, "leap-timer")) {
		handle(SIGALRM, leap, 0);
		for (volatile int i = 0; i < 50; i++) {
			if (!sigsetjmp(back, 1)) {
				timer(ITIMER_REAL, 700);
				for (;;) s |= work(10) != work(10);
			}
			timer(ITIMER_REAL, 0);
		}
	} else if (!strcmp(what, "altstack")) {
		stack_t ss = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
		sigaltstack(&ss, NULL);
		handle(SIGSEGV, leap, SA_ONSTACK);
		for (volatile int i = 0; i < 3; i++)
			if (!sigsetjmp(back, 1)) s += overflow(0);
		handle(SIGALRM, look, SA_ONSTACK | SA_RESTART);
		timer(ITIMER_REAL, 500);
		while (ticks < 100) s |= work(100) != work(100);
		timer(ITIMER_REAL, 0);
	} else if (!strcmp(what, "breakpoint")) {
		handle(SIGTRAP, where, 0);
		for (int i = 0; i < 3; i++) { __asm__ volatile("int3"); s += one(i); }
		raise(SIGTRAP);
		signal(SIGTRAP, SIG_IGN);
		raise(SIGTRAP);
	} else if (!strcmp(what, "illegal")) {
		handle(SIGILL, print_frames, SA_NODEFER);
		if (!setjmp(back)) __asm__ volatile("imul $12345, %0, %0\n\tud2" : "+r"(s)); // not right behind the call, whose springboard is there
		s = 0;
	} else if (!strcmp(what, "nested")) {
		handle(SIGALRM, again, SA_RESTART);
		handle(SIGUSR1, again, SA_NODEFER);
		handle(SIGSEGV, skip, SA_NODEFER);
		timer(ITIMER_REAL, 1000);
		while (ticks < 300) s |= work(20) != work(20);
		timer(ITIMER_REAL, 0);
		ticks = 0;
	} else if (!strcmp(what, "threads")) {
		handle(SIGUSR1, look, SA_RESTART);
		for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, busy, NULL);
		for (long i = 0; i < 300; i++) {
			pthread_create(&u, NULL, worker, (void *)(i % 5));
			for (int k = 0; k < 3; k++) pthread_kill(t[k], SIGUSR1);
			pthread_join(u, &r);
			s += (long)r;
		}
		stop = 1;
		for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
		ticks = 0;
	} else if (!strcmp(what, "stress")) {
		handle(SIGPROF, look, SA_RESTART);
		handle(SIGALRM, look, SA_RESTART);
		timer(ITIMER_PROF, 1000);
		timer(ITIMER_REAL, 300);
		for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, worker, (void *)(1500000L + i));
		for (int i = 0; i < 4; i++) { pthread_join(t[i], &r); s = s * 31 + (long)r; }
		timer(ITIMER_PROF, 0);
		timer(ITIMER_REAL, 0);
		ticks = 0;
	} else if (!strcmp(what, "stopped")) {
		handle(SIGALRM, look, SA_RESTART);
		pid_t us = getpid(), child;
		timer(ITIMER_REAL, 100);
		if (!(child = fork())) {
			for (int i = 0; i < 300; i++) { kill(us, SIGSTOP); work(20); kill(us, SIGCONT); work(20); }
			_exit(0);
		}
		for (int i = 0; i < 2000; i++) s += work(100);
		while (waitpid(child, NULL, 0) < 0) {}
		timer(ITIMER_REAL, 0);
		ticks = 0;
	} else if (!strcmp(what, "meet")) {
		pthread_barrier_init(&meeting, NULL, 4);
		handle(SIGALRM, look, SA_RESTART);
		timer(ITIMER_REAL, 200);
		for (long i = 0; i < 4; i++) pthread_create(&t[i], NULL, meet, (void *)i);
		for (int i = 0; i < 4; i++) { pthread_join(t[i], &r); s = s * 31 + (long)r; }
		timer(ITIMER_REAL, 0);
		ticks = 0;
	} else if (!strcmp(what, "sleep")) { // a system call is started again, by whom?
		handle(SIGALRM, look, SA_RESTART);
		timer(ITIMER_REAL, 1000);
		int fd[2];
		char c = 0;
		for (int i = 0; i < 20; i++) {
			if (pipe(fd)) return;
			if (!fork()) { work(3000); if (write(fd[1], "x", 1) < 0) _exit(1); _exit(0); }
			while (read(fd[0], &c, 1) != 1) s += 1000000;
			s += c;
			close(fd[0]);
			close(fd[1]);
		}
		timer(ITIMER_REAL, 0);
		ticks = 0;
	} else if (!strcmp(what, "exits")) {
		handle(SIGSEGV, (void (*)(int, siginfo_t *, void *))exit, 0);
		s = faulty(0);
	} else if (!strcmp(what, "die")) {
		s = work(10) + faulty(0);
	}
	printf("%s %ld strange %ld shallow %ld\n", what, s, (long)strange, (long)shallow);
	if (ticks < 400) printf("%d\n", ticks > 0);
}

int main(int argc, char **argv) {
	void *f[1];
	backtrace(f, 1); // loads what it needs
	note_code();
	run(argc > 1 ? argv[1] : "");
	return 5;
}
