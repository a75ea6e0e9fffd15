/* Runs work() with the stack where it is in each run, by the lowest twelve bits of its
 * address: how many lines what is used of it takes differs else, and with it, by
 * percents, what misses. With an argument nothing is done: that is to know what is
 * missed before. */
#include <alloca.h>
#include <stdint.h>

static int work(void);

int main(int argc, char **argv)
{
	if (argc > 1)
		return argv[1][0] != '0';
	volatile char *room = (volatile char *)alloca(((uintptr_t)__builtin_frame_address(0) & 4095) + 64);
	room[0] = 0;
	return work();
}
