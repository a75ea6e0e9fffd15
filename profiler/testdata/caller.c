// Asks where it was called from: by its return address, and from frame to frame.
#include <stdio.h>

extern char __executable_start[], etext[];
static int inside, outside;

__attribute__((no_instrument_function)) static void look(void *p)
{
	if ((char *)p >= __executable_start && (char *)p < etext)
		inside++;
	else
		outside++;
}

__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *f, void *caller) { look(f), look(caller); }
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *f, void *caller) { look(f), look(caller); }

__attribute__((noinline)) static void *leaf(void) { return __builtin_return_address(0); }

__attribute__((noinline)) static int middle(int n)
{
	for (int i = 0; i < n; i++)
		look(leaf());
	look(__builtin_return_address(0));
	__asm__("");
	return n;
}

__attribute__((noinline)) static int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	volatile int room[32];
	switch (room[a & 31] = a) {
	case 1: b += c; break;
	case 2: b += d; break;
	case 3: b += e; break;
	case 4: b += f; break;
	case 5: b += g * h; break;
	case 6: b -= h; break;
	}
	look(__builtin_return_address(0));
	return b + middle(1);
}

int main(void)
{
	int s = 0;
	for (int i = 0; i < 9; i++)
		s += middle(i) + many(i, 1, 2, 3, 4, 5, 6, 7);
	printf("%d: %d inside\n", s, inside - outside);
	return outside > 2; // who calls main
}
