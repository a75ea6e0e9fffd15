// Exceptions through frames with and without cleanups, rethrown, by type.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
#define NI __attribute__((noinline))
struct guard { long &n; guard(long &n) : n(n) { n++; } ~guard() { n += 2; } };
static long live;
static NI long deep(long n) {
	guard g(live);
	if (n == 0) throw std::runtime_error("bottom");
	if (n == 5) throw 17;
	std::vector<long> v(n + 1, n);
	return v.at(n % 9) + deep(n - 1);
}
static NI long middle(long n) {
	try { return deep(n); }
	catch (int x) { if (n % 2) throw; return x; }
	catch (const std::out_of_range &) { return 3; }
}
static NI long outer(long n) {
	try { return middle(n); }
	catch (const std::exception &e) { return e.what()[0]; }
	catch (...) { return 5; }
}
struct shape { virtual long area(long) const = 0; virtual ~shape() {} };
struct square : shape { NI long area(long x) const override { return x * x; } };
struct line : shape { NI long area(long x) const override { if (x % 37 == 0) throw std::string("flat"); return x; } };
int main() {
	long s = 0;
	shape *z[2] = {new square, new line};
	for (long i = 0; i < 300; i++) {
		s += outer(i % 12);
		try { s += z[i % 2]->area(i); } catch (const std::string &t) { s += t.size(); }
	}
	for (shape *x : z) delete x;
	printf("%ld %ld\n", s, live);
}
