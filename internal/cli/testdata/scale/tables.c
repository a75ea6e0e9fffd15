/* Each thread has a table of its own, which fits a shared cache alone but not beside others. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static unsigned long entries, each;
static unsigned sum[64][16];

static void *count(void *arg)
{
    uintptr_t me = (uintptr_t)arg;
    unsigned *table = calloc(entries, sizeof *table);
    if (!table)
        exit(1);
    for (unsigned long i = 0, x = me; i < each; i++) {
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        table[(x >> 33) % entries]++; /* PLANTED */
    }
    sum[me][0] = table[entries / 2];
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int threads = atoi(argv[1]);
    entries = strtoul(argv[2], NULL, 10);
    each = strtoul(argv[3], NULL, 10) / (unsigned)threads;
    pthread_t t[64];
    for (uintptr_t i = 0; i < (uintptr_t)threads; i++)
        pthread_create(&t[i], NULL, count, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    return sum[0][0] == 0xffffffff;
}
