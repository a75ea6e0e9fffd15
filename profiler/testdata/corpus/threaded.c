// Computed gotos whose targets were made pointers long before: direct-threaded
// code, labels in variables, how far labels lie from one.
#include <stdio.h>
#include <stdlib.h>

// Its code holds the addresses of its labels.
__attribute__((noinline)) static long direct(const int *prog, long n) {
	static void *const label[] = {&&add, &&sub, &&mul, &&again, &&halt};
	void **code = malloc(16 * sizeof *code), **ip = code;
	long a = 0;
	for (int k = 0; prog[k] >= 0; k++)
		code[k] = label[prog[k]];
	goto **ip++;
add: a += n; goto **ip++;
sub: a -= 3; goto **ip++;
mul: a = a * 5 % 1000003; goto **ip++;
again: if (--n > 0) ip = code; goto **ip++;
halt: free(code); return a;
}

// So does what it is given: it gives its labels away first. It needs no frame.
__attribute__((noinline)) static long leaf(void **code, void **labels, long n) {
	static void *const label[] = {&&up, &&down, &&again, &&done};
	void **ip = code;
	long a = 1;
	if (labels) {
		for (int i = 0; i < 4; i++)
			labels[i] = label[i];
		return 0;
	}
	goto **ip++;
up: a = a * 3 + n; goto **ip++;
down: a ^= a >> 7; goto **ip++;
again: if (--n > 0) ip = code; goto **ip++;
done: return a;
}

// A state that is a label, in a variable.
__attribute__((noinline)) static int words(const char *s) {
	void *state = &&outside;
	int n = 0;
	for (; *s; s++) {
		goto *state;
	outside: if (*s != ' ') { n++; state = &&inside; } continue;
	inside: if (*s == ' ') state = &&outside; else if (*s == '#') state = &&comment; continue;
	comment: if (*s == ';') state = &&outside; continue;
	}
	return n;
}

__attribute__((noinline)) static long relative(const unsigned char *prog, long n) {
	static const int far[] = {&&add - &&add, &&sub - &&add, &&mul - &&add, &&again - &&add, &&halt - &&add};
	const unsigned char *ip = prog;
	long a = 0;
	goto *(&&add + far[*ip++]);
add: a += n; goto *(&&add + far[*ip++]);
sub: a -= 3; goto *(&&add + far[*ip++]);
mul: a = a * 5 % 1000003; goto *(&&add + far[*ip++]);
again: if (--n > 0) ip = prog; goto *(&&add + far[*ip++]);
halt: return a;
}

// A switch, labels, and calls through pointers at its end.
static long one(long a) { return a + 1; }
static long two(long a) { return a * 2; }
static long (*volatile ends[])(long) = {one, two};
__attribute__((noinline)) static long mixed(const unsigned char *p, long a) {
	static void *const label[] = {&&odd, &&even, &&out};
	for (;;) {
		switch (*p++) {
		case 0: a += 7; break;
		case 1: a ^= 5; break;
		case 2: a *= 3; break;
		case 3: a -= 11; break;
		case 4: a = a << 1 | 1; break;
		case 5: a /= 3; break;
		default: return ends[a & 1](a);
		}
		void *to = label[*p > 5 ? 2 : a & 1];
		goto *to;
	odd: a += 100; continue;
	even: a -= 50; continue;
	out:;
	}
}

int main(void) {
	static const int prog[] = {0, 1, 2, 0, 3, 4, -1};
	static const unsigned char bytes[] = {0, 1, 2, 0, 3, 4}, cases[] = {0, 1, 2, 3, 4, 5, 5, 4, 3, 1, 0, 9};
	void *label[4];
	leaf(0, label, 0);
	void *code[] = {label[0], label[1], label[0], label[2], label[3]};
	printf("%ld %ld %d %ld %ld\n", direct(prog, 90), leaf(code, 0, 70), words("two words #not these; and  more"), relative(bytes, 60), mixed(cases, 40) + mixed(cases, 41));
	return 0;
}
