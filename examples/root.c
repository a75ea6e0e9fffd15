/* After the picture is rendered one thread alone writes it out, while the
 * others wait at the barrier, as in SPLASH's volrend.
 *
 * FIXED lets every thread write its own rows. */
#include "example.h"

enum { FRAMES = 3 };

static pthread_barrier_t meet;

static uint64_t render(int frame, int id)
{
    return work(frame * 1000 + id, budget / 2 / FRAMES / P);
}

static uint64_t write_rows(int frame, int first, int stride)
{
    uint64_t sum = 0;
    int rows = 4 * P;
    for (int r = first; r < rows; r += stride)
        sum += work(frame * 100000 + r, budget / 2 / FRAMES / rows);
    return sum;
}

static void *draw(void *arg)
{
    struct worker *me = arg;

    for (int frame = 0; frame < FRAMES; frame++) {
        me->result += render(frame, me->id);
#ifdef FIXED
        me->result += write_rows(frame, me->id, P);
#else
        if (me->id == 0) /* PLANTED */
            me->result += write_rows(frame, 0, 1);
#endif
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    pthread_barrier_init(&meet, NULL, P);
    together(draw);
    return answer();
}
