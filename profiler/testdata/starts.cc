// Threads that begin in what a std::thread can be made of.
#include <functional>
#include <thread>

static volatile long sink;

__attribute__((noinline)) static void free_function(int n)
{
    for (int i = 0; i < n; i++) /* 1 */
        sink = sink + i;
}

struct Worker {
    int n;
    __attribute__((noinline)) void member(int more)
    {
        for (int i = 0; i < n + more; i++) /* 2 */
            sink = sink + i;
    }
    void operator()()
    {
        for (int i = 0; i < n; i++) /* 3 */
            sink = sink + i;
    }
};

int main(int argc, char **)
{
    Worker w{argc};
    std::thread(free_function, argc).join();
    std::thread(&Worker::member, &w, 1).join();
    std::thread(w).join();
    std::thread([argc] { /* 4 */
        for (int i = 0; i < argc; i++)
            sink = sink + i;
    }).join();
    std::thread(std::bind(free_function, argc)).join(); /* 5, as 1 */
    return 0;
}
