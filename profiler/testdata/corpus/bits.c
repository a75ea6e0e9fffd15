// Population counts, shifts by variables, conditional moves, rotates, 128-bit products.
#include <stdint.h>
#include <stdio.h>
#define NI __attribute__((noinline))
static NI int pop(uint64_t x) { int n = 0; while (x) { x &= x - 1; n++; } return n; }
static NI uint64_t rot(uint64_t x, int k) { return x << (k & 63) | x >> (-k & 63); }
static NI uint64_t mul(uint64_t a, uint64_t b) { return (uint64_t)(((unsigned __int128)a * b) >> 64); }
static NI int64_t mid(int64_t a, int64_t b, int64_t c) { int64_t lo = a < b ? a : b, hi = a < b ? b : a; return c < lo ? lo : c > hi ? hi : c; }
static NI uint32_t crc(const unsigned char *p, int n) { uint32_t c = ~0u; while (n--) { c ^= *p++; for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1; } return ~c; }
int main(void) {
	uint64_t s = 0x9e3779b97f4a7c15u, h = 0;
	for (int i = 0; i < 500; i++) {
		s ^= rot(s, i) + mul(s, s | 1);
		h += (uint64_t)pop(s) + (uint64_t)mid((int64_t)s, i, (int64_t)h) + crc((unsigned char *)&s, 8);
	}
	printf("%lu\n", (unsigned long)h);
	return 0;
}
