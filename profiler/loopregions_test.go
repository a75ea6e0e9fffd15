package profiler

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

const loopRegion = `double a[64][64];
int main(int argc, char **argv)
{
    long sum = 0;
    #pragma omp parallel for reduction(+ : sum) \\
        schedule(static)
    for (unsigned long i = 0; i < argc * 7; i++)
        for (double *p = a[i]; p != a[i] + argc; ++p)
            sum += *p;
    for (int k = 0; k < 64; k++)
        for (int j = 0; j < argc; j++)
            a[k][j]++;
    return sum;
}
`

// TestLoopRegions: the jump by which a thread goes on to its next round of a region that
// is a loop stands on that loop's line, and none of another loop's does.
func TestLoopRegions(t *testing.T) {
	text := strings.ReplaceAll(loopRegion, "\\\\", "\\")
	for level, want := range map[string]int{"-O0": 0, "-O1": 0, "-O2": 1} { // where the loop within is left, unoptimised code decides that at its own jump
		lines, err := OpenLines(proctest.Build(t, "gcc", level, "-g", "-fopenmp", proctest.Source(t, "region.c", text)))
		if err != nil {
			t.Fatal(err)
		}
		moved := 0
		for at, to := range lines.files[0].moved() {
			l := lines.Locate(profile.Addr(at))
			if to.line == 7 && l.Line == 7 && strings.Contains(l.Function, "main") {
				moved++
			} else if to.line != 5 {
				t.Errorf("%s: %#x is moved to line %d", level, at, to.line)
			}
		}
		if moved != want {
			t.Errorf("%s: %d jumps stand at the loop", level, moved)
		}
		lines.Close()
	}
}

// TestLoopOf: which loop is a region's.
func TestLoopOf(t *testing.T) {
	for text, want := range map[string]int{
		"#pragma omp parallel for\nfor (;;)":                       2,
		"#pragma omp parallel for \\\n  collapse(2)\n\n  for (;;)": 4,
		"!$omp parallel do simd\ndo i = 1, n":                      2,
		"!$omp parallel do\nrow: do i = 1, n":                      2,
		"#pragma omp parallel\nfor (;;)":                           0,
		"#pragma omp for\nfor (;;)":                                0,
		"#pragma omp parallel for\nformat(x);":                     0,
		"for (;;)":                                                 0,
	} {
		if got := loopOf(strings.Split(text, "\n"), 1); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
