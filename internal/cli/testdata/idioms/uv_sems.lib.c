/* What libuv's semaphores are: the system's, or by a lock and a condition where these had a
 * fault. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct own {
    pthread_mutex_t lock;
    pthread_cond_t some;
    unsigned value;
};
typedef union { sem_t sem; struct own *own; } uv_sem_t;

static int faulty(void)
{
    return getenv("SEMAPHORES_ARE_FAULTY") != NULL;
}

int uv_sem_init(uv_sem_t *s, unsigned value)
{
    if (!faulty())
        return sem_init(&s->sem, 0, value);
    s->own = calloc(1, sizeof *s->own);
    pthread_mutex_init(&s->own->lock, NULL);
    pthread_cond_init(&s->own->some, NULL);
    s->own->value = value;
    return 0;
}

void uv_sem_post(uv_sem_t *s)
{
    if (!faulty()) {
        if (sem_post(&s->sem))
            abort();
        return;
    }
    pthread_mutex_lock(&s->own->lock);
    s->own->value++;
    pthread_cond_signal(&s->own->some);
    pthread_mutex_unlock(&s->own->lock);
}

void uv_sem_wait(uv_sem_t *s)
{
    int r;
    if (!faulty()) {
        do
            r = sem_wait(&s->sem);
        while (r == -1 && errno == EINTR);
        if (r)
            abort();
        return;
    }
    pthread_mutex_lock(&s->own->lock);
    while (s->own->value == 0)
        pthread_cond_wait(&s->own->some, &s->own->lock);
    s->own->value--;
    pthread_mutex_unlock(&s->own->lock);
}
