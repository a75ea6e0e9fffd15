/* As libomp's, but that the place tells how many threads there are, and the bound whether
 * it is only one. */
#include <pthread.h>
#include <stddef.h>

typedef void outlined(int *, int *, void *);

struct member {
    outlined *fn;
    int number, alone;
    void *arg;
};

static void *executes(void *arg)
{
    struct member *m = arg;
    m->fn(&m->number, &m->alone, m->arg);
    return NULL;
}

void __kmpc_fork_call_if(int *place, int n, outlined *fn, int whether, void *arg)
{
    pthread_t threads[64];
    struct member members[64];
    int count = whether ? *place : 1;
    for (int i = 0; i < count; i++)
        members[i] = (struct member){fn, i, !whether, n == 1 ? arg : NULL};
    for (int i = 1; i < count; i++)
        pthread_create(&threads[i], NULL, executes, &members[i]);
    executes(&members[0]);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
}
