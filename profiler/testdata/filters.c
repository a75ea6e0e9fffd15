// Forbids itself the system calls that others make behind its back, then has
// threads meet, wait, be born and die. Arguments: what happens to who makes one
// (kill, errno, trap), then how and when it is forbidden: prctl, tsync (for all
// threads, while others wait), raw; late: when many threads have ended.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile long sink;
static pthread_barrier_t meeting;

static void *works(void *n) {
	for (int k = 0; k < 5; k++) {
		long s = 0;
		for (long i = 0; i < 100000 * ((long)n + 1); i++)
			s += i ^ (s << 1);
		sink = s;
		pthread_barrier_wait(&meeting);
	}
	return 0;
}

static void *sleeps(void *with) {
	for (int i = 0; i < 40; i++) {
		struct timespec t = {0, 1000000};
		syscall(SYS_nanosleep, &t, 0);
		if (with)
			pthread_barrier_wait(with);
	}
	return 0;
}

static void *brief(void *n) {
	sink = (long)n;
	return 0;
}

static pthread_t create(void *(*f)(void *), void *arg) {
	pthread_t t;
	if (pthread_create(&t, 0, f, arg))
		exit(99);
	return t;
}

static void together(void) {
	pthread_t t[4];
	pthread_barrier_init(&meeting, 0, 4);
	for (long i = 0; i < 4; i++)
		t[i] = create(works, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	pthread_join(create(sleeps, 0), 0);
}

static void many(void) {
	for (long i = 0; i < 400; i++)
		pthread_join(create(brief, (void *)i), 0);
}

static long forbid(const char *what, const char *how) {
	static const int calls[] = {SYS_clock_gettime, SYS_tgkill, SYS_getpid, SYS_gettid, SYS_ptrace, SYS_mremap, SYS_sched_yield};
	enum { n = sizeof calls / sizeof *calls };
	unsigned act = !strcmp(what, "errno") ? SECCOMP_RET_ERRNO | EPERM : !strcmp(what, "trap") ? SECCOMP_RET_TRAP : SECCOMP_RET_KILL_PROCESS;
	struct sock_filter f[2 * n + 2] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
	for (int i = 0; i < n; i++) {
		f[2 * i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
		f[2 * i + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, act);
	}
	f[2 * n + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog p = {2 * n + 2, f};
	if (!strcmp(how, "tsync"))
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &p);
	if (!strcmp(how, "raw"))
		return syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
}

int main(int n, char **args) {
	if (n < 4)
		return 2;
	if (!strcmp(args[1], "strict")) {
		puts("now");
		fflush(stdout);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		write(1, "and then\n", 9);
		syscall(SYS_exit, 4);
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!strcmp(args[3], "late")) {
		together();
		many();
	}
	pthread_barrier_t with;
	pthread_barrier_init(&with, 0, 3);
	pthread_t beside[2] = {create(sleeps, &with), create(sleeps, &with)};
	pthread_barrier_wait(&with);
	printf("forbidden: %ld\n", forbid(args[1], args[2]));
	for (int i = 1; i < 40; i++)
		pthread_barrier_wait(&with);
	pthread_join(beside[0], 0);
	pthread_join(beside[1], 0);
	together();
	many();
	puts("done");
	return 0;
}
