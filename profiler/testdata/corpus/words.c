// A scanner and a recursive-descent calculator.
#include <ctype.h>
#include <stdio.h>
#include <string.h>
static const char *p;
static long expr(void);
static void space(void) { while (isspace((unsigned char)*p)) p++; }
static long atom(void) {
	space();
	if (*p == '(') { p++; long v = expr(); space(); if (*p == ')') p++; return v; }
	if (*p == '-') { p++; return -atom(); }
	long v = 0;
	while (isdigit((unsigned char)*p)) v = v * 10 + (*p++ - '0');
	return v;
}
static long term(void) { long v = atom(); for (;;) { space(); if (*p == '*') { p++; v *= atom(); } else if (*p == '/') { p++; long d = atom(); v = d ? v / d : 0; } else return v; } }
static long expr(void) { long v = term(); for (;;) { space(); if (*p == '+') { p++; v += term(); } else if (*p == '-') { p++; v -= term(); } else return v; } }
int main(void) {
	static const char *const in[] = {"1+2*3", "(4+5)*(6-7)/3", " 10 - 2 - 3 ", "-(2*(3+4))*5", "7/0+1", "((((1))))"};
	long s = 0;
	char b[200];
	for (int i = 0; i < 60; i++) {
		snprintf(b, sizeof b, "%s + %d", in[i % 6], i);
		p = b;
		s = s * 7 + expr() + (long)strlen(b);
	}
	printf("%ld\n", s);
	return 0;
}
