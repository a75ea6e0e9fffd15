// A C program between two calls of a C++ library.
#include <stdio.h>
#ifdef LATER
#include <dlfcn.h>
static void (*throws)(int);
static int (*catches)(void (*)(int), int);
static int (*depth)(void);
#else
void throws(int);
int catches(void (*)(int), int);
int depth(void);
#endif

static volatile int passed;

__attribute__((noinline)) static void inner(int n)
{
	throws(n);
	passed++;
}

__attribute__((noinline)) static void outer(int n)
{
	inner(n);
	passed += 10;
}

__attribute__((noinline)) static int recurse(int n)
{
	int r = n ? recurse(n - 1) : depth();
	__asm__("");
	return r;
}

int main(void)
{
#ifdef LATER
	void *lib = dlopen(LATER, RTLD_NOW);
	throws = (void (*)(int))dlsym(lib, "throws");
	catches = (int (*)(void (*)(int), int))dlsym(lib, "catches");
	depth = (int (*)(void))dlsym(lib, "depth");
#endif
	int caught = 0;
	for (int i = 0; i < 7; i++)
		caught += catches(outer, i);
	int deep = recurse(10);
	printf("%d %d %d\n", caught, passed, deep);
	return caught != 4 || passed != 33 || deep < 12;
}
