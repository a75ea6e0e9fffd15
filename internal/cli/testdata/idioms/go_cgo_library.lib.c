// The library of go_cgo_library.go.
unsigned long finer(unsigned long x, unsigned long n)
{
	x |= 1;
	for (unsigned long i = 0; i < n; i++) {
		x ^= x >> 31;
		x *= 0xbf58476d1ce4e5b9u;
	}
	return x;
}
