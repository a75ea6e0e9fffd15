// Templates, virtual calls through several bases, lambdas, std algorithms.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
struct named { virtual ~named() = default; virtual std::string name() const = 0; };
struct sized { virtual ~sized() = default; virtual long size() const { return 1; } };
struct box : named, sized { long n; box(long n) : n(n) {} std::string name() const override { return "box" + std::to_string(n); } long size() const override { return n * n; } };
struct bag : box { using box::box; std::string name() const override { return "bag"; } long size() const override { return box::size() + 2; } };
template <class T> static T fold(const std::vector<T> &v, const std::function<T(T, T)> &f) { T r{}; for (auto &x : v) r = f(r, x); return r; }
int main() {
	std::vector<std::unique_ptr<box>> all;
	for (long i = 0; i < 60; i++) all.emplace_back(i % 3 ? static_cast<box *>(new box(i)) : new bag(i));
	std::map<std::string, long> count;
	std::vector<long> v;
	for (auto &b : all) { const named &n = *b; const sized &s = *b; count[n.name()] += s.size(); v.push_back(s.size() % 13); }
	std::sort(v.begin(), v.end(), [](long a, long b) { return a % 5 != b % 5 ? a % 5 < b % 5 : a < b; });
	long k = 3, s = fold<long>(v, [&k](long a, long b) { return a * k + b; });
	std::printf("%zu %ld %ld\n", count.size(), s, count["bag"]);
}
