#define FIRST 128 // of this file's marks
#include "ways.h"

namespace {

void odd(long n) {
	MARK;
	if (n % 3 == 1)
		throw n;
	MARK;
}

} // namespace

long caught(long n) {
	long sum = 0;
	for (long i = 0; i < n; i++) {
		try {
			MARK;
			odd(i);
			sum++;
		} catch (long x) {
			MARK;
			sum += x;
		}
	}
	return sum;
}
