#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace grid {

template <typename T> struct Cell {
	T value;
	T relax(const T &by) const { return value * by; }
	virtual ~Cell() {}
	virtual T cost() const { return relax(value) + 1; }
};

struct Heavy : Cell<double> {
	double cost() const override {
		double s = 0;
		for (int i = 0; i < 10; i++)
			s += relax(i);
		return s;
	}
};

class Sum {
	double total = 0;

public:
	Sum &operator+=(double d) {
		total += d;
		return *this;
	}
	double get() const { return total; }
};

namespace {
double hidden(std::vector<Cell<double> *> &cells) {
	Sum s;
	std::sort(cells.begin(), cells.end(), [](const Cell<double> *a, const Cell<double> *b) {
		return a->cost() < b->cost();
	});
	for (auto c : cells)
		s += c->cost();
	if (s.get() < 0)
		throw std::string("negative");
	return s.get();
}
} // namespace

double run(int n) {
	std::vector<Cell<double> *> cells;
	std::map<int, std::string> names;
	for (int i = 0; i < n; i++) {
		cells.push_back(i % 2 ? new Cell<double> : new Heavy);
		cells.back()->value = i;
		names[i] = std::to_string(i);
	}
	return hidden(cells) + names.size();
}

} // namespace grid

int main(int argc, char **) {
	try {
		std::printf("%g\n", grid::run(argc * 10));
	} catch (const std::string &s) {
		std::puts(s.c_str());
	}
}
