package profiler

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

const constructs = `#include <omp.h>
static double out[64];
static double sum;
static double work(long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += i * 0.5;
    return s;
}
static inline double item(int i)
{
    double s = work(i);
    if (i % 9 == 3)
        s += work(2 * i);
    return s;
}
void all(int n)
{
    #pragma omp parallel /* SITE */
    {
        #pragma omp for schedule(guided) /* SITE */
        for (int i = 0; i < n; i++)
            out[i] += item(i);
        #pragma omp for /* SITE */
        for (int i = 0; i < n; i++)
            out[i] += work(i);
        #pragma omp for schedule(dynamic, 2) /* SITE */
        for (int i = 0; i < n; i++)
            out[i] += work(i);
        #pragma omp single /* SITE */
        out[3] += work(3);
        #pragma omp single /* SITE */
        out[4] += work(4);
        #pragma omp sections /* SITE */
        {
            #pragma omp section
            out[5] += work(5);
            #pragma omp section
            out[6] += work(6);
        }
        #pragma omp for \
            nowait
        for (int i = 0; i < n; i++)
            out[i] += work(i);
        #pragma omp barrier /* SITE */
        out[omp_get_thread_num()]++;
        #pragma omp for reduction(+ : sum) /* SITE */
        for (int i = 0; i < n; i++)
            sum += out[i];
        #pragma omp task
        out[7]++;
    }
}
int main(void)
{
    all(64);
    return 0;
}
`

// TestPragmas: regions and barriers stand where their pragmas do, whatever line the
// debug information has; where the source is younger than the program, there.
func TestPragmas(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "all.c")
	if err := os.WriteFile(file, []byte(constructs), 0o600); err != nil {
		t.Fatal(err)
	}
	var want []int
	for i, l := range strings.Split(constructs, "\n") {
		if strings.Contains(l, "SITE") {
			want = append(want, i+1)
		}
	}
	for _, level := range []string{"-O0", "-O2", "-O3", "-O2 -fno-plt"} {
		program := filepath.Join(dir, "all")
		args := append(strings.Fields(level), "-g", "-fopenmp", "-o", program, file)
		if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Skipf("gcc %v: %v: %s", args, err, out)
		}
		sites, err := CallSites(program)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for _, l := range sites {
			seen[l.Line] = true
			if l.Function != "all" {
				t.Errorf("%s: line %d is in %q", level, l.Line, l.Function)
			}
		}
		for _, line := range want {
			if !seen[line] {
				t.Errorf("%s: nothing at line %d", level, line)
			}
		}
		if len(seen) != len(want) {
			t.Errorf("%s: at lines %v, want %v", level, seen, want)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if sites, err := CallSites(filepath.Join(dir, "all")); err != nil || len(sites) == 0 {
		t.Errorf("without the source: %d sites, %v", len(sites), err)
	}
}

// TestPragmaOf: what a line says, in C and Fortran, and where a construct's end belongs.
func TestPragmaOf(t *testing.T) {
	for line, want := range map[string]string{
		"  #pragma omp for schedule(static)":     "loop false false",
		"#pragma omp parallel for":               " false true",
		"# pragma omp barrier":                   " true false",
		"!$omp do schedule(dynamic)":             "loop false false",
		"!$OMP END DO":                           " false false",
		"c$omp workshare":                        "loop false false",
		`_Pragma("omp single")`:                  "single false false",
		"#pragma omp sections nowait":            "nowait false false",
		"#pragma omp critical (single)":          " false false",
		"#pragma omp scope":                      "scope false false",
		"#pragma omp task":                       " false false",
		"#pragma omp":                            " false false",
		"#pragma omp cancel for if(x)":           " false false",
		"!$omp cancellation point sections":      " false false",
		"x = 3; // #pragma omp for":              " false false",
		"!$omp parallel sections":                "sections false true",
		"#pragma omp single copyprivate(x) \\":   "single false false",
		"!$omp do private(i) &":                  "loop false false",
		"#pragma omp for collapse(2) ordered(1)": "loop false false",
	} {
		c, barrier, region := saysAt([]string{line}, 1)
		if got := fmt.Sprint(c, " ", barrier, " ", region); got != want {
			t.Errorf("%q says %q, want %q", line, got, want)
		}
	}
	text := strings.Split("!$omp do\n do i\n end do\n!$omp end do nowait\n!$omp do\n do i\n a\n end do\n!$omp end do\n!$omp single\n b\n!$omp end single\n!$omp barrier", "\n")
	free := func(int) bool { return true }
	for _, c := range []struct {
		line   int
		of     construct
		begins bool
		want   int
	}{{2, ofLoop, false, 5}, {2, ofLoop, true, 1}, {7, ofLoop, false, 5}, {7, ofSingle, false, 10}, {11, ofSingle, false, 10}, {13, ofSingle, false, 0}, {11, ofSections, false, 0}} {
		if got := pragmaOf(text, c.line, c.of, c.begins, free); got != c.want {
			t.Errorf("the end of a %s at line %d belongs to line %d, want %d", c.of, c.line, got, c.want)
		}
	}
}

