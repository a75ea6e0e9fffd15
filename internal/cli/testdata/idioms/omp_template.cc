/* A loop of OpenMP in a function template, over a container: rows of several lengths,
 * dealt in blocks. FIXED has a short one with each long one. The regions of the
 * template's instances are one place of the source.
 *
 * EXPECT openmp=yes instances=10 rows=P kind=omp cause=loop|branch */
#include "idiom.h"
#include <omp.h>
#include <vector>

enum { ROUNDS = 10, EACH = 16 };

#ifdef FIXED
#define ROW(i) ((i) % 2 ? n - 1 - (i) / 2 : (i) / 2)
#else
#define ROW(i) (i)
#endif

template <class Row> static uint64_t sweep(const std::vector<Row> &rows, int round, uint64_t each)
{
    uint64_t sum = 0;
    #pragma omp parallel for num_threads(P) reduction(+ : sum) /* SECTION */
    for (size_t i = 0; i < rows.size(); i++)
        for (auto x : rows[i]) /* PLANTED */
            sum += work(round * 1000 + x, each);
    return sum;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int n = EACH * P;
    uint64_t each = budget / ROUNDS / (n * (n + 1) / 2);
    std::vector<std::vector<int>> whole;
    std::vector<std::vector<short>> half;
    for (int i = 0; i < n; i++) {
        whole.emplace_back(ROW(i) + 1, 1);
        half.emplace_back(ROW(i) + 1, 1);
    }
    for (int round = 0; round < ROUNDS; round += 2)
        results[0].sum += sweep(whole, round, each) + sweep(half, round + 1, each);
    return answer();
}
