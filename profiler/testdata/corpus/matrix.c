// Blocked matrix product, LU without pivots, a stencil: nested counted loops.
#include <stdio.h>
#define N 24
static double a[N][N], b[N][N], c[N][N];
static __attribute__((noinline)) void mul(int bs) { for (int ii = 0; ii < N; ii += bs) for (int kk = 0; kk < N; kk += bs) for (int i = ii; i < ii + bs && i < N; i++) for (int k = kk; k < kk + bs && k < N; k++) for (int j = 0; j < N; j++) c[i][j] += a[i][k] * b[k][j]; }
static __attribute__((noinline)) void lu(void) { for (int k = 0; k < N; k++) for (int i = k + 1; i < N; i++) { a[i][k] /= a[k][k]; for (int j = k + 1; j < N; j++) a[i][j] -= a[i][k] * a[k][j]; } }
static __attribute__((noinline)) long stencil(int n) { long hot = 0; for (int t = 0; t < n; t++) for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) { double v = (b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1]) / 4; if (v > b[i][j]) hot++; b[i][j] = v; } return hot; }
int main(void) {
	for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { a[i][j] = i == j ? 50 : i * 3 % 7 + j; b[i][j] = i * j % 11; }
	mul(5);
	lu();
	printf("%ld %.3f %.3f\n", stencil(9), c[3][4], a[N - 1][N - 1]);
	return 0;
}
