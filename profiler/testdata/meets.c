/* Threads that meet by a library's functions. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 20 };

void meet_init(int n);
void meet(void);

static long out[THREADS];

__attribute__((noinline, noclone)) static long work(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        __asm__ volatile("" : "+r"(sum) : "r"(i)); /* in every round anew */
    return sum;
}

static void *run(void *arg)
{
    long id = (long)arg;
    for (int i = 0; i < ROUNDS; i++) {
        out[id] += work(100 * (id + 1));
        meet(); /* UNEVEN */
        out[id] += work(100);
        meet(); /* EVEN */
    }
    return 0;
}

int main(void)
{
    pthread_t t[THREADS];
    meet_init(THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], 0, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], 0);
    printf("%ld\n", out[0] + out[1] + out[2] + out[3]);
    return 0;
}
