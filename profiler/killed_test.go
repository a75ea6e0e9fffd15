package profiler_test

import (
	"testing"

	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// killedProgram ends while its threads are anywhere in loops with branches and a switch.
const killedProgram = `
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

static volatile uint64_t out[256], zero;

__attribute__((noinline)) uint64_t before(uint64_t n, uint64_t s)
{
	uint64_t x = s + zero;
	for (uint64_t i = 0; i < n; i++) {
		if (i % 3 == 1)
			x += i;
		else if (x % 7 == 2)
			x ^= i;
		switch (x & 7) {
		case 0: x += i; break;
		case 1: x ^= i; break;
		case 2: x -= i; break;
		case 4: x *= 3; break;
		case 5: x += 99; break;
		case 6: x = ~x; break;
		default: x >>= 1;
		}
	}
	return x | 1;
}

__attribute__((noinline)) uint64_t behind(uint64_t x) { return x + 1 + zero; }

static void *work(void *p)
{
	long id = (long)p;
	for (;;) {
		uint64_t x = before(200000, id);
		if (x)
			out[8 * id] = behind(x);
	}
	return 0;
}

int main(void)
{
	pthread_t t;
	for (long i = 1; i <= 8; i++)
		pthread_create(&t, 0, work, (void *)i);
	usleep(20000);
	return 0;
}
`

// TestKilled: of threads that the program's end stops anywhere, the functions and the loops
// are known that they are in: calls and entries of functions that one calls again and
// again are as many.
func TestKilled(t *testing.T) {
	src := proctest.Source(t, "killed.c", killedProgram)
	for _, o := range []string{"-O0", "-O1", "-O2", "-O3"} {
		t.Run(o, func(t *testing.T) {
			prog := proctest.Build(t, "gcc", o, "-g", "-pthread", src)
			for range 4 {
				asManyCalls(t, runWith(t, profiler.Config{Path: prog}), "before", "behind")
			}
		})
	}
}
