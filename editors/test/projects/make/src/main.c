#include "work.h"
#include <pthread.h>
#include <stdio.h>

static double sums[4];

static void *run(void *arg) {
    long me = (long)arg;
    sums[me] = work(1500 * (me + 1));
    return 0;
}

int main(void) {
    pthread_t threads[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, run, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    printf("%g\n", sums[0] + sums[3]);
    return 0;
}
