// Recurses, and is sampled at the bottom.
#include <signal.h>
#include <stdio.h>

__attribute__((noinline)) static long down(int n)
{
	long r;
	if (n)
		r = down(n - 1);
	else
		r = raise(SIGUSR1);
	__asm__("");
	return r + 1;
}

int main(void)
{
	long s = 0;
	for (int i = 0; i < 100; i++)
		s += down(9);
	printf("%ld\n", s);
	return 0;
}
