/* Threads run lists of std::packaged_tasks, of two kinds, some longer than others. The C
 * library calls what a packaged task runs (std::call_once): that, too, is what the loop
 * over the list costs.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=loop */
#include "idiom.h"
#include <functional>
#include <future>
#include <vector>

enum { ROUNDS = 10, EACH = 4 };

static uint64_t each; /* steps for a task */
static pthread_barrier_t meet;

/* lists are of every thread's tasks in a round: as many more as its number is greater. */
static std::vector<std::packaged_task<uint64_t()>> listed(int id, int round)
{
    std::vector<std::packaged_task<uint64_t()>> list;
    for (int k = 0; k < EACH; k++) {
        int own = dealt(id, k, EACH);
        for (int j = 0; j <= own; j++) {
            int i = round * 1000 + own;
            if ((own + j) % 2 == 0)
                list.emplace_back([=] { return work(i, each); });
            else
                list.emplace_back([=] { return refine(i, each); });
        }
    }
    return list;
}

static void *run(void *arg)
{
    int id = (int)(intptr_t)arg;
    std::vector<std::vector<std::packaged_task<uint64_t()>>> rounds;
    for (int round = 0; round < ROUNDS; round++)
        rounds.push_back(listed(id, round));
    for (auto &list : rounds) {
        pthread_barrier_wait(&meet); /* SECTION */
        for (auto &task : list) { /* PLANTED */
            auto result = task.get_future();
            task();
            results[id].sum += result.get();
        }
    }
    pthread_barrier_wait(&meet);
    return nullptr;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS * 2 / (P * EACH * (P * EACH + 1));
    pthread_barrier_init(&meet, nullptr, P);
    team([](int t) { run((void *)(intptr_t)t); });
    return answer();
}
