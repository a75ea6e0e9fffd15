/* A library whose constructor does what EARLY says, before the program's entry:
   starts threads, forks, starts programs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waits, asked, answered;
static char what[100];

__attribute__((noinline)) int early_work(int n) {
	volatile int sum = 0;
	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

static void *worker(void *p) { /* waits here when the program begins */
	pthread_mutex_lock(&lock);
	waits = 1;
	pthread_cond_broadcast(&changed);
	while (!asked)
		pthread_cond_wait(&changed, &lock);
	answered = early_work(asked);
	pthread_cond_signal(&changed);
	while (1)
		pthread_cond_wait(&changed, &lock);
	return p;
}

/* early_ask lets the worker work; 0 where there is none. */
int early_ask(int n) {
	if (!strstr(what, "worker"))
		return 0;
	pthread_mutex_lock(&lock);
	asked = n;
	pthread_cond_broadcast(&changed);
	while (!answered)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return answered;
}

static void *sleeper(void *p) {
	while (1)
		pause();
	return p;
}
static void *busy(void *p) {
	for (volatile long x = 0;; x++)
		;
	return p;
}
static void *ends(void *p) { return p; }
static void *creator(void *p) {
	for (pthread_t t;;) {
		pthread_create(&t, 0, ends, 0);
		pthread_join(t, 0);
	}
	return p;
}
static void *forker(void *p) {
	for (int n = 0;; n++) {
		int child = n % 2 ? fork() : vfork();
		if (!child)
			_exit(3);
		waitpid(child, 0, 0);
	}
	return p;
}
static void handler(int sig) { (void)sig; }
static void *sender(void *p) {
	for (;; usleep(500))
		kill(getpid(), SIGUSR1);
	return p;
}

static void told(const char *what, int child) {
	int status = -1;
	waitpid(child, &status, 0);
	fprintf(stderr, "%s: %#x\n", what, status);
}

static void children(void) {
	char *args[] = {"true", 0};
	int child = 0;
	if (strstr(what, "fork-exits") && !(child = fork()))
		_exit(3);
	if (child)
		told("fork-exits", child);
	if (strstr(what, "fork-goes-on") && (child = fork())) /* the child becomes the program, too */
		told("fork-goes-on", child);
	if (strstr(what, "vfork")) {
		if (!(child = vfork())) {
			execvp("true", args);
			_exit(9);
		}
		told("vfork", child);
	}
	if (strstr(what, "spawn") && !posix_spawnp(&child, "true", 0, 0, args, environ))
		told("spawn", child);
	if (strstr(what, "system"))
		fprintf(stderr, "system: %#x\n", system("echo from the shell"));
}

__attribute__((constructor)) static void early(void) {
	static const struct {
		const char *name;
		void *(*f)(void *);
	} all[] = {{"worker", worker}, {"sleeper", sleeper}, {"busy", busy}, {"creator", creator}, {"forker", forker}, {"sender", sender}, {"joined", ends}};
	const char *wish = getenv("EARLY");
	if (!wish)
		return;
	strncpy(what, wish, sizeof what - 1);
	unsetenv("EARLY"); /* children shall not do the same */
	signal(SIGUSR1, handler);
	children();
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		pthread_t t;
		if (!strstr(what, all[i].name))
			continue;
		pthread_create(&t, 0, all[i].f, 0);
		if (all[i].f == ends)
			pthread_join(t, 0);
	}
	pthread_mutex_lock(&lock);
	while (strstr(what, "worker") && !waits)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	if (strstr(what, "again")) { /* the program once more, without */
		setenv("EARLY", "joined", 1);
		execl("/proc/self/exe", "again", (char *)0);
	}
	while (strstr(what, "for ever"))
		pause();
}
