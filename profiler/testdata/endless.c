// A loop that nobody leaves: a signal comes, and its handler ends the program, or never
// comes back while another thread does.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile long at = -1;
static volatile sig_atomic_t there;
static int stays;

__attribute__((noinline)) static void loop(long n)
{
    for (long i = 0; i < n; i++)
        at = i;
}

static void *work(void *a)
{
    loop(1L << 60);
    return a;
}

static void end(int s)
{
    (void)s;
    if (stays) {
        there = 1;
        for (;;)
            pause();
    }
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", at);
    _exit(write(1, text, n) != n);
}

int main(int argc, char **argv)
{
    stays = argc > 1 && strcmp(argv[1], "stays") == 0;
    signal(SIGUSR1, end);
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    while (at < 100000) // it is in the loop
        usleep(1000);
    pthread_kill(t, SIGUSR1);
    while (!there)
        usleep(1000);
    printf("%ld\n", at);
    return 0;
}
