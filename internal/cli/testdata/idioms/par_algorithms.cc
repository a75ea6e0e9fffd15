/* The parallel algorithms of C++, which the library has made by oneTBB. One element is
 * dear; FIXED makes all alike.
 *
 * EXPECT link=tbb cores=P least=4 most=8 percent=10 scheduled=self instances=10 kind=join cause=branch gain=any */
#include "idiom.h"
#include <algorithm>
#include <execution>
#include <numeric>
#include <oneapi/tbb.h>

static const int rounds = 10, each_has = 16;

static uint64_t each;

static void piece(uint64_t &of, int i, int items)
{
    uint64_t x = work(i, each);
#ifdef FIXED
    x += work(i, 2 * each);
#else
    if (i % items == items / 2) /* PLANTED */
        for (int other = i - items / 2; other < i + items / 2; other++)
            x += work(other, 2 * each);
#endif
    of += x;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int items = each_has * P;
    each = budget / rounds / (3 * items);
    oneapi::tbb::global_control threads(oneapi::tbb::global_control::max_allowed_parallelism, P);
    oneapi::tbb::task_arena arena(P);
    std::vector<uint64_t> all(items);
    arena.execute([&] {
        for (int round = 0; round < rounds; round++)
            std::for_each(std::execution::par, all.begin(), all.end(), [&](uint64_t &x) { /* SECTION */
                piece(x, round * items + (int)(&x - all.data()), items);
            });
    });
    results[0].sum = std::accumulate(all.begin(), all.end(), uint64_t(0));
    return answer();
}
