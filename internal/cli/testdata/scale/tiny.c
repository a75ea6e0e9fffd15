/* Tasks are so small that to make one takes longer than to do it: all cores work all
 * the time, and most of it is overhead. With 0 threads, the same without tasks. */
#include <pthread.h>
#include <stdlib.h>

struct task {
	void (*run)(struct task *);
	unsigned long from, to, *into;
	struct task *next;
};

static unsigned long each;

static void add(struct task *t)
{
	for (unsigned long i = t->from; i < t->to; i++)
		*t->into += i * i;
}

static void *split(void *into)
{
	struct task *list = 0;
	for (unsigned long i = 0; i < each; i += 4) {
		struct task *t = malloc(sizeof *t); /* PLANTED */
		*t = (struct task){add, i, i + 4, into, list};
		__atomic_exchange_n(&list, t, __ATOMIC_SEQ_CST);
		list->run(list);
		list = list->next;
		free(t);
	}
	return 0;
}

int main(int n, char **v)
{
	int p = n > 1 ? atoi(v[1]) : 1;
	unsigned long all = n > 2 ? strtoul(v[2], 0, 10) : 100000000;
	static unsigned long sums[64][16];
	pthread_t t[64];
	if (p == 0) {
		struct task whole = {add, 0, all, sums[0], 0};
		whole.run(&whole);
		return 0;
	}
	each = all / p;
	for (long i = 0; i < p; i++)
		pthread_create(&t[i], 0, split, sums[i]);
	for (int i = 0; i < p; i++)
		pthread_join(t[i], 0);
	return 0;
}
