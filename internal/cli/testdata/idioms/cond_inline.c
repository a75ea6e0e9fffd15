/* Barriers made by hand where they are needed, as macros leave them: each of several
 * lines, two in one function, which the first thread calls itself. Beside them each
 * waits for what the one before it has done, which is no meeting, though it may be
 * that all are there.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=branch */
#include "idiom.h"

enum { ROUNDS = 10, EACH = 8, DEAR = 8 };

static uint64_t each; /* steps for an item */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t all;
    int came;
} meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int round;
} done[MAX_THREADS];

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        uint64_t x = work(round * 1000 + i, each);
        if (i >= P * EACH * 3 / 4) /* PLANTED */
            x = refine(x, DEAR * each);
        results[id].sum += x;
    }
}

static void solve(int id)
{
    for (int round = 0; round < ROUNDS; round++) {
        results[id].sum += work(round * 555 + id, EACH * each);
        pthread_mutex_lock(&done[id].lock);
        done[id].round = round + 1;
        pthread_cond_broadcast(&done[id].changed);
        pthread_mutex_unlock(&done[id].lock);
        int other = (id + P - 1) % P;
        pthread_mutex_lock(&done[other].lock);
        while (done[other].round <= round)
            pthread_cond_wait(&done[other].changed, &done[other].lock); /* NONE */
        pthread_mutex_unlock(&done[other].lock);
        pthread_mutex_lock(&meeting.lock);
        meeting.came++;
        if (meeting.came == P) {
            meeting.came = 0;
            pthread_cond_broadcast(&meeting.all);
        } else {
            pthread_cond_wait(&meeting.all, &meeting.lock); /* BALANCED */
        }
        pthread_mutex_unlock(&meeting.lock);
        share(id, round);
        pthread_mutex_lock(&meeting.lock);
        meeting.came++;
        if (meeting.came == P) {
            meeting.came = 0;
            pthread_cond_broadcast(&meeting.all);
        } else {
            pthread_cond_wait(&meeting.all, &meeting.lock); /* SECTION */
        }
        pthread_mutex_unlock(&meeting.lock);
    }
}

static void *run(void *arg)
{
    solve(number(arg));
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
    for (int t = 0; t < P; t++) {
        pthread_mutex_init(&done[t].lock, NULL);
        pthread_cond_init(&done[t].changed, NULL);
    }
    for (int t = 1; t < P; t++)
        start(t, run);
    solve(0);
    for (int t = 1; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
