// Dense and sparse switches, two that share targets, one in a loop.
#include <stdio.h>
#include <stdlib.h>
static unsigned a(unsigned x) {
	switch (x % 11) {
	case 0: return x * 3;
	case 1: return x ^ 0x55;
	case 2: return x + 7;
	case 3: return x - 9;
	case 4: return ~x;
	case 5: return x << 3;
	case 6: return x >> 2;
	case 7: return x * x;
	case 8: return x | 1;
	default: return 0;
	}
}
static unsigned b(unsigned x, unsigned y) {
	unsigned r = 0;
again:
	switch (x) {
	case 0: r += 1; goto one;
	case 1: r += 2; goto two;
	case 2: one: r += 4; break;
	case 3: two: r += 8; break;
	case 4: r += 16; x = 3; goto again;
	case 5: r *= 3; break;
	case 6: r -= 5; break;
	case 7: r ^= 0x33; goto one;
	}
	switch (y) {
	case 0: return r + 1;
	case 1: r += 2; break;
	case 2: r += 3; break;
	case 3: return r;
	case 4: r += 5; break;
	case 5: r ^= 7; break;
	case 6: return r * 3;
	}
	return r;
}
static int rare(long v) {
	switch (v) {
	case 1000000: return 1;
	case -5: return 2;
	case 77: return 3;
	case 1 << 20: return 4;
	}
	return 0;
}
int main(int argc, char **argv) {
	unsigned n = argc > 1 ? atoi(argv[1]) : 2000, s = 1;
	for (unsigned i = 0; i < n; i++) {
		s += a(i + s);
		s ^= b(i % 9, s % 8);
		s += rare(i % 100) + rare(i * 1000);
	}
	printf("%u\n", s);
	return 0;
}
