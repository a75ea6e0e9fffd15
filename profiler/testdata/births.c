// Many threads are born and die; then one of them, which nobody traces any
// more, does what its first argument says.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

extern char __executable_start, etext;
static char **args;
static volatile unsigned long sum;

__attribute__((noinline)) void work(int n) {
	unsigned long own = 0;
	for (volatile int i = 0; i < n; i++)
		own += i % 3 ? i : 1;
	__sync_fetch_and_add(&sum, own);
}

// Says so if somebody traces the thread.
static void traced(void) {
	char b[4096];
	FILE *f = fopen("/proc/thread-self/status", "r");
	size_t n = fread(b, 1, sizeof b - 1, f);
	fclose(f);
	b[n] = 0;
	char *s = strstr(b, "TracerPid:");
	if (s && atoi(s + 10))
		printf("it is traced\n"), fflush(stdout);
}

static void *brief(void *n) {
	work((long)n);
	return 0;
}

static void create(pthread_t *t, void *(*f)(void *), void *arg) {
	if (pthread_create(t, 0, f, arg))
		exit(99);
}

static void joined(void *(*f)(void *), void *arg) {
	pthread_t t;
	create(&t, f, arg);
	pthread_join(t, 0);
}

static void *nest(void *depth) {
	work(5);
	if (depth) {
		joined(nest, (void *)((long)depth - 1));
		joined(nest, (void *)((long)depth - 1));
	}
	return 0;
}

static sem_t go, done;

