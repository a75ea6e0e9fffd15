/* Threads that read what they are to do from one pipe: whoever is free takes the next
 * piece. All are of one size.
 *
 * EXPECT instances=1 silent=yes scheduled=self percent=10 */
#include "idiom.h"
#include <unistd.h>

enum { EACH = 24 };

static int jobs[2];
static uint64_t each;

static void *serve(void *arg)
{
    for (int job[2]; read(jobs[0], job, sizeof job) == sizeof job && job[0] >= 0;)
        results[number(arg)].sum += work((uint64_t)job[1], each);
    return NULL;
}

static void put(int what, int item)
{
    int job[2] = {what, item};
    if (write(jobs[1], job, sizeof job) != sizeof job)
        exit(1);
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / (uint64_t)(P * EACH);
    if (pipe(jobs) != 0)
        return 1;
    for (int t = 0; t < P; t++)
        start(t, serve);
    for (int i = 0; i < P * EACH; i++)
        put(0, i);
    for (int t = 0; t < P; t++)
        put(-1, 0);
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL); /* SECTION */
    return answer();
}
