/* A task_group of oneTBB's: the thread that makes the tasks waits for all of them, and
 * executes some. One of them is huge; FIXED cuts it.
 *
 * EXPECT link=tbb cores=P least=4 most=8 percent=10 scheduled=self instances=10 kind=join cause=branch gain=any */
#include "idiom.h"
#include <oneapi/tbb.h>

static const int rounds = 10, each_has = 16;

static uint64_t each;
static uint64_t item[MAX_THREADS * each_has];

static void piece(int i, int items)
{
    uint64_t x = work(i, each);
#ifdef FIXED
    x += work(i, 2 * each);
#else
    if (i % items == items / 2) /* PLANTED */
        for (int other = i - items / 2; other < i + items / 2; other++)
            x += work(other, 2 * each);
#endif
    item[i % items] += x;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int items = each_has * P;
    each = budget / rounds / (3 * items);
    oneapi::tbb::global_control threads(oneapi::tbb::global_control::max_allowed_parallelism, P);
    oneapi::tbb::task_arena arena(P);
    arena.execute([&] {
        for (int round = 0; round < rounds; round++) {
            oneapi::tbb::task_group group;
            for (int i = 0; i < items; i++)
                group.run([=] { piece(round * items + i, items); });
            group.wait(); /* SECTION */
        }
    });
    for (int i = 0; i < items; i++)
        results[0].sum += item[i];
    return answer();
}