static void *detached(void *a) {
	pthread_detach(pthread_self());
	work(7);
	sem_post(&done);
	return 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t open_ = PTHREAD_COND_INITIALIZER;
static int released;

// Who has the lock behind what is posted knows that it has nothing left to do.
static void *waits(void *a) {
	work((long)a);
	pthread_mutex_lock(&lock);
	sem_post(&done);
	while (!released)
		pthread_cond_wait(&open_, &lock);
	pthread_mutex_unlock(&lock);
	return 0;
}

static int third(void *a) {
	work(9);
	return 0;
}

static int raw(void *a) {
	work(11);
	return 0;
}

static void cloned(int flags) {
	static int tid;
	char *stack = mmap(0, 1 << 17, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	tid = 1;
	int pid = clone(raw, stack + (1 << 17), flags | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID, 0, &tid, 0, &tid);
	if (flags & CLONE_THREAD)
		for (int is; (is = *(volatile int *)&tid);)
			syscall(SYS_futex, &tid, 0, is, 0, 0, 0);
	else
		waitpid(pid, 0, __WALL);
}

static void await(int pid) {
	int status = 0;
	waitpid(pid, &status, 0);
	printf("child %x\n", status);
	fflush(stdout);
}

static void seen(int sig, siginfo_t *info, void *context) {
	char *pc = (char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	if (pc < &__executable_start || pc >= &etext)
		write(1, "elsewhere\n", 10);
	else
		write(1, "here\n", 5);
	*(int *)info->si_value.sival_ptr = 1;
}

static volatile int spun, stop;

__attribute__((noinline)) void spin(void) {
	while (!stop)
		spun++;
}

static void *spinner(void *a) {
	traced();
	*(volatile int *)a = 1;
	spin();
	return 0;
}

// A handler is installed while a thread runs alone, which then gets the signal.
static void handler(void) {
	pthread_t t;
	volatile int runs = 0;
	int *caught = calloc(1, sizeof *caught);
	create(&t, spinner, (void *)&runs);
	while (!runs)
		sched_yield();
	struct sigaction a = {.sa_sigaction = seen, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigaction(SIGUSR1, &a, 0);
	pthread_sigqueue(t, SIGUSR1, (union sigval){.sival_ptr = caught});
	while (!*(volatile int *)caught)
		sched_yield();
	stop = 1;
	pthread_join(t, 0);
}

__attribute__((noinline)) void deep(int n, void (*f)(void)) {
	work(1);
	if (n)
		deep(n - 1, f);
	else
		f();
	work(1);
}

static void sysExit(void) { syscall(SYS_exit, 0); }
static void pthreadExit(void) { pthread_exit(0); }
static void blocks(void) { sem_post(&done); sem_wait(&go); }

static void *ends(void *f) {
	traced();
	deep(4, f);
	return 0;
}

static void *async(void *a) {
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
	sem_post(&done);
	for (;;)
		pause();
	return 0;
}

static void cancelled(void *(*f)(void *), void *arg) {
	pthread_t t;
	void *r;
	create(&t, f, arg);
	sem_wait(&done);
	pthread_cancel(t);
	pthread_join(t, &r);
	printf("cancelled %d\n", r == PTHREAD_CANCELED);
}

static void raise_(int sig) { kill(getpid(), sig); pause(); }

static void records(void) {
	pthread_barrier_t b;
	pthread_barrier_init(&b, 0, 1);
	for (int i = 0; i < 20000; i++) {
		work(1);
		pthread_barrier_wait(&b);
	}
	for (int i = 0; i < 300; i++)
		usleep(30);
}

static void many(int n, int end) {
	pthread_t t[400];
	for (int i = 0; i < n; i++)
		create(&t[i], waits, (void *)(long)i);
	for (int i = 0; i < n; i++)
		sem_wait(&done);
	pthread_mutex_lock(&lock);
	if (end)
		return; // with the lock: nobody goes on
	released = 1;
	pthread_cond_broadcast(&open_);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], 0);
}

static void spawned(void) {
	int pid;
	char *argv[] = {"true", 0};
	if (posix_spawnp(&pid, "true", 0, 0, argv, 0))
		exit(98);
	await(pid);
}

static void forked(int (*how)(void)) {
	int pid = how();
	if (pid == 0) {
		if (how == (int (*)(void))vfork)
			_exit(3);
		work(13);
		pthread_t t;
		create(&t, brief, (void *)3);
		pthread_join(t, 0);
		_exit(sum > 0);
	}
	await(pid);
}

static void *does(void *what) {
	const char *w = what;
	traced();
	work(17);
	if (!strcmp(w, "nest"))
		nest((void *)4);
	if (!strcmp(w, "detached"))
		for (int i = 0; i < 100; i++) {
			pthread_t t;
			create(&t, detached, 0);
			sem_wait(&done);
		}
	if (!strcmp(w, "many"))
		many(300, 0);
	if (!strcmp(w, "c11"))
		for (int i = 0; i < 100; i++) {
			thrd_t t;
			if (thrd_create(&t, third, 0) == thrd_success)
				thrd_join(t, 0);
		}
	if (!strcmp(w, "raw"))
		cloned(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD);
	if (!strcmp(w, "vm"))
		cloned(CLONE_VM | CLONE_FILES | SIGCHLD);
	if (!strcmp(w, "fork"))
		forked(fork);
	if (!strcmp(w, "vfork"))
		forked((int (*)(void))vfork);
	if (!strcmp(w, "spawn"))
		spawned();
	if (!strcmp(w, "system"))
		printf("system %d\n", system("exit 4"));
	if (!strcmp(w, "exec"))
		execl("/proc/self/exe", args[0], "again", (char *)0);
	if (!strcmp(w, "exec-fails"))
		execl("/nowhere", args[0], (char *)0), printf("errno %d\n", errno);
	if (!strcmp(w, "exit"))
		many(50, 1), exit(21);
	if (!strcmp(w, "_exit"))
		_exit(22);
	if (!strcmp(w, "handler"))
		handler();
	if (!strcmp(w, "sys-exit"))
		joined(ends, sysExit);
	if (!strcmp(w, "pthread-exit"))
		joined(ends, pthreadExit);
	if (!strcmp(w, "cancel"))
		cancelled(ends, blocks);
	if (!strcmp(w, "cancel-async"))
		cancelled(async, 0);
	if (!strcmp(w, "records"))
		records();
	if (!strcmp(w, "segv"))
		*(volatile int *)0 = 0;
	if (!strcmp(w, "abort"))
		abort();
	if (!strcmp(w, "term"))
		raise_(SIGTERM);
	if (!strcmp(w, "kill"))
		raise_(SIGKILL);
	if (!strcmp(w, "outlives"))
		for (int i = 0; i < 300; i++)
			joined(brief, (void *)2);
	fflush(stdout);
	return 0;
}

int main(int n, char **v) {
	args = v;
	if (n > 1 && !strcmp(v[1], "again")) {
		printf("again\n");
		return 5;
	}
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	int births = n > 2 ? atoi(v[2]) : 400;
	for (int i = 0; i < births; i++)
		joined(brief, (void *)(long)(i % 10));
	pthread_t t;
	create(&t, does, v[1]);
	if (!strcmp(v[1], "outlives"))
		pthread_exit(0);
	pthread_join(t, 0);
	if (!strcmp(v[1], "main-ends"))
		many(50, 1);
	printf("done %lu\n", sum);
	return 6;
}
