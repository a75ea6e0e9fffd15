/* Rows of unequal length, of whose entries only some matter, in other proportions for each
 * thread: the loop over a row begins with that choice, and no way on from there goes with
 * how often it goes round. Compilers let each way end with the loop's test. Where
 * two threads cannot tell more, and the length is chosen by a branch (-O0), it is this.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=loop|branch */
#include "idiom.h"

enum { ROUNDS = 10, EACH = 16 };

static int base; /* entries of a short row */
static uint64_t found[4096];

static pthread_barrier_t meet;

/* marks of a row's entries */
static const unsigned char *marks(int row)
{
    static unsigned char all[MAX_THREADS][4096];
    unsigned char *m = all[row / EACH];
    if (!m[0])
        for (unsigned k = 0; k < 4096; k++)
            m[k] = 1 + (step(k + 1) % 10 < 1 + (unsigned)(row / EACH * 5 % 7 * 4 / 3));
    return m;
}

static uint64_t row(const unsigned char *mark, int entries, uint64_t *out)
{
    uint64_t n = 0;
    for (int k = 0; k < entries; k++) { /* PLANTED */
        unsigned m = mark[k & 4095];
        if (m > 1) {
            out[n & 63] ^= (uint64_t)k * m;
            n++;
        }
    }
    return n;
}

static void share(int id)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        results[id].sum += row(marks(i), i >= P * EACH * 3 / 4 ? 4 * base : base, found + id * 64); /* PLANTED */
    }
}

static void *run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        share(id);
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    base = (int)(budget / ROUNDS / (uint64_t)(P * EACH * 3)) + 1;
    for (int i = 0; i < P; i++)
        marks(i * EACH);
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
