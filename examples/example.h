/* What every example shares: arguments, work that takes time, and threads.
 *
 * Each program plants one cause of load imbalance (two in radix.c) on the line
 * marked PLANTED; the call that ends the section is marked SECTION. Compile
 * with -DFIXED for the balanced version of the same program.
 *
 *     cc -O2 -g -pthread owner.c -o owner
 *     ./owner [threads, 8] [percent of the usual work, 100]
 *
 * Everything is scheduled statically, so executed instructions repeat exactly. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_THREADS = 256 };

struct worker {
    int id, of; /* this is thread id of so many */
    uint64_t result;
};

static struct worker workers[MAX_THREADS];
static pthread_t handles[MAX_THREADS];
static int P = 8;             /* threads */
static uint64_t budget;       /* steps of work, all threads together */

/* One step: cheap, but each needs the one before and none can be skipped. */
static inline uint64_t step(uint64_t x)
{
    x ^= x >> 29;
    return x * 0x9e3779b97f4a7c15u;
}

/* work takes n steps. Kept out of line: it is "the computation". */
__attribute__((noinline, unused)) static uint64_t work(uint64_t x, uint64_t n)
{
    x |= 1;
    for (uint64_t i = 0; i < n; i++)
        x = step(x);
    return x;
}

static void arguments(int argc, char **argv)
{
    long percent = 100;
    if (argc > 1)
        P = atoi(argv[1]);
    if (argc > 2)
        percent = atol(argv[2]);
    if (P < 1 || P > MAX_THREADS || percent < 1 || percent > 100000) {
        fprintf(stderr, "usage: %s [threads 1..%d, 8] [percent of work, 100]\n", argv[0], MAX_THREADS);
        exit(64);
    }
    budget = (uint64_t)percent * 4000000;
    for (int t = 0; t < P; t++) {
        workers[t].id = t;
        workers[t].of = P;
    }
}

static inline void start(int t, void *(*body)(void *))
{
    if (pthread_create(&handles[t], NULL, body, &workers[t]) != 0) {
        perror("pthread_create");
        exit(1);
    }
}

/* together runs body on P threads, of which the calling one is the first. */
static inline void together(void *(*body)(void *))
{
    for (int t = 1; t < P; t++)
        start(t, body);
    body(&workers[0]);
    for (int t = 1; t < P; t++)
        pthread_join(handles[t], NULL);
}

/* answer prints what was computed: the same however work was distributed. */
static int answer(void)
{
    uint64_t sum = 0;
    for (int t = 0; t < P; t++)
        sum += workers[t].result;
    printf("checksum %016" PRIx64 "\n", sum);
    return 0;
}

#endif
