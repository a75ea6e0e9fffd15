/* A library whose functions call each other as others would: through its table. */
#include <pthread.h>

long done[64];

void *serve(void *p)
{
    for (long i = 0; i < 1000; i++)
        done[(long)p] += i & 3;
    return p;
}

int begin_one(pthread_t *t, long n) { return pthread_create(t, 0, serve, (void *)n); }

int end_one(pthread_t t) { return pthread_join(t, 0); }

int serve_all(int n)
{
    pthread_t t[64];
    int failed = 0;
    for (int i = 0; i < n; i++)
        failed += begin_one(&t[i], i);
    for (int i = 0; i < n; i++)
        failed += end_one(t[i]);
    return failed;
}
