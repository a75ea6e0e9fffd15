// Exceptions caught, cleaned up after and passed on, imported functions called
// directly and through pointers, a switch, a table of absolute addresses.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

struct Guard {
  const char *name;
  ~Guard() { std::puts(name); }
};

__attribute__((noinline)) int deep(int n) {
  Guard g{"deep"};
  if (n > 3) throw std::runtime_error("too deep");
  if (n < -3) throw n;
  return n + 1;
}

__attribute__((noinline)) int middle(int n) {
  std::string s(n > 0 ? n : 0, 'x');
  Guard g{s.c_str()};
  try {
    return deep(n);
  } catch (int k) {
    std::puts("int");
    return k;
  }
}

__attribute__((noinline)) static int pick(int n) {
  static void *const table[] = {&&a, &&b, &&c, &&d};
  goto *table[n & 3];
a: return std::atoi("1");
b: return static_cast<int>(std::strlen("four"));
c: return std::rand();
d: return -1;
}

int (*through)(const char *) = std::puts;

int main(int argc, char **argv) {
  int sum = pick(argc);
  for (int i = -5; i < 6; i++) {
    try {
      sum += middle(i * argc);
    } catch (const std::exception &e) {
      through(e.what());
    }
  }
  switch (argc) {
  case 1: sum += std::atoi("3"); break;
  case 2: std::puts("two"); break;
  case 3: std::puts("three"); break;
  case 4: std::puts("four"); break;
  case 5: sum *= 5; break;
  }
  std::printf("%d %s\n", sum, argv[0]);
  return 0;
}
