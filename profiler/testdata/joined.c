#include <pthread.h>

static void *work(void *arg)
{
    volatile long sum = 0;
    for (long i = 0; i < (long)arg * 100000; i++)
        sum += i;
    return 0;
}

int main(void)
{
    pthread_t threads[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, work, (void *)(i + 1));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
