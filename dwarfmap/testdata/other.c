#include "include/../include/step.h"

double other(double x, int n) {
	double r = step(x, n);
	while (r > 10) {
		r /= 2;
		x += clamp(r);
	}
	return x;
}
