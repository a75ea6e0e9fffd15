/* Half of the work is done by one thread before the others begin. */
#include <pthread.h>
#include <stdlib.h>

static unsigned long each;
static volatile unsigned long sink;

static unsigned long work(unsigned long n, unsigned long x)
{
	for (unsigned long i = 0; i < n; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	return x;
}

static void *parallel(void *a)
{
	return (void *)work(each, (unsigned long)a);
}

int main(int n, char **v)
{
	int p = n > 1 ? atoi(v[1]) : 1;
	unsigned long all = n > 2 ? strtoul(v[2], 0, 10) : 200000000;
	pthread_t t[64];
	sink = work(all / 2, 1); /* PLANTED */
	each = all / 2 / p;
	for (long i = 0; i < p; i++)
		pthread_create(&t[i], 0, parallel, (void *)i);
	for (int i = 0; i < p; i++)
		pthread_join(t[i], 0);
	return 0;
}
