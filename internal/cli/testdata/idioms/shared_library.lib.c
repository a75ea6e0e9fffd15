/* A library of the user's own, for shared_library.c and library_not_counted.c. */
#include <stdint.h>

uint64_t grind(uint64_t x, uint64_t n)
{
    x |= 1;
    for (uint64_t i = 0; i < n; i++) {
        x ^= x >> 29;
        x *= 0x9e3779b97f4a7c15u;
    }
    return x;
}

uint64_t polish(uint64_t x, uint64_t n)
{
    x |= 1;
    for (uint64_t i = 0; i < n; i++) {
        x ^= x >> 31;
        x *= 0xbf58476d1ce4e5b9u;
    }
    return x;
}
