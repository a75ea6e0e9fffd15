/* Each thread walks the trees of its region of space. The bodies crowd
 * together in some regions, so their trees are larger: the same number of
 * walks, but the guard of the recursion lets some threads go much deeper, as
 * in SPLASH's barnes.
 *
 * FIXED assigns the cells of all regions cyclically. */
#include "example.h"

enum { STEPS = 2, VISIT = 40 };

static pthread_barrier_t meet;
static unsigned crowd; /* bodies in a cell of the thinnest region */

/* walk visits the tree of so many bodies, which splits unevenly. */
__attribute__((noinline)) static uint64_t walk(unsigned bodies, uint64_t x)
{
    x = work(x, VISIT);
    if (bodies > 1) { /* PLANTED */
        uint64_t near = walk(bodies / 4, x + 1);
        uint64_t far = walk(bodies - bodies / 4 - 1, x + 2);
        x ^= (near << 7 | near >> 57) ^ far;
    }
    return x;
}

static void *forces(void *arg)
{
    struct worker *me = arg;

    for (int s = 0; s < STEPS; s++) {
        for (int k = 0; k < P; k++) {
#ifdef FIXED
            int cell = k * P + me->id; /* one cell of each region */
#else
            int cell = me->id * P + k; /* the cells of one region */
#endif
            me->result += walk(crowd * (1 + cell / P), s * 100000 + cell);
        }
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    /* P cells in each of P regions that hold crowd, 2·crowd … P·crowd bodies a cell. */
    crowd = budget / STEPS / VISIT / ((uint64_t)P * P * (P + 1) / 2);
    pthread_barrier_init(&meet, NULL, P);
    together(forces);
    return answer();
}
