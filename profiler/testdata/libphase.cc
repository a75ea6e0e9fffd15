// A library whose functions wait, call back, and let exceptions pass.
#include <pthread.h>

static pthread_barrier_t bar;
static volatile double sink;

extern "C" void lib_init(int n) { pthread_barrier_init(&bar, nullptr, n); }

static double work(int n) {
	double s = 0;
	for (int i = 1; i < n; i++)
		s += 1.0 / i;
	return s;
}

extern "C" void lib_phase(int id, int k) {
	for (int r = 0; r < k; r++) {
		int n = 1000;
		if ((id + r) % 4 == 0)
			n *= 3;
		sink = work(n);
		pthread_barrier_wait(&bar);
	}
}

extern "C" int lib_each(int (*f)(int), int n) {
	int s = 0;
	for (int i = 0; i < n; i++)
		s += f(i);
	return s;
}
