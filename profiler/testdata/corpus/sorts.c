// Library callbacks (qsort, bsearch) and hand-written sorts.
#include <stdio.h>
#include <stdlib.h>
static int up(const void *a, const void *b) { int x = *(const int *)a, y = *(const int *)b; return x < y ? -1 : x > y; }
static int down(const void *a, const void *b) { return up(b, a); }
static void insertion(int *a, int n) { for (int i = 1; i < n; i++) { int x = a[i], j = i; while (j > 0 && a[j - 1] > x) { a[j] = a[j - 1]; j--; } a[j] = x; } }
static void heap(int *a, int n) {
	for (int k = n / 2 - 1, m = n; m > 1;) {
		if (k < 0) { int t = a[0]; a[0] = a[--m]; a[m] = t; }
		int i = k < 0 ? 0 : k--, x = a[i];
		for (;;) { int c = 2 * i + 1; if (c >= m) break; if (c + 1 < m && a[c + 1] > a[c]) c++; if (a[c] <= x) break; a[i] = a[c]; i = c; }
		a[i] = x;
	}
}
int main(void) {
	int a[300];
	unsigned s = 7, h = 0;
	for (int r = 0; r < 8; r++) {
		for (int i = 0; i < 300; i++) a[i] = (int)((s = s * 1664525 + 1013904223) >> 8);
		if (r % 4 == 0) qsort(a, 300, sizeof *a, up);
		if (r % 4 == 1) qsort(a, 300, sizeof *a, down);
		if (r % 4 == 2) insertion(a, 300);
		if (r % 4 == 3) heap(a, 300);
		if (r % 4 != 1) h += bsearch(&a[17], a, 300, sizeof *a, up) == NULL;
		for (int i = 0; i < 300; i += 7) h = h * 31 + (unsigned)a[i];
	}
	printf("%u\n", h);
	return 0;
}
