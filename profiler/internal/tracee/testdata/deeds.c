/* What a traced program may do, one deed each. The exit code says whether it
   went as it should: 7, where nothing else is said. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char text[] = "what stands in memory";
volatile long word = 5;
volatile int handled, value, code;
extern char restarted[];

__attribute__((noinline)) int answer(int x) {
	__asm__ volatile("");
	return x + 1;
}
__attribute__((noinline)) void trap(void) { __asm__ volatile("int3"); }

static void handler(int sig, siginfo_t *info, void *context) {
	(void)context;
	handled += sig;
	value = info->si_value.sival_int;
	code = info->si_code;
}

static void *sleeper(void *p) {
	(void)p;
	for (;;)
		pause();
}
static void *thread(void *p) { return p; }

static void *replaces(void *path) {
	char *args[] = {path, "exit", "a b", 0};
	execv(path, args);
	_exit(1);
}

static void catches(int sig) {
	struct sigaction a = {0};
	a.sa_sigaction = handler;
	a.sa_flags = SA_SIGINFO;
	sigaction(sig, &a, 0);
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "exit";
	pthread_t t[4];
	if (!strcmp(what, "exit"))
		return 7;
	if (!strcmp(what, "memory"))
		return !strcmp(text, "WHAT stands in memory") && word == 6 ? 7 : 1;
	if (!strcmp(what, "return"))
		return answer(6);
	if (!strcmp(what, "trap")) {
		trap();
		return 7;
	}
	if (!strcmp(what, "abort"))
		abort();
	if (!strcmp(what, "threads")) {
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], 0, thread, 0);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], 0);
		return 7;
	}
	if (!strcmp(what, "sleepers")) {
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], 0, sleeper, 0);
		trap();
		sleeper(0);
	}
	if (!strcmp(what, "fork")) {
		int status = 0;
		pid_t p = fork();
		if (p == 0)
			_exit(7);
		return waitpid(p, &status, 0) == p && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	if (!strcmp(what, "exec"))
		replaces(argv[0]);
	if (!strcmp(what, "exec-thread")) {
		pthread_create(&t[0], 0, replaces, argv[0]);
		pthread_join(t[0], 0);
	}
	if (!strcmp(what, "signal")) {
		catches(SIGUSR1);
		union sigval v = {.sival_int = 42};
		sigqueue(getpid(), SIGUSR1, v);
		return handled == SIGUSR1 && value == 42 && code == SI_QUEUE ? 7 : 1;
	}
	if (!strcmp(what, "two-signals")) {
		sigset_t s, old;
		catches(SIGUSR1);
		catches(SIGUSR2);
		sigemptyset(&s);
		sigaddset(&s, SIGUSR1);
		sigaddset(&s, SIGUSR2);
		sigprocmask(SIG_BLOCK, &s, &old);
		raise(SIGUSR1);
		raise(SIGUSR2);
		sigprocmask(SIG_SETMASK, &old, 0);
		return handled == SIGUSR1 + SIGUSR2 ? 7 : 1;
	}
	if (!strcmp(what, "sent-trap")) {
		catches(SIGTRAP);
		raise(SIGTRAP);
		return handled == SIGTRAP && code != SI_KERNEL ? 7 : 1;
	}
	if (!strcmp(what, "sent-fault")) {
		catches(SIGSEGV);
		raise(SIGSEGV);
		return handled == SIGSEGV ? 7 : 1;
	}
	if (!strcmp(what, "fault")) {
		*(volatile int *)8 = 1;
		return 1;
	}
	if (!strcmp(what, "illegal")) {
		__asm__ volatile(".globl illegal\nillegal: ud2\n\tnop\n.globl behind\nbehind: nop");
		return 7;
	}
	if (!strcmp(what, "stop")) {
		raise(SIGSTOP);
		return 7;
	}
	if (!strcmp(what, "blocks-trap")) {
		sigset_t s;
		sigemptyset(&s);
		sigaddset(&s, SIGTRAP);
		sigprocmask(SIG_BLOCK, &s, 0);
		raise(SIGSTOP);
		return 7;
	}
	return 2;
}
