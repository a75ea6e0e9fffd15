#include "pieces.h"
#include <oneapi/tbb.h>
#include <string>

int main(int, char **argv)
{
    std::string how = argv[1];
    int n = atoi(argv[3]);
    pieces(argv[2], n, strtoull(argv[4], nullptr, 10));
    tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 8);
    tbb::task_arena arena(8);
    auto body = [](const tbb::blocked_range<int> &r) {
        for (int i = r.begin(); i < r.end(); i++)
            result[i] = work(cost[i]);
    };
    arena.execute([&] {
        if (how == "simple")
            tbb::parallel_for(tbb::blocked_range<int>(0, n, 2), body, tbb::simple_partitioner());
        else
            tbb::parallel_for(tbb::blocked_range<int>(0, n), body);
    });
    checksum();
}
