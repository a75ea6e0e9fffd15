// Loops that count by induction and ones that only look so.
#include <stdio.h>
#define NI __attribute__((noinline))
static NI long upby(const long *a, long n, long step) { long s = 0; for (long i = 0; i < n; i += step) s += a[i]; return s; }
static NI long backwards(const long *a, long n) { long s = 0; for (const long *p = a + n; p-- > a;) s = s * 3 + *p; return s; }
static NI long early(const long *a, long n, long x) { for (long i = 0; i < n; i++) if (a[i] == x) return i; return -1; }
static NI long twice(const long *a, long n) { long s = 0; for (long i = 0; i < n; i++) { if (a[i] & 1) i++; s += i; } return s; }
static NI long nest(const long *a, long n) { long s = 0; for (long i = 0; i < n; i++) for (long j = i; j < n; j += 3) if (a[j] > a[i]) s += j; return s; }
static NI unsigned wrap(unsigned from, unsigned n) { unsigned s = 0; for (unsigned i = from; i != from + n; i++) s = s * 5 + i; return s; }
static NI long zero(long n) { long s = 0; do s += n; while (--n > 0); return s; }
static NI long mixed(long n) { long s = 0; for (long i = 0, j = n; i < j; i += 2, j -= 3) { s ^= i * j; if (s & 4) continue; s += 7; } return s; }
int main(void) {
	long a[200], s = 0;
	for (long i = 0; i < 200; i++) a[i] = i * 37 % 101;
	for (long k = 1; k < 60; k++) s += upby(a, 200, k % 5 + 1) + backwards(a, k) + early(a, 200, k) + twice(a, k) + nest(a, k) + wrap(4294967290u + (unsigned)k % 3, 20) + zero(k) + mixed(k);
	printf("%ld\n", s);
	return 0;
}
