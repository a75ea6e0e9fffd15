package profiler_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// TestWithinLibraries: where libraries are moved to simulate what they access, programs
// do what they do without, whatever happens within them.
func TestWithinLibraries(t *testing.T) {
	kept := t.TempDir()
	caches := func(prog string, args ...string) profiler.Config {
		return profiler.Config{Path: prog, Args: args, Events: []string{"edges", "cache"}, Analyses: kept}
	}
	within := proctest.Build(t, "g++", "-O2", "-w", "-pthread", filepath.Join("testdata", "within.cc"))
	t.Run("within", func(t *testing.T) { sameAs(t, caches(within)) })
	t.Run("within/dies", func(t *testing.T) { sameAs(t, caches(within, "dies")) })
	t.Run("within/cores", func(t *testing.T) {
		c := caches(within)
		c.Cores = 4
		sameAs(t, c)
	})
	handlers := proctest.Build(t, "gcc", "-O2", "-pthread", "-rdynamic", filepath.Join("testdata", "handlers.c"))
	for _, what := range []string{"look", "trace", "frames", "fix", "page", "leap", "leap-timer", "altstack", "nested", "threads", "stress", "stopped", "sleep", "exits", "die"} {
		t.Run("handlers/"+what, func(t *testing.T) { sameAs(t, caches(handlers, what)) })
	}
	process := proctest.Build(t, "gcc", "-O2", "-pthread", filepath.Join("testdata", "process.c"))
	for _, what := range []string{"fork", "fork-thread", "fork-crash", "vfork", "spawn", "exec", "exec-thread", "threads", "timer", "cancel", "pages", "altstack",
		"breakpoint", "main-exits", "killed", "segv"} {
		t.Run("process/"+what, func(t *testing.T) { sameAs(t, caches(process, what)) })
	}
}

// TestLibrariesMiss: what libraries miss stands at the calls that led there, by reads and
// writes, also where a pointer or a jump leads there; what they are called back for does
// not; and nothing of it where the program alone is counted, but as ranges.
func TestLibrariesMiss(t *testing.T) {
	src := proctest.Source(t, "calls.c", `
#include <stdlib.h>
#include <string.h>
enum { SIZE = 1 << 20 };
static char a[SIZE], b[SIZE];
static volatile int n;
static int compares(const void *x, const void *y) { n++; return *(const char *)x - *(const char *)y; }
static void *(*volatile through)(void *, int, size_t) = memset;
__attribute__((noinline)) static size_t jumps(const char *s) {
	return strlen(s);		/* JUMP */
}
int main(void) {
	memset(a, 1, SIZE - 1);		/* SET */
	memcpy(b, a, SIZE);		/* COPY */
	through(a, 2, SIZE - 1);	/* POINTER */
	n += jumps(a);
	qsort(a, 5000, 200, compares);	/* SORT */
	return 0;
}
`)
	prog := proctest.Build(t, "gcc", "-O2", "-g", "-fno-builtin", src)
	line := func(what string) int {
		text, err := os.ReadFile(src)
		if err != nil {
			t.Fatal(err)
		}
		before, _, _ := strings.Cut(string(text), what)
		return 1 + strings.Count(before, "\n")
	}
	c := profiler.Config{Path: prog, Events: []string{"edges", "cache"}, Machine: machine(t, "[l1]\nsize = \"32K\"\nways = 8\n")}
	const lines = 1 << 20 / 64
	p := runWith(t, c)
	reads, writes := called(t, p)
	for what, want := range map[string][2]int{"SET": {0, lines}, "COPY": {lines, lines}, "POINTER": {0, lines}, "JUMP": {lines, 0}} {
		r, w := reads[line(what)], writes[line(what)]
		if r < want[0]-8 || r > want[0]+64 || w < want[1]-8 || w > want[1]+64 {
			t.Errorf("%s: %d and %d misses of libraries, want %v", what, r, w, want)
		}
	}
	if r, w := reads[line("SORT")], writes[line("SORT")]; r < 500 || w < 500 {
		t.Errorf("SORT: %d and %d", r, w)
	}
	if at := line("n++"); reads[at]+writes[at] > 0 {
		t.Error("what is called back and calls nothing has misses of the library's")
	}
	erased := c
	for _, ev := range p.Events {
		if ev.Called && lineOf(p, ev.Addr) == line("SET") {
			erased.Erased = append(erased.Erased, ev.Addr)
		}
	}
	reads, writes = called(t, runWith(t, erased))
	if at := line("SET"); reads[at]+writes[at] > 0 || len(erased.Erased) == 0 {
		t.Errorf("SET: %d and %d misses of libraries, which are hits", reads[at], writes[at])
	}
	if r := reads[line("COPY")]; r < lines-8 || r > lines+64 {
		t.Errorf("COPY reads %d lines where others hit, want %d", r, lines)
	}
	reuse := c
	reuse.Machine, reuse.Reuse = "", true
	if reads, writes = called(t, runWith(t, reuse)); reads[line("COPY")] < lines || writes[line("COPY")] < lines {
		t.Errorf("COPY: %d and %d accesses come from far back, want %d", reads[line("COPY")], writes[line("COPY")], lines)
	}
	c.Libraries = []string{"none"}
	p = runWith(t, c)
	if reads, writes := called(t, p); len(reads)+len(writes) > 0 {
		t.Errorf("%v, %v of libraries that are not simulated", reads, writes)
	}
	set := 0
	for k, e := range p.Threads[0].Totals.Event {
		if ev := &p.Events[e]; ev.Kind == profile.Hardware && ev.Writes && lineOf(p, ev.Addr) == line("SET") {
			set += int(p.Threads[0].Totals.N[k])
		}
	}
	if set < lines-8 || set > lines+8 {
		t.Errorf("%d lines are set as a range, want %d", set, lines)
	}
}

// called are misses of libraries by the line that called them.
func called(t *testing.T, p *profile.Profile) (reads, writes map[int]int) {
	t.Helper()
	reads, writes = map[int]int{}, map[int]int{}
	for _, w := range p.Warnings {
		if w.Code == "caches" {
			t.Error(w.Message)
		}
	}
	for k, e := range p.Threads[0].Totals.Event {
		switch ev, times := &p.Events[e], int(p.Threads[0].Totals.N[k]); {
		case !ev.Called:
		case ev.Writes:
			writes[lineOf(p, ev.Addr)] += times
		default:
			reads[lineOf(p, ev.Addr)] += times
		}
	}
	return reads, writes
}

// lineOf is the line that an instruction is of.
func lineOf(p *profile.Profile, a profile.Addr) int {
	l, _ := p.Location(a)
	return l.Line
}
