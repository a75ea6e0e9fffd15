// Switches whose tables are hard to find the end of, with cases that are moved
// away as cold, larger than what stays.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NI __attribute__((noinline))
struct node { int kind; unsigned char small; long left, right; };
NI __attribute__((cold)) static void rare(const char *what, long x) {
	static long n;
	if (++n % 1000 == 0) fprintf(stderr, "%s %ld\n", what, x);
}
static volatile long sink;
NI static long one(long x) { return x * 3 + sink; }

// The comparison is of memory, which is read again for the index.
NI static long walk(const struct node *p, int n) {
	long s = 0;
	for (int i = 0; i < n; i++, p++) {
		switch (p->kind) {
		case 0: s += one(p->left); break;
		case 1: s -= one(p->right); break;
		case 2: s ^= p->left; break;
		case 3: s += p->left * p->right; break;
		case 4: s = s * 5 + 1; break;
		case 5: s += one(s); break;
		case 6: s |= p->right; break;
		default: s++;
		}
	}
	return s;
}
// The table's address stays in a register, over calls; the index is a byte.
NI static long bytes(const unsigned char *p, int n) {
	long s = 0;
	while (n-- > 0) {
		switch (*p++) {
#define C(i) case i: s += one(i) ^ (i * 77); break;
#define R(i) case i: if (__builtin_expect(s == i * 1000003L, 0)) { rare("odd", s); rare("even", i); s -= i; } else s = s * 3 + i; break;
#define F(b) C(b) R(b + 1) C(b + 2) R(b + 3) C(b + 4) C(b + 5) R(b + 6)
		F(3) F(13) F(23) F(33) F(43) F(53) F(63) F(73) F(83) F(93) F(103) F(113) F(123) F(133) F(143) F(153) F(163) F(173) F(183) F(193) F(203) F(213) F(223) F(233) F(243)
		default: s ^= 1;
		}
	}
	return s;
}
// The second switch is of a copy that was made before the first.
NI static long twice(long x, unsigned k) {
	unsigned same = k;
	long r = x;
	switch (k) {
	case 0: r += 5; break;
	case 1: r ^= 9; break;
	case 2: r = one(r); break;
	case 3: r -= 4; break;
	case 4: r *= 7; break;
	case 9: goto second;
	}
	r += k;
second:
	switch (same) {
	case 1: return r + 1;
	case 2: return one(r) + 2;
	case 3: return r ^ 3;
	case 4: return r * 4;
	case 5: return r - 5;
	case 9: return r + one(9);
	}
	return r;
}
// Hot code smaller than what is cold.
NI static long mostly_cold(long x, long y) {
	if (__builtin_expect(x == -1, 0)) {
		rare("first", x);
		for (long i = 0; i < y; i++)
			switch (i & 7) {
			case 0: rare("a", i); break;
			case 1: x += i; break;
			case 2: rare("b", x); x ^= i; break;
			case 3: x -= 3; break;
			case 4: rare("c", x * i); break;
			case 5: x = one(x); break;
			case 6: rare("d", i - x); x--; break;
			}
		rare("last", y);
	}
	return x + y;
}
NI static const char *name(unsigned k) {
	switch (k) { // of constants: a table of values, or cold returns
	case 0: return "zero";
	case 1: return "one";
	case 2: return "two";
	case 3: return "three";
	case 4: return "four";
	case 5: return "five";
	}
	rare("name", k);
	return "many";
}
int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 600;
	struct node *nodes = calloc(n, sizeof *nodes);
	unsigned char *text = malloc(n);
	long s = 0;
	for (int i = 0; i < n; i++) {
		nodes[i].kind = i * 7 % 9;
		nodes[i].left = i;
		nodes[i].right = n - i;
		text[i] = i * 31;
	}
	for (int k = 0; k < 3; k++) {
		s += walk(nodes, n) + bytes(text, n);
		for (unsigned i = 0; i < 60; i++) s += twice(s, i % 11) + mostly_cold(i % 20 ? (long)i : -1, i) + (long)strlen(name(i % 8));
	}
	printf("%ld\n", s);
	return 0;
}
