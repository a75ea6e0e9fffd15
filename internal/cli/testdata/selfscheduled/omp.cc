#include "pieces.h"
#include <string>

int main(int, char **argv)
{
    std::string how = argv[1];
    int n = atoi(argv[3]);
    pieces(argv[2], n, strtoull(argv[4], nullptr, 10));
    if (how == "dynamic") {
#pragma omp parallel for schedule(dynamic, 1) num_threads(8)
        for (int i = 0; i < n; i++)
            result[i] = work(cost[i]);
    } else if (how == "dynamic4") {
#pragma omp parallel for schedule(dynamic, 4) num_threads(8)
        for (int i = 0; i < n; i++)
            result[i] = work(cost[i]);
    } else if (how == "guided") {
#pragma omp parallel for schedule(guided) num_threads(8)
        for (int i = 0; i < n; i++)
            result[i] = work(cost[i]);
    } else if (how == "tasks") {
#pragma omp parallel num_threads(8)
#pragma omp single
        for (int i = 0; i < n; i++)
#pragma omp task firstprivate(i)
            result[i] = work(cost[i]);
    } else if (how == "taskloop") {
#pragma omp parallel num_threads(8)
#pragma omp single
#pragma omp taskloop grainsize(2)
        for (int i = 0; i < n; i++)
            result[i] = work(cost[i]);
    }
    checksum();
}