// TestSectionsOfRegions: who takes which section of a region is decided at its pragma,
// though its function has no call at the end of a construct.
func TestSectionsOfRegions(t *testing.T) {
	const text = "long out[3];\nlong work(long);\nint main(void)\n{\n    #pragma omp parallel sections\n    {\n        #pragma omp section\n        out[0] = work(1);\n" +
		"        #pragma omp section\n        out[1] = work(2);\n        #pragma omp section\n        out[2] = work(3);\n    }\n}\nlong work(long n)\n{\n    return n;\n}\n"
	lines, err := OpenLines(proctest.Build(t, "gcc", "-O1", "-g", "-fopenmp", proctest.Source(t, "sections.c", text)))
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	found := lines.files[0].moved()
	if len(found) == 0 {
		t.Error("no jump is at the pragma")
	}
	for at, to := range found {
		if to.line != 5 {
			t.Errorf("%#x is at line %d", at, to.line)
		}
	}
}

// TestLinesOfConstructs: calls and jumps as later compilers have them.
func TestLinesOfConstructs(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		calls []runtimeCall
		lines map[profile.Addr]int // that the debug information has
		want  map[uint64]moved
	}{
		"a loop turned round ends twice, first of all before it begins": {
			"!$omp parallel\ndo round = 1, 9\n!$omp do schedule(guided)\ndo i = 1, n\na\nend do\n!$omp end do\nend do\n!$omp end parallel",
			[]runtimeCall{{addr: 1, name: "GOMP_loop_end", last: several}, {addr: 2, name: "GOMP_loop_guided_start", last: several}, {addr: 3, name: "GOMP_loop_guided_next", last: 1}, {addr: 4, name: "GOMP_loop_end", last: several}},
			map[profile.Addr]int{1: 2, 2: 3, 3: 5, 4: 5},
			map[uint64]moved{1: {line: 3}, 4: {line: 3}},
		},
		"the sections of a region are dealt at its pragma": {
			"int part(int k)\n{\n    return k;\n}\n#pragma omp parallel sections\n{\n    #pragma omp section\n    a += part(1);\n}",
			[]runtimeCall{{addr: 1, name: "GOMP_sections_next", jumps: []uint64{2, 3}, last: noCall}},
			map[profile.Addr]int{1: 8, 2: 8, 3: 7},
			map[uint64]moved{2: {line: 5}},
		},
		"a table of sections has no line of its own": {
			"#pragma omp parallel\n#pragma omp sections\na\nb\nc",
			[]runtimeCall{{addr: 1, name: "GOMP_sections_start", jumps: []uint64{2, 3, 4}, table: 2, last: noCall}},
			map[profile.Addr]int{1: 1, 2: 5, 3: 4, 4: 5},
			map[uint64]moved{2: {line: 2}, 3: {line: 2}},
		},
		"each of two loops has its own": {
			"#pragma omp for\na\n#pragma omp for\nb",
			[]runtimeCall{{addr: 1, name: "GOMP_loop_dynamic_start", last: noCall}, {addr: 2, name: "GOMP_loop_end"}, {addr: 3, name: "GOMP_loop_dynamic_start", last: ended}, {addr: 4, name: "GOMP_loop_end", last: 2}},
			map[profile.Addr]int{1: 1, 2: 2, 3: 3, 4: 2},
			map[uint64]moved{2: {line: 1}, 4: {line: 3}},
		},
		"the call that began it came last, whatever stands before": {
			"#pragma omp parallel\n#pragma omp for\na\n#pragma omp single\nb",
			[]runtimeCall{{addr: 1, name: "omp_get_thread_num", last: noCall}, {addr: 2, name: "GOMP_single_start", last: 3}, {addr: 3, name: "GOMP_barrier", last: 0}},
			map[profile.Addr]int{1: 1, 2: 3, 3: 3},
			map[uint64]moved{3: {line: 2}},
		},
		"two copies of one": {
			"#pragma omp parallel\n#pragma omp single\na",
			[]runtimeCall{{addr: 1, name: "GOMP_single_start", last: noCall}, {addr: 2, name: "GOMP_barrier", last: 0}, {addr: 3, name: "GOMP_single_start", last: ended}, {addr: 4, name: "GOMP_barrier", last: 2}},
			map[profile.Addr]int{1: 1, 2: 3, 3: 1, 4: 3},
			map[uint64]moved{2: {line: 2}, 4: {line: 2}},
		},
		"a loop behind a single, with the number that is known": {
			"#pragma omp parallel\n#pragma omp single\na\n#pragma omp for\nb\n#pragma omp single\nc",
			[]runtimeCall{{addr: 1, name: "GOMP_single_start", last: noCall}, {addr: 2, name: "GOMP_barrier", last: 0}, {addr: 3, name: "GOMP_barrier", last: ended}},
			map[profile.Addr]int{1: 1, 2: 3, 3: 5},
			map[uint64]moved{2: {line: 2}, 3: {line: 4}},
		},
		"results are put together elsewhere": {
			"sum\n#pragma omp parallel\n#pragma omp for\na\n}",
			[]runtimeCall{{addr: 9, name: "omp_get_thread_num", last: noCall}, {addr: 2, name: "GOMP_barrier", last: 0}},
			map[profile.Addr]int{0: 2, 9: 4, 2: 1},
			map[uint64]moved{2: {line: 3}},
		},
		"a scope, in which somebody asks for his number": {
			"#pragma omp parallel\na\n#pragma omp scope\nb",
			[]runtimeCall{{addr: 1, name: "omp_get_thread_num", last: noCall}, {addr: 2, name: "GOMP_barrier", last: 0}},
			map[profile.Addr]int{1: 2, 2: 4},
			map[uint64]moved{2: {line: 3}},
		},
		"a single that does not wait, before a loop with the number that is known": {
			"#pragma omp parallel\n#pragma omp for nowait\na\n#pragma omp single nowait\nb\n#pragma omp for\nc",
			[]runtimeCall{{addr: 1, name: "omp_get_thread_num", last: noCall}, {addr: 2, name: "GOMP_single_start", jumps: []uint64{3}, last: 0}, {addr: 4, name: "GOMP_barrier", last: 1}},
			map[profile.Addr]int{1: 1, 2: 3, 3: 3, 4: 7},
			map[uint64]moved{3: {line: 4}, 4: {line: 6}},
		},
		"clang's copies": {
			"#pragma omp parallel\n#pragma omp single copyprivate(x)\nx = 3",
			[]runtimeCall{{addr: 2, name: copies, last: noCall}},
			map[profile.Addr]int{2: 3},
			map[uint64]moved{2: {line: 2}},
		},
	} {
		locate := func(a profile.Addr) profile.Location {
			return profile.Location{Frame: profile.Frame{File: "f", Line: c.lines[a]}}
		}
		found := map[uint64]moved{}
		linesIn(c.calls, locate(0), locate, func(string) []string { return strings.Split(c.text, "\n") }, found)
		if !maps.Equal(found, c.want) {
			t.Errorf("%s: %v, want %v", name, found, c.want)
		}
	}
}

