// A library that throws through its callers and looks at its stack.
#include <execinfo.h>
#include <stdexcept>

extern "C" void throws(int n)
{
	if (n > 2)
		throw std::runtime_error("too many");
}

extern "C" int catches(void (*f)(int), int n)
{
	try {
		f(n);
		return 0;
	} catch (std::exception &) {
		return 1;
	}
}

extern "C" int depth(void)
{
	void *a[64];
	return backtrace(a, 64);
}
