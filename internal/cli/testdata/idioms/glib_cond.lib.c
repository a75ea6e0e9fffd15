/* Locks and conditions as GLib has them, over futexes, for glib_pool.c: who only
 * has the library that is installed has no headers of it. */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct { atomic_int state; } GMutex; /* 0 free, 1 held, 2 somebody may wait */
typedef struct { atomic_int turn; } GCond;

static void futex(atomic_int *word, int what, int value)
{
    syscall(SYS_futex, word, what | FUTEX_PRIVATE_FLAG, value, 0, 0, 0);
}

void g_mutex_lock(GMutex *m)
{
    int was = 0;
    if (!atomic_compare_exchange_strong(&m->state, &was, 1))
        while (atomic_exchange(&m->state, 2) != 0)
            futex(&m->state, FUTEX_WAIT, 2);
}

void g_mutex_unlock(GMutex *m)
{
    if (atomic_exchange(&m->state, 0) == 2)
        futex(&m->state, FUTEX_WAKE, 1);
}

void g_cond_wait(GCond *c, GMutex *m)
{
    int turn = c->turn;
    g_mutex_unlock(m);
    futex(&c->turn, FUTEX_WAIT, turn);
    g_mutex_lock(m);
}

void g_cond_signal(GCond *c)
{
    c->turn++;
    futex(&c->turn, FUTEX_WAKE, 1);
}

void g_cond_broadcast(GCond *c)
{
    c->turn++;
    futex(&c->turn, FUTEX_WAKE, INT_MAX);
}
