// Containers, strings and streams of the C++ library.
#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "level.h"

static __attribute__((noinline)) int work(void)
{
	unsigned x = 3;
	std::map<std::string, int> ordered;
	std::unordered_map<std::string, std::vector<int>> where;
	for (int k = 0; k < 16; k++) {
		std::ostringstream out;
		for (int i = 0; i < 6000; i++) {
			x = x * 1103515245 + 12345;
			out << "word" << (x >> 14) % 12000 << (i % 9 ? ' ' : '\n');
		}
		std::istringstream in(out.str());
		std::string word;
		for (int n = 0; in >> word; n++) {
			ordered[word]++;
			where[word + " is at"].push_back(n);
		}
	}
	std::vector<std::pair<int, std::string>> most;
	for (auto &[w, n] : ordered)
		most.emplace_back(n, w);
	std::stable_sort(most.begin(), most.end());
	long sum = 0, thrown = 0;
	for (auto &[w, at] : where)
		for (int a : at)
			sum += a;
	for (int i = 0; i < 30; i++)
		try {
			sum += std::stoi(i % 3 ? std::to_string(i) : "none");
		} catch (const std::invalid_argument &) {
			thrown++;
		}
	std::cout << most.back().second << ' ' << sum << ' ' << thrown << '\n';
	return 0;
}
