/* What every idiom shares: arguments, work that takes time, and a team of
 * threads for those whose idiom is not how threads are started. C and C++.
 *
 *     cc -O2 -g -pthread idiom.c && ./a.out [threads, 8] [percent of the work, 100]
 *
 * Each program plants one imbalance on the line marked PLANTED; the call at
 * which the threads meet is marked SECTION. -DFIXED deals the same work
 * evenly: the same checksum. */
#ifndef IDIOM_H
#define IDIOM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_THREADS = 64 };

static struct {
    uint64_t sum;
    char alone[56]; /* in a cache line */
} results[MAX_THREADS];

static int P = 8;       /* threads */
static uint64_t budget; /* steps of work, all threads together */

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

/* refine takes n steps of another kind: a function of its own has a cost of its own. */
__attribute__((noinline, unused)) static uint64_t refine(uint64_t x, uint64_t n)
{
    x |= 1;
    for (uint64_t i = 0; i < n; i++) {
        x ^= x >> 31;
        x *= 0xbf58476d1ce4e5b9u;
    }
    return x;
}

/* dealt_among is the k-th of the items of a thread, each of n threads having as many:
 * those that stand together; FIXED one by one to the threads, forwards and
 * then backwards. */
__attribute__((unused)) static int dealt_among(int n, int id, int k, int each)
{
#ifdef FIXED
    (void)each;
    return k * n + (k % 2 == 0 ? id : n - 1 - id);
#else
    (void)n;
    return id * each + k;
#endif
}

__attribute__((unused)) static int dealt(int id, int k, int each)
{
    return dealt_among(P, id, k, each);
}

static void arguments(int argc, char **argv)
{
    long percent = 100;
    if (argc > 1)
        P = atoi(argv[1]);
    if (argc > 2)
        percent = atol(argv[2]);
    if (P < 2 || P > MAX_THREADS || percent < 1 || percent > 100000) {
        fprintf(stderr, "usage: %s [threads 2..%d, 8] [percent of work, 100]\n", argv[0], MAX_THREADS);
        exit(64);
    }
    budget = (uint64_t)percent * 4000000;
}

/* answer prints what was computed: the same however the work was dealt. */
static int answer(void)
{
    uint64_t sum = 0;
    for (int t = 0; t < MAX_THREADS; t++)
        sum += results[t].sum;
    printf("checksum %016" PRIx64 "\n", sum);
    return 0;
}

#ifdef __cplusplus

#include <thread>
#include <vector>

/* team runs body on P new threads, each with its number. */
template <class Body> static inline void team(Body body)
{
    std::vector<std::thread> threads;
    for (int t = 0; t < P; t++)
        threads.emplace_back(body, t);
    for (auto &t : threads)
        t.join();
}

#else

static pthread_t handles[MAX_THREADS];

static inline int number(void *arg)
{
    return (int)(intptr_t)arg;
}

static inline void start(int t, void *(*body)(void *))
{
    if (pthread_create(&handles[t], NULL, body, (void *)(intptr_t)t) != 0) {
        perror("pthread_create");
        exit(1);
    }
}

/* team runs body on P new threads, each with its number. */
static inline void team(void *(*body)(void *))
{
    for (int t = 0; t < P; t++)
        start(t, body);
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL);
}

#endif
#endif
