/* Pieces of work of known costs, which threads take themselves: see
   selfscheduled_test.go, which has the same costs. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static std::vector<uint64_t> cost, result;

static void pieces(const char *how, int n, uint64_t mean)
{
    uint64_t s = 42;
    for (int i = 0; i < n; i++) {
        uint64_t c = mean;
        if (!strcmp(how, "random")) {
            s = s * 6364136223846793005u + 1442695040888963407u;
            c = (s >> 33) % (2 * mean) + 1000;
        } else if (!strcmp(how, "huge") && i == n / 3)
            c = mean * n / 5;
        else if (!strcmp(how, "growing"))
            c = 2 * mean * (i + 1) / (n + 1);
        cost.push_back(c);
    }
    result.resize(n);
}

__attribute__((noinline)) static uint64_t work(uint64_t c)
{
    uint64_t x = c | 1;
    for (uint64_t i = 0; i < c / 4; i++) {
        x = x * 6364136223846793005u + i;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

static void checksum()
{
    uint64_t sum = 0;
    for (size_t i = 0; i < result.size(); i++)
        sum ^= result[i] * (i + 1);
    printf("checksum %llu\n", (unsigned long long)sum);
}
