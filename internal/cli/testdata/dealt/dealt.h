/* Units of work that cost differently, and ways of dealing them out: what a
 * program does when it is changed from one to another is what skewlens says of
 * the first. C and C++.
 *
 *     prog threads costs dealing */
#ifndef DEALT_H
#define DEALT_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 600, STEPS = 20000, ROUNDS = 3 };

static uint64_t costs[UNITS]; /* steps of each unit */
static uint64_t done[UNITS];

/* work takes n steps. Kept out of line: it is "the computation". */
__attribute__((noinline)) static uint64_t work(uint64_t x, uint64_t n)
{
    x |= 1;
    for (uint64_t i = 0; i < n; i++) {
        x ^= x >> 29;
        x *= 0x9e3779b97f4a7c15u;
    }
    return x;
}

static void unit(int i)
{
    done[i] += work((uint64_t)i, costs[i]);
}

static void set_costs(const char *how)
{
    uint64_t seed = 1;
    for (int i = 0; i < UNITS; i++) {
        if (!strcmp(how, "triangular"))
            costs[i] = 2 * STEPS * (uint64_t)i / UNITS + 1;
        else if (!strcmp(how, "power-law"))
            costs[i] = (uint64_t)STEPS * UNITS / 4 / (uint64_t)(i + 1) + 1;
        else if (!strcmp(how, "one-huge"))
            costs[i] = i == UNITS / 3 ? (uint64_t)STEPS * UNITS / 5 : STEPS / 2;
        else if (!strcmp(how, "alternating"))
            costs[i] = i % 2 ? STEPS / 4 : 2 * STEPS;
        else if (!strcmp(how, "random")) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            costs[i] = (seed >> 33) % (2 * STEPS) + 1;
        } else
            exit(2);
    }
}

static int answer(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < UNITS; i++)
        sum ^= done[i];
    printf("%016" PRIx64 "\n", sum);
    return 0;
}
#endif
