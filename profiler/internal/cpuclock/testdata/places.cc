// Work in a line of its own, in an inlined template, in a library that is called,
// and in the kernel.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <fcntl.h>
#include <thread>
#include <unistd.h>
#include <vector>

static volatile unsigned long sink;

template <class T> static inline T mix(T x, unsigned long n)
{
	for (; n > 0; n--) x = x * 6364136223846793005ul + n; /* INLINED */
	return x;
}

static void lines(unsigned long n)
{
	sink += mix<unsigned long>(n, n);
}

static void library(unsigned long n)
{
	std::vector<char> a(1 << 16), b(1 << 16);
	for (unsigned long i = 0; i < n; i++)
		memmove(&a[0], &b[i % 2], a.size() - 2); /* LIBRARY */
}

static void sorted(unsigned long n)
{
	std::vector<unsigned> v(1 << 14);
	for (unsigned long i = 0; i < n; i++) {
		for (auto &x : v)
			x = (unsigned)(sink = sink * 69069 + 1);
		std::sort(v.begin(), v.end()); /* SORT */
	}
}

static void kernel(unsigned long n)
{
	static char buffer[1 << 20];
	int f = open("/dev/zero", O_RDONLY);
	for (unsigned long i = 0; i < n; i++)
		if (read(f, buffer, sizeof buffer) < 0) /* KERNEL */
			abort();
	close(f);
}

static unsigned long counted;

static void locked(unsigned long n)
{
	unsigned long x = 1;
	for (unsigned long i = 0; i < n; i++) {
		__atomic_fetch_add(&counted, x & 1, __ATOMIC_SEQ_CST); /* LOCKED */
		x = x * 69069 + i;
	}
	sink = x;
}

int main(int n, char **v)
{
	std::string_view what = n > 1 ? v[1] : "lines";
	unsigned long k = n > 2 ? strtoul(v[2], nullptr, 10) : 1;
	auto *f = what == "lines" ? lines : what == "library" ? library : what == "sort" ? sorted : what == "locked" ? locked : kernel;
	std::thread other(f, k);
	f(k);
	other.join();
	return 0;
}
