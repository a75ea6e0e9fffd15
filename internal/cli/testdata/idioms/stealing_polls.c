/* Each thread has pieces of its own and then looks for others', under two locks:
 * one for how many threads still have some, one for the pieces. Who finds none
 * goes on looking, with both. All pieces cost the same.
 *
 * EXPECT scheduled=self silent=yes */
#include "idiom.h"

enum { ROUNDS = 20, EACH = 48 };

static uint64_t each;
static pthread_barrier_t meet;
static pthread_mutex_t busy_lock = PTHREAD_MUTEX_INITIALIZER;
static int busy[ROUNDS];
static struct pieces {
    pthread_mutex_t lock;
    int next[ROUNDS];
    char pad[64];
} pieces[MAX_THREADS];

static int take(struct pieces *p, int round)
{
    pthread_mutex_lock(&p->lock);
    int piece = p->next[round]++;
    pthread_mutex_unlock(&p->lock);
    return piece;
}

static uint64_t run_piece(int piece)
{
    return work(piece, each);
}

/* Whose pieces to take next; -1 if nobody has any. */
static int look(int from, int round)
{
    int at = from;
    pthread_mutex_lock(&busy_lock);
    for (;;) {
        at = (at + 1) % P;
        pthread_mutex_lock(&pieces[at].lock);
        if (busy[round] == 0 || pieces[at].next[round] < EACH)
            break;
        pthread_mutex_unlock(&pieces[at].lock);
        pthread_mutex_unlock(&busy_lock);
        pthread_mutex_lock(&busy_lock);
    }
    int left = busy[round];
    pthread_mutex_unlock(&pieces[at].lock);
    pthread_mutex_unlock(&busy_lock);
    return left ? at : -1;
}

static void *run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        for (int at = id; at >= 0; at = look(at, round)) {
            for (int piece; (piece = take(&pieces[at], round)) < EACH;)
                results[id].sum += run_piece(at * EACH + piece);
            if (at == id) {
                pthread_mutex_lock(&busy_lock);
                busy[round]--;
                pthread_mutex_unlock(&busy_lock);
            }
        }
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH);
    for (int round = 0; round < ROUNDS; round++)
        busy[round] = P;
    for (int i = 0; i < P; i++)
        pthread_mutex_init(&pieces[i].lock, NULL);
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
