/* Threads compute on their own: nothing idles, nothing inflates. */
#include <pthread.h>
#include <stdlib.h>

static unsigned long each;

static void *compute(void *a)
{
	unsigned long x = (unsigned long)a;
	for (unsigned long i = 0; i < each; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	return (void *)x;
}

int main(int n, char **v)
{
	int p = n > 1 ? atoi(v[1]) : 1;
	pthread_t t[64];
	each = (n > 2 ? strtoul(v[2], 0, 10) : 200000000) / p;
	for (long i = 0; i < p; i++)
		pthread_create(&t[i], 0, compute, (void *)i);
	for (int i = 0; i < p; i++)
		pthread_join(t[i], 0);
	return 0;
}
