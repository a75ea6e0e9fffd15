// Everything that processes and threads do to each other; the argument says what.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
extern char etext;
static volatile long ticks;

static __attribute__((noinline)) long mill(long n) {
	long s = 0;
	for (long i = 0; i < n; i++)
		s = s * 3 + (i & s);
	return s;
}
static void *thread(void *a) { return (void *)mill((long)a); }
static void onsignal(int s) { ticks++; mill(5 + s); }
static void clean(void *p) { printf("cleanup %s\n", (char *)p); fflush(stdout); }
static void *endless(void *a) {
	pthread_cleanup_push(clean, a);
	for (;;) { mill(1000); pthread_testcancel(); }
	pthread_cleanup_pop(0);
	return NULL;
}
// What programs do that want their text on huge pages.
static int move(void) {
	char *from = (char *)((unsigned long)mill & -4096L);
	size_t n = (&etext - from + 4095) & -4096L;
	void *to = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(to, from, n);
	madvise(to, n, MADV_HUGEPAGE);
	mprotect(to, n, PROT_READ | PROT_EXEC);
	return mremap(to, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, from) == from;
}
static int status(pid_t p) { int s; waitpid(p, &s, 0); return WIFSIGNALED(s) ? 100 + WTERMSIG(s) : WEXITSTATUS(s); }

static void run(const char *what, char **argv) {
	pthread_t t;
	pid_t p;
	void *r;
	if (!strcmp(what, "fork")) {
		long s = 0;
		for (int i = 0; i < 10; i++) {
			if (!(p = fork())) { printf("child %ld\n", mill(1000 + i)); fflush(stdout); _exit(i); }
			s += status(p);
		}
		printf("sum %ld\n", s);
	} else if (!strcmp(what, "fork-thread")) {
		if (!(p = fork())) {
			pthread_create(&t, NULL, thread, (void *)1000);
			pthread_join(t, &r);
			printf("child's thread %ld\n", (long)r);
			exit(3);
		}
		printf("%d\n", status(p));
	} else if (!strcmp(what, "fork-crash")) {
		if (!(p = fork())) { mill(100); abort(); }
		printf("%d\n", status(p));
	} else if (!strcmp(what, "vfork")) {
		for (int i = 0; i < 3; i++) {
			if (!(p = vfork())) { execlp("echo", "echo", "hi", (char *)NULL); _exit(1); }
			printf("%d\n", status(p));
			fflush(stdout);
		}
	} else if (!strcmp(what, "spawn")) {
		char *a[] = {"echo", "spawned", NULL};
		posix_spawnp(&p, "echo", NULL, NULL, a, environ);
		printf("%d\n", status(p));
		fflush(stdout);
		printf("%d\n", system("echo shell"));
	} else if (!strcmp(what, "exec")) {
		execlp("sh", "sh", "-c", "echo replaced; exit 9", (char *)NULL);
	} else if (!strcmp(what, "exec-thread")) {
		pthread_create(&t, NULL, endless, "never");
		execlp("sh", "sh", "-c", "echo replaced; exit 9", (char *)NULL);
	} else if (!strcmp(what, "threads")) {
		long s = 0;
		for (long i = 0; i < 1000; i++) {
			pthread_create(&t, NULL, thread, (void *)(i % 100));
			pthread_join(t, &r);
			s += (long)r;
		}
		printf("%ld\n", s);
	} else if (!strcmp(what, "timer")) {
		struct itimerval it = {{0, 1000}, {0, 1000}};
		signal(SIGPROF, onsignal);
		setitimer(ITIMER_PROF, &it, NULL);
		long s = 0;
		while (ticks < 50) s |= mill(10000) != mill(10000);
		memset(&it, 0, sizeof it);
		setitimer(ITIMER_PROF, &it, NULL);
		printf("%ld\n", s);
	} else if (!strcmp(what, "clock")) { // signals in the vDSO
		struct itimerval it = {{0, 1000}, {0, 1000}};
		struct timespec now = {0, 0};
		signal(SIGALRM, onsignal);
		setitimer(ITIMER_REAL, &it, NULL);
		while (ticks < 50) clock_gettime(CLOCK_MONOTONIC, &now);
		memset(&it, 0, sizeof it);
		setitimer(ITIMER_REAL, &it, NULL);
		printf("%d\n", now.tv_sec > 0);
	} else if (!strcmp(what, "pages")) {
		printf("%d\n", move());
		pthread_create(&t, NULL, thread, (void *)1000);
		pthread_join(t, &r);
		printf("%ld\n", (long)r);
	} else if (!strcmp(what, "where")) {
		printf("%p %p\n", (void *)run, (void *)&environ);
	} else if (!strcmp(what, "cancel")) {
		pthread_create(&t, NULL, endless, "handler");
		pthread_cancel(t);
		pthread_join(t, &r);
		printf("%d\n", r == PTHREAD_CANCELED);
	} else if (!strcmp(what, "altstack")) {
		stack_t ss = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
		struct sigaction sa = {.sa_handler = onsignal, .sa_flags = SA_ONSTACK};
		sigaltstack(&ss, NULL);
		sigaction(SIGUSR1, &sa, NULL);
		for (int i = 0; i < 500; i++) { mill(100); raise(SIGUSR1); }
		printf("%ld\n", ticks);
	} else if (!strcmp(what, "breakpoint")) {
		signal(SIGTRAP, onsignal);
		raise(SIGTRAP);
		__asm__ volatile("int3");
		printf("%ld\n", ticks);
	} else if (!strcmp(what, "main-exits")) {
		pthread_create(&t, NULL, thread, (void *)10000000);
		fflush(stdout);
		pthread_exit(NULL);
	} else if (!strcmp(what, "name")) {
		printf("%s\n", strrchr(argv[0], '/') ? strrchr(argv[0], '/') : argv[0]);
	} else if (!strcmp(what, "killed")) {
		raise(SIGKILL);
	} else if (!strcmp(what, "segv")) {
		mill(1000);
		*(volatile int *)0 = 1;
	}
}

int main(int argc, char **argv) {
	if (argc > 1) run(argv[1], argv);
	return 4;
}
