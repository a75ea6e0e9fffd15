/* Functions of mathematics along arrays. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "level.h"

static __attribute__((noinline)) int work(void)
{
	enum { N = 150000 };
	double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y), sum = 0;
	float *f = malloc(N * sizeof *f);
	for (int i = 0; i < N; i++)
		x[i] = i * .001, y[i] = 1 + i % 7, f[i] = i % 1000 * .01f;
	for (int i = 0; i < N; i++)
		sum += sin(x[i]) * exp(-y[i]) + pow(y[i], .3) + log(1 + x[i * 7919L % N]);
	for (int i = 0; i < N; i++)
		sum += atan2(x[i], y[i]) + tan(y[i]) + cbrt(x[i]) + tgamma(y[i]);
	for (int i = 0; i < N; i++)
		sum += sinf(f[i]) + expf(-f[i]) + powf(f[i], 1.5f) + (double)lround(x[i]) + floor(y[i]);
	printf("%f\n", sum);
	return 0;
}
