/* The array microbenchmark of "Parallel Work Inflation, Memory Effects, and their
 * Empirical Analysis" (Acar, Charguéraud and Rainey), section 4: the same work takes
 * more time on several cores than on one, though no thread waits and none does more.
 * What it takes longer for is memory.
 *
 *     cc -O2 -g -pthread array.c -o array
 *     skewlens scale -- ./array {threads} [M] [L] [G] [R]
 *
 * Each of M cells of 64 bits is read, L numbers are added, and it is written back; all
 * that R times. The i-th cell is the one at (iG + iG/M) mod M: with G = 1 neighbours
 * come one after the other, with G = 32 each lies in another cache line than the one
 * before. Threads have equal shares, of whole groups of 1,000 cells. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { GROUP = 1000, MAX_THREADS = 256 };

static uint64_t *cells;
static uint64_t M = 40000000, G = 1;
static int P = 1, L = 1, R = 10;
static pthread_barrier_t meet;

/* process adds to the cells from..to in the order of visits. */
static void process(uint64_t from, uint64_t to)
{
    uint64_t turn = from * G / M, place = from * G % M;
    for (uint64_t i = from; i < to; i++) {
        uint64_t at = place + turn;
        uint64_t *cell = &cells[at < M ? at : at - M], sum = *cell;
        for (int l = 0; l < L; l++)
            __asm__ volatile("add %1, %0" : "+r"(sum) : "r"(i)); /* really L additions */
        *cell = sum; /* MEMORY */
        place += G;
        if (place >= M)
            place -= M, turn++;
    }
}

static void *share(void *arg)
{
    uint64_t me = (uintptr_t)arg, groups = M / GROUP;
    for (int r = 0; r < R; r++) {
        process(groups * me / P * GROUP, groups * (me + 1) / P * GROUP);
        pthread_barrier_wait(&meet);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        P = atoi(argv[1]);
    if (argc > 2)
        M = strtoull(argv[2], NULL, 10);
    if (argc > 3)
        L = atoi(argv[3]);
    if (argc > 4)
        G = strtoull(argv[4], NULL, 10);
    if (argc > 5)
        R = atoi(argv[5]);
    if (P < 1 || P > MAX_THREADS || L < 0 || R < 1 || G < 1 || M < GROUP || M % GROUP || M % G || M > UINT32_MAX) {
        fprintf(stderr, "usage: %s [threads] [cells, a multiple of 1000 and of the gap] [additions] [gap] [repetitions]\n", argv[0]);
        return 64;
    }
    cells = malloc(M * sizeof *cells);
    if (!cells) {
        perror("array");
        return 1;
    }
    for (uint64_t i = 0; i < M; i++) /* by one thread: these page faults are not what is measured */
        cells[i] = i;
    pthread_t threads[MAX_THREADS];
    pthread_barrier_init(&meet, NULL, P);
    for (uintptr_t t = 0; t < (uintptr_t)P; t++)
        if (pthread_create(&threads[t], NULL, share, (void *)t)) {
            fputs("array: no thread\n", stderr);
            return 1;
        }
    for (int t = 0; t < P; t++)
        pthread_join(threads[t], NULL);
    uint64_t check = 0;
    for (uint64_t i = 0; i < M; i += 997)
        check ^= cells[i];
    printf("check %" PRIx64 "\n", check);
    return 0;
}
