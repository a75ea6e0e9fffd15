// Uses libphase.cc: its threads wait in it, it calls them back, and some of
// what it calls throws through it.
#include <cstdio>
#include <pthread.h>

extern "C" void lib_init(int);
extern "C" void lib_phase(int, int);
extern "C" int lib_each(int (*)(int), int);

static int twice(int x) { return 2 * x; }

static int fails(int x) {
	if (x == 3)
		throw x;
	return x;
}

static int waits(int x) {
	lib_phase(x, 2);
	return x;
}

static void *run(void *a) {
	long id = (long)a, n = 0;
	lib_phase(id, 20);
	n += lib_each(twice, 10 + id);
	n += lib_each(waits, 3);
	for (int i = 0; i < 5 + id; i++) {
		try {
			n += lib_each(fails, 5);
		} catch (int x) {
			n += 100 * x;
		}
	}
	return (void *)n;
}

int main() {
	pthread_t t[4];
	long sum = 0;
	lib_init(4);
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], nullptr, run, (void *)i);
	for (int i = 0; i < 4; i++) {
		void *n;
		pthread_join(t[i], &n);
		sum += (long)n;
	}
	std::printf("%ld\n", sum);
	return 0;
}
