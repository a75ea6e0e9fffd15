/* A reader-writer lock: all threads read, and one also writes, for long. They meet
 * only where they are joined. FIXED lets each write its part.
 *
 * EXPECT instances=1 rows=P kind=join cause=branch wait=lock */
#include "idiom.h"

enum { ROUNDS = 8, PIECES = 4 };

static uint64_t each;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void update(int id, int round, int first, int stride)
{
    pthread_rwlock_wrlock(&lock); /* WAIT */
    for (int i = first; i < PIECES * P; i += stride)
        results[id].sum += work(round * 1000 + i, each);
    pthread_rwlock_unlock(&lock);
}

static void *run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        pthread_rwlock_rdlock(&lock); /* WAIT */
        results[id].sum += work(round * 777 + id, PIECES * each);
        pthread_rwlock_unlock(&lock);
#ifdef FIXED
        update(id, round, id, P);
#else
        if (id == 0) /* PLANTED */
            update(id, round, 0, 1);
#endif
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (2 * PIECES * P);
    for (int t = 0; t < P; t++)
        start(t, run);
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL); /* SECTION */
    return answer();
}
