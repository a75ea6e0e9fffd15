/* What a project has of its own, to be the same on all systems: some functions end in the
 * system's, some see to errors. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct pl {
    pthread_mutex_t lock;
    pthread_cond_t cond;
};

struct pl *pl_new(void)
{
    struct pl *x = calloc(1, sizeof *x);
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->cond, NULL);
    return x;
}

int pl_wait(struct pl *x) { return pthread_cond_wait(&x->cond, &x->lock); }

int pl_wake(struct pl *x) { return pthread_cond_broadcast(&x->cond); }

void pl_lock(struct pl *x)
{
    if (pthread_mutex_lock(&x->lock)) {
        perror("pl_lock");
        abort();
    }
}

void pl_unlock(struct pl *x)
{
    int r;
    do
        r = pthread_mutex_unlock(&x->lock);
    while (r == EINTR);
}
