/* One thread writes to fresh memory in each round, the others to memory that they
 * have had before: the same instructions, many more page faults.
 *
 * EXPECT silent=yes wait=fault instances=5 rows=P */
#include "idiom.h"
#include <sys/mman.h>

enum { ROUNDS = 5, PAGES = 2048, PAGE = 4096 };

static uint64_t each;
static char *memory[MAX_THREADS];

static char *fresh(void)
{
    char *m = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED)
        abort();
    madvise(m, PAGES * PAGE, MADV_NOHUGEPAGE);
    return m;
}

static pthread_barrier_t meet;

static void share(int id, int round)
{
    volatile char *m = memory[id];
#ifdef FIXED
    int apart = 1; /* all in the first page */
#else
    int apart = id == 0 ? PAGE : 1;
#endif
    for (int i = 0; i < PAGES; i++)
        m[i * apart]++; /* WAIT */
    madvise(memory[id], PAGES * PAGE, MADV_DONTNEED);
    results[id].sum += work(round * 1000 + id, each);
}

static void *run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        share(id, round);
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    for (int t = 0; t < P; t++)
        memory[t] = fresh();
    each = budget / ROUNDS / P;
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
