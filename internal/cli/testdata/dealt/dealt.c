#include "dealt.h"
#include <pthread.h>
#include <stdatomic.h>

static int P, chunk;
static const char *dealing;
static atomic_int next;
static pthread_barrier_t all;
static int longest[UNITS];

static int is(const char *name)
{
    return !strcmp(dealing, name);
}

static void *thread(void *arg)
{
    int id = (int)(intptr_t)arg;
    for (int round = 0; round < ROUNDS; round++) {
        if (is("blocks"))
            for (int i = id * UNITS / P; i < (id + 1) * UNITS / P; i++) /* blocks */
                unit(i);
        else if (is("turns"))
            for (int i = id; i < UNITS; i += P) /* turns */
                unit(i);
        else if (is("owner"))
            for (int i = 0; i < UNITS; i++) { /* owner */
                if (i % P == id)
                    unit(i);
            }
        else if (is("longest-first"))
            for (int i; (i = atomic_fetch_add(&next, 1)) < UNITS;)
                unit(longest[i]);
        else if (chunk == 1)
            for (int i; (i = atomic_fetch_add(&next, 1)) < UNITS;) /* demand */
                unit(i);
        else
            for (int i; (i = atomic_fetch_add(&next, chunk)) < UNITS;)
                for (int k = i; k < i + chunk && k < UNITS; k++)
                    unit(k);
        pthread_barrier_wait(&all); /* SECTION */
        if (id == 0)
            next = 0;
        pthread_barrier_wait(&all);
    }
    return NULL;
}

static int longer(const void *a, const void *b)
{
    uint64_t x = costs[*(const int *)a], y = costs[*(const int *)b];
    return x < y ? 1 : x > y ? -1 : 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    if (argc != 4)
        return 2;
    P = atoi(argv[1]);
    set_costs(argv[2]);
    dealing = argv[3];
    if (!strncmp(dealing, "demand", 6))
        chunk = atoi(dealing + 6);
    for (int i = 0; i < UNITS; i++)
        longest[i] = i;
    qsort(longest, UNITS, sizeof longest[0], longer);
    pthread_barrier_init(&all, NULL, (unsigned)P);
    for (int id = 0; id < P; id++)
        pthread_create(&threads[id], NULL, thread, (void *)(intptr_t)id);
    for (int id = 0; id < P; id++)
        pthread_join(threads[id], NULL);
    return answer();
}
