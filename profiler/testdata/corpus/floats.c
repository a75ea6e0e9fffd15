// Vectorised and scalar floating point, FMA where the machine has it.
#include <math.h>
#include <stdio.h>
#define NI __attribute__((noinline))
static NI void axpy(double *y, const double *x, double a, long n) { for (long i = 0; i < n; i++) y[i] += a * x[i]; }
static NI float dot(const float *x, const float *y, long n) { float s = 0; for (long i = 0; i < n; i++) s += x[i] * y[i]; return s; }
static NI long clamp(const double *x, long n) { long c = 0; for (long i = 0; i < n; i++) if (x[i] > 1 && !(x[i] > 100)) c++; else if (isnan(x[i])) c += 3; return c; }
int main(void) {
	double x[100], y[100];
	float f[100], g[100];
	for (int i = 0; i < 100; i++) { x[i] = i; y[i] = 100 - i; f[i] = (float)i / 3; g[i] = 2; }
	long s = 0;
	double z = 0;
	for (int k = 1; k < 90; k++) { axpy(y, x, 1.0 / k, k); z += dot(f, g, k); s += clamp(y, 100); }
	printf("%ld %.3f\n", s, z);
	return 0;
}
