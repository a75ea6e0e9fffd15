/* Threads write through an array that no cache holds: what memory takes in is less than what
 * it gives, and two cores may use it up. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static size_t threads, cells;
static int rounds;
static double *a;
static pthread_barrier_t meet;

static void *work(void *arg)
{
    size_t me = (uintptr_t)arg, from = cells * me / threads, to = cells * (me + 1) / threads;
    for (int r = 0; r < rounds; r++) {
        for (size_t i = from; i < to; i++)
            a[i] = r; /* PLANTED */
        pthread_barrier_wait(&meet);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    threads = strtoul(argv[1], NULL, 10);
    cells = strtoul(argv[2], NULL, 10);
    rounds = atoi(argv[3]);
    a = malloc(cells * sizeof *a);
    if (!a)
        return 1;
    pthread_t t[64];
    pthread_barrier_init(&meet, NULL, (unsigned)threads);
    for (size_t i = 0; i < threads; i++)
        pthread_create(&t[i], NULL, work, (void *)(uintptr_t)i);
    for (size_t i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    return a[cells / 2] < 0;
}
