// Threads that wait in every way, while a timer's signals interrupt them, and
// are cancelled there. Cancellation unwinds through the calls that wait.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t empty;
static atomic_int cleaned, ticks, began, got;

static void nap(long ns)
{
    struct timespec t = {0, ns};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

static void tick(int s)
{
    (void)s;
    int e = errno, old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old); // it may have come amid a wait's own locking
    if (++ticks % 16 == 0) // a handler may wait too
        nanosleep(&(struct timespec){0, 50000}, NULL);
    pthread_setcancelstate(old, NULL);
    errno = e;
}

static void clean(void *unlock)
{
    cleaned++;
    if (unlock)
        pthread_mutex_unlock(unlock);
}

// A wait that a signal interrupts is not told: each kind has one, at least,
// that is of no interest to signals.
static void alarms(int how)
{
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(how, &alarm, NULL);
}

static void *reads(void *a)
{
    began++;
    char c;
    pthread_cleanup_push(clean, NULL);
    uint64_t expired; // one wait for sure: of 5 ms
    alarms(SIG_BLOCK);
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(timer, 0, &(struct itimerspec){.it_value = {0, 5000000}}, NULL);
    while (read(timer, &expired, 8) < 0 && errno == EINTR)
        ;
    close(timer);
    alarms(SIG_UNBLOCK);
    for (;;) {
        ssize_t n = read(ends[0], &c, 1);
        if (n < 0 && errno != EINTR)
            abort();
        got += n > 0;
    }
    pthread_cleanup_pop(1);
    return a;
}

static void *sleeps(void *a)
{
    began++;
    pthread_cleanup_push(clean, NULL);
    for (;;)
        nap(200000);
    pthread_cleanup_pop(1);
    return a;
}

static void *waits(void *a)
{
    pthread_mutex_lock(&mutex);
    began++; // who signals next has to lock, and so comes after the wait's begin
    pthread_cleanup_push(clean, &mutex);
    alarms(SIG_BLOCK);
    pthread_cond_wait(&never, &mutex);
    alarms(SIG_UNBLOCK);
    for (;;)
        pthread_cond_wait(&never, &mutex);
    pthread_cleanup_pop(1);
    return a;
}

static void *takes(void *a)
{
    began++;
    pthread_cleanup_push(clean, NULL);
    for (;;)
        sem_wait(&empty);
    pthread_cleanup_pop(1);
    return a;
}

static void *any_time(void *a)
{
    began++;
    int old;
    pthread_cleanup_push(clean, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    for (;;)
        nanosleep(&(struct timespec){0, 100000}, NULL);
    pthread_cleanup_pop(1);
    return a;
}

static void *locks(void *a)
{
    alarms(SIG_BLOCK);
    began++;
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    return a;
}

int main(int argc, char **argv)
{
    void *(*body[])(void *) = {reads, sleeps, waits, takes, any_time};
    enum { N = sizeof body / sizeof *body, ROUNDS = 4 };
    pthread_t t[N], l;
    int joined = 0, children = 0;
    struct sigaction act = {.sa_handler = tick, .sa_flags = argc > 1 && atoi(argv[1]) ? SA_RESTART : 0};
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 400}, {0, 400}}, NULL);
    if (pipe(ends) != 0)
        return 1;
    sem_init(&empty, 0, 0);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&held);
        for (int i = 0; i < N; i++)
            pthread_create(&t[i], NULL, body[i], NULL);
        pthread_create(&l, NULL, locks, NULL);
        while (began < (N + 1) * (round + 1))
            sched_yield();
        while (held.__data.__lock != 2) // glibc: held, and somebody waits
            sched_yield();
        nap(2000000);
        pthread_mutex_unlock(&held);
        pthread_mutex_lock(&mutex);
        pthread_cond_broadcast(&never);
        pthread_mutex_unlock(&mutex);
        sem_post(&empty);
        if (write(ends[1], "ab", 2) != 2)
            return 1;
        while (got < 2 * (round + 1))
            sched_yield();
        nap(1000000);
        for (int i = 0; i < N; i++)
            pthread_cancel(t[i]);
        for (int i = 0; i < N; i++) // not how: who is cancelled as a handler ends returns nothing in glibc
            joined += pthread_join(t[i], NULL) == 0;
        pthread_join(l, NULL);
        pid_t child = fork();
        if (child == 0) {
            nap(100000);
            _exit(3);
        }
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        children += WEXITSTATUS(status) == 3;
    }
    printf("%d joined, %d cleaned, %d children\n", joined, cleaned, children);
    return 0;
}
