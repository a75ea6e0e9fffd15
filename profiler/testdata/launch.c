// Launchers: how, and then the program and its arguments.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static char **rest;
static void *launch(void *a) { execv(rest[0], rest); return NULL; }
static void *wait_for_it(void *a) { for (;;) pause(); return NULL; }
int main(int argc, char **argv) {
	pthread_t t, u;
	const char *how = argv[1];
	rest = argv + 2;
	printf("launch %s\n", how);
	fflush(stdout);
	if (!strcmp(how, "thread")) {
		pthread_create(&u, NULL, wait_for_it, NULL);
		pthread_create(&t, NULL, launch, NULL);
		pthread_join(t, NULL);
	} else if (!strcmp(how, "missing")) {
		execl("/does/not/exist", "x", (char *)NULL);
		perror("missing");
	} else if (!strcmp(how, "child")) { // which is not followed
		int s;
		if (!fork()) launch(NULL);
		wait(&s);
		return WEXITSTATUS(s);
	} else if (!strcmp(how, "timer")) { // goes on through the exec, and finds it ignored
		struct itimerval it = {{0, 300}, {0, 300}};
		signal(SIGALRM, SIG_IGN);
		setitimer(ITIMER_REAL, &it, NULL);
		launch(NULL);
	} else if (!strcmp(how, "forks")) { // children that are born while it is replaced
		for (int i = 0; i < 20; i++)
			if (!fork()) _exit(0);
		launch(NULL);
	} else {
		launch(NULL);
	}
	return 9;
}
