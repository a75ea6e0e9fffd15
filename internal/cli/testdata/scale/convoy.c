/* All threads need the same lock for nearly all that they do. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long each, shared;

static void *work(void *a)
{
	unsigned long own = (unsigned long)a;
	for (unsigned long i = 0; i < each; i++) {
		pthread_mutex_lock(&lock); /* PLANTED */
		for (int k = 0; k < 100000; k++)
			shared = shared * 6364136223846793005ul + own;
		pthread_mutex_unlock(&lock);
		for (int k = 0; k < 1000; k++)
			own = own * 6364136223846793005ul + 1;
	}
	return (void *)own;
}

int main(int n, char **v)
{
	int p = n > 1 ? atoi(v[1]) : 1;
	pthread_t t[64];
	each = (n > 2 ? strtoul(v[2], 0, 10) : 2000) / p;
	for (long i = 0; i < p; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < p; i++)
		pthread_join(t[i], 0);
	return 0;
}
