/* New threads in every round, each a member function and its object.
 *
 * EXPECT instances=5 rows=P kind=join cause=branch */
#include "idiom.h"

enum { ROUNDS = 5, EACH = 8, DEAR = 8 };

static uint64_t each; /* steps for an item */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
}

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

class Worker {
    int id;

public:
    explicit Worker(int id) : id(id) {}
    void run(int round) { share(id, round); }
};

int main(int argc, char **argv)
{
    prepare(argc, argv);
    std::vector<Worker> workers;
    for (int t = 0; t < P; t++)
        workers.emplace_back(t);
    for (int round = 0; round < ROUNDS; round++) {
        std::vector<std::thread> threads;
        for (int t = 0; t < P; t++)
            threads.emplace_back(&Worker::run, &workers[t], round);
        for (auto &t : threads)
            t.join(); /* SECTION */
    }
    return answer();
}