// TestBefore: what was called last on every way, over jumps, backwards too.
func TestBefore(t *testing.T) {
	calls := []runtimeCall{{name: "omp_get_thread_num"}, {name: "GOMP_barrier"}, {name: "GOMP_single_start"}}
	const number, barrier, single = 0, 1, 2
	for name, x := range map[string]struct {
		turns []turn
		want  []int
	}{
		"around what is not come to": {[]turn{{addr: 10, on: true, call: number}, {addr: 20, target: 50, goes: true, on: true, call: noCall},
			{addr: 30, on: true, call: single}, {addr: 40, call: noCall}, {addr: 50, on: true, call: barrier}}, []int{noCall, number, number}},
		"a loop around a barrier": {[]turn{{addr: 10, on: true, call: number}, {addr: 20, on: true, call: barrier}, {addr: 30, target: 20, goes: true, on: true, call: noCall},
			{addr: 40, on: true, call: single}}, []int{noCall, number, ended}},
		"a loop around a single": {[]turn{{addr: 10, on: true, call: number}, {addr: 20, on: true, call: barrier}, {addr: 30, on: true, call: single},
			{addr: 40, target: 20, goes: true, on: true, call: noCall}}, []int{noCall, several, ended}},
		"never": {[]turn{{addr: 10, on: true, call: number}, {addr: 20, call: noCall}, {addr: 30, on: true, call: barrier}, {addr: 40, on: true, call: single}}, []int{noCall, unknown, unknown}},
	} {
		if got := before(x.turns, calls); !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v", name, got, x.want)
		}
	}
	if got := before(nil, nil); len(got) != 0 {
		t.Error(got)
	}
}

// TestRegionOf: a region is where its pragma is, also where what it does begins by
// another construct; and a task is no region.
func TestRegionOf(t *testing.T) {
	text := strings.Split("call f\n!$omp parallel\n!$omp single\na\n!$omp task\nb\n!$omp end task\n!$omp end single\n!$omp end parallel\nc\nend subroutine\nd", "\n")
	for line, want := range map[int]int{1: 0, 2: 2, 3: 2, 4: 2, 5: 0, 6: 0, 10: 0, 12: 0} {
		if got := regionOf(text, line); got != want {
			t.Errorf("what begins at line %d is of the region at line %d, want %d", line, got, want)
		}
	}
	if got := regionOf([]string{"!$omp parallel private(i)", "!$omp atomic capture", "i = next", "!$omp end atomic", "!$omp critical(one)", "a"}, 6); got != 1 {
		t.Errorf("a region that begins by others is at line %d", got)
	}
	if got := regionOf([]string{"#pragma omp parallel", "}", "void f(void) { g(); }"}, 3); got != 0 {
		t.Errorf("another function's region is found at line %d", got)
	}
}
