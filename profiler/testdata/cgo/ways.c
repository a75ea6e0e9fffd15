#include "ways.h"
#include <setjmp.h>
#include <stdlib.h>

unsigned long marks[LINES];

__attribute__((noinline)) void mark(int line) {
	__atomic_add_fetch(&marks[line], 1, __ATOMIC_RELAXED);
}

static long once(long n) {
	MARK;
	return n * 3;
}

static long twice(long n) {
	MARK;
	return once(n) + once(n + 1);
}

static long (*const by[])(long) = { once, twice };

static int order(const void *a, const void *b) {
	MARK;
	return *(const int *)a - *(const int *)b;
}

static long fib(long n) {
	MARK;
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static __thread jmp_buf out;

__attribute__((noinline)) static void deep(long n) {
	MARK;
	if (n == 0)
		longjmp(out, 1);
	deep(n - 1);
	MARK;
}

long ways(long n) {
	long sum = 0;
	int list[16];
	for (long i = 0; i < n; i++) {
		MARK;
		switch (i % 7) {
		case 0: MARK; sum += by[i % 2](i); break;
		case 1: MARK; sum ^= once(i); break;
		case 2: MARK; sum += fib(i % 5); break;
		case 3: MARK; sum--; break;
		case 4: MARK; sum += i; break;
		default: sum += 2;
		}
	}
	for (int i = 0; i < 16; i++)
		list[i] = (int)((sum + i * 7) % 23);
	qsort(list, 16, sizeof *list, order);
	if (!setjmp(out))
		deep(n % 5);
	else
		MARK;
	return sum + list[3];
}

extern long goBack(long);
extern long goPanics(long);

long back(long n) {
	long sum = 0;
	for (long i = 0; i < n; i++) {
		MARK;
		sum += goBack(i);
	}
	MARK;
	return sum;
}

long through(long n) {
	MARK;
	n = goPanics(n);
	MARK; // unless it panics
	return n;
}
