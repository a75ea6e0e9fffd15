#include "dealt.h"
#include <algorithm>
#include <atomic>
#include <mutex>
#include <deque>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

static void run(int P, const std::function<void(int)> &body)
{
    std::vector<std::thread> threads;
    for (int id = 0; id < P; id++)
        threads.emplace_back([&body, id] { body(id); });
    for (auto &t : threads)
        t.join(); /* SECTION */
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int P = atoi(argv[1]);
    set_costs(argv[2]);
    std::string dealing = argv[3];
    std::vector<int> items(UNITS);
    std::iota(items.begin(), items.end(), 0);
    for (int round = 0; round < ROUNDS; round++) {
        if (dealing == "blocks") {
            run(P, [&](int id) {
                auto from = items.begin() + id * UNITS / P, to = items.begin() + (id + 1) * UNITS / P;
                for (auto i = from; i != to; ++i) /* blocks */
                    unit(*i);
            });
        } else if (dealing == "turns") {
            run(P, [&](int id) {
                for (size_t i = (size_t)id; i < items.size(); i += (size_t)P) /* turns */
                    unit(items[i]);
            });
        } else if (dealing == "owner") {
            run(P, [&](int id) {
                for (int i : items) /* owner */
                    if (i % P == id)
                        unit(i);
            });
        } else {
            std::deque<int> queue(items.begin(), items.end());
            if (dealing == "longest-first")
                std::stable_sort(queue.begin(), queue.end(), [](int a, int b) { return costs[a] > costs[b]; });
            std::mutex lock;
            if (dealing == "demand4" || dealing == "demand16") {
                size_t chunk = std::stoul(dealing.substr(6));
                run(P, [&](int) {
                    for (;;) {
                        std::vector<int> mine;
                        {
                            std::lock_guard held(lock);
                            if (queue.empty())
                                return;
                            auto end = queue.begin() + (long)std::min(chunk, queue.size());
                            mine.assign(queue.begin(), end);
                            queue.erase(queue.begin(), end);
                        }
                        for (int i : mine)
                            unit(i);
                    }
                });
                continue;
            }
            run(P, [&](int) {
                for (;;) { /* demand */
                    int i;
                    {
                        std::lock_guard held(lock);
                        if (queue.empty())
                            return;
                        i = queue.front();
                        queue.pop_front();
                    }
                    unit(i);
                }
            });
        }
    }
    return answer();
}
