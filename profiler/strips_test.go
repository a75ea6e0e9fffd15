package profiler_test

import (
	"testing"

	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// strides goes through memory by steps of all lengths, upwards and downwards, in lines and
// across them, by many arrays at once of which lines are of one set, and leaves in the middle.
const strides = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct three { double x, y, z; };
struct __attribute__((packed)) odd { char c; double d; };
#define OWN __attribute__((noinline)) static
OWN double sum(double *a, long n) { double s = 0; for (long i = 0; i < n; i++) s += a[i]; return s; }
OWN double down(double *a, long n) { double s = 0; for (long i = n; i-- > 0;) s += a[i] * 2; return s; }
OWN void axpy(double *a, double *b, double x, long n) { for (long i = 0; i < n; i++) a[i] += b[i] * x; }
OWN void stencil(double *o, double *a, double *b, double *c, long n) { for (long i = 1; i < n; i++) o[i] = a[i] + b[i-1] + b[i] + b[i+1] + c[i]; }
OWN void red(double *a, long n) { for (long i = 1; i < n; i += 2) a[i] = a[i-1] + a[i+1]; }
OWN double parts(struct three *a, long n) { double s = 0; for (long i = 0; i < n; i++) s += a[i].x + a[i].z; return s; }
OWN double odds(struct odd *a, long n) { double s = 0; for (long i = 0; i < n; i++) { s += a[i].d; a[i].c++; } return s; }
OWN void widen(double *a, float *f, short *h, char *c, long n) { for (long i = 0; i < n; i++) a[i] = f[i] + h[i] + c[i]; }
OWN long find(const char *s, char c) { long i = 0; while (s[i] != c) i++; return i; }
OWN void turn(long *a, long *b, long n) { for (long i = 0; i < n; i++) b[n - 1 - i] = a[i]; }
OWN void keep(volatile long *where, int *a, long n) { for (long i = 0; i < n; i++) *where += a[i]; }
OWN void many(double **p, long n) {
	double *a = p[0], *b = p[1], *c = p[2], *d = p[3], *e = p[4], *f = p[5], *g = p[6];
	for (long i = 0; i < n; i++) a[i] = b[i] + c[i] * d[i] - e[i] + f[i] * g[i];
}
OWN void deep(double *a, double *b, long n, long m) { for (long k = 0; k < m; k++) for (long i = 0; i < n; i++) a[i] += b[i + k]; }
int main(void) {
	enum { N = 1 << 13 };
	double *p[7], s = 0;
	char *all = aligned_alloc(4096, 8 * 16 * N);
	for (int i = 0; i < 7; i++) p[i] = (double *)(all + (8 * N + 4096) * i);
	memset(all, 0, 8 * 16 * N);
	for (int off = 0; off < 3; off++) {
		double *a = (double *)(all + 4 * off), *b = a + N + 3;
		axpy(a, b, 3, N - 5 * off); axpy(b, a, 2, 100); stencil(a, b, b + 512, b + 1024, N - 9); red(a, N - off);
		s += sum(a, N) + down(a + off, N - 1) + parts((struct three *)(a + off), N) + odds((struct odd *)(all + off), N);
		widen(a, (float *)b, (short *)all, all + 100 + off, N);
		turn((long *)a, (long *)(b + off), N); keep((long *)a, (int *)b, N);
		all[7000 + off] = 9; s += find(all, 9) + find(all + 6990, 9);
		many(p, N); deep(a, b, 7 + off, 300); deep(a, b, 300, 9);
		for (int i = 1; i < 40; i++) s += sum(a + i, i);
	}
	printf("%g\n", s);
	return 0;
}
`

// TestRoundsLeftOut: loops of which rounds are not simulated, since all of them are hits,
// come out as if they were, whatever the first level is.
func TestRoundsLeftOut(t *testing.T) {
	const rest = "[l2]\nsize = \"16K\"\nways = 2\n[l3]\nsize = \"64K\"\nways = 16\n"
	src := proctest.Source(t, "strides.c", strides)
	for _, flags := range [][]string{{"-O1"}, {"-O2"}, {"-O3", "-march=native"}, {"-O1", "-fomit-frame-pointer", "-funroll-loops"}} {
		prog := proctest.Build(t, "gcc", append(flags, "-g", src)...)
		for _, first := range []string{"line = 64\n[l1]\nsize = \"1K\"\nways = 1\n", "line = 64\n[l1]\nsize = \"4K\"\nways = 2\n", "line = 32\n[l1]\nsize = \"2K\"\nways = 4\n", "line = 64\n[l1]\nsize = \"12K\"\nways = 12\n"} {
			c := sameAddresses(t, prog)
			c.Machine, c.Libraries = machine(t, first+rest), []string{"none"}
			got := byEvent(runWith(t, c))
			want, sum := byEvent(runWith(t, profiler.Told(c, nil))), uint64(0)
			for e, n := range want {
				if sum += n; got[e] != n {
					t.Errorf("%v, %s: %d, want %d of %v", flags, first, got[e], n, e)
				}
				delete(got, e)
			}
			if len(got) > 0 || sum < 10000 {
				t.Errorf("%v, %s: %d misses, and others: %v", flags, first, sum, got)
			}
		}
	}
}
