package profiler

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

const meetings = `#include <pthread.h>
#define BARRIER(b) { pthread_barrier_wait(&(b)); }
static pthread_barrier_t b;
static inline void meet(void)
{
    pthread_barrier_wait(&b); /* SITE */
}
static void *work(void *x)
{
    meet();
    BARRIER(b) /* SITE */
    meet();
    return x;
}
int last(pthread_t t)
{
    return pthread_join(t, 0); /* SITE */
}
int main(void)
{
    pthread_t t[2];
    pthread_barrier_init(&b, 0, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, work, 0);
    pthread_join(t[0], 0); /* SITE */
    return last(t[1]);
}
`

// Calls are found in every way that compilers and linkers write them, on the
// lines of the source.
func TestCallSites(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "meet.c")
	if err := os.WriteFile(source, []byte(meetings), 0o600); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, l := range strings.Split(meetings, "\n") {
		if strings.Contains(l, "SITE") {
			want = append(want, fmt.Sprint(i+1))
		}
	}
	for _, flags := range []string{"-O0", "-O2", "-O2 -fno-plt", "-O2 -no-pie", "-O2 -static", "-O2 -fcf-protection=none -Wl,-z,now", "-O3 -fno-plt -no-pie"} {
		t.Run(flags, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "meet")
			args := append(strings.Fields(flags), "-g", "-pthread", "-o", program, source)
			if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
				t.Skipf("gcc %s: %v: %s", flags, err, out)
			}
			sites, err := CallSites(program)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, l := range sites {
				if l.File == source {
					seen[fmt.Sprint(l.Line)] = true
				}
			}
			got := []string{}
			for l := range seen {
				got = append(got, l)
			}
			sort.Strings(got)
			sort.Strings(want)
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("sites on lines %v, want %v", got, want)
			}
		})
	}
}

const algorithms = `#include <algorithm>
#include <execution>
#include <oneapi/tbb.h>
#include <vector>
int main()
{
    std::vector<int> v(1000, 3);
    std::sort(std::execution::par, v.begin(), v.end()); /* SITE */
    oneapi::tbb::parallel_for(0, 1000, [&](int i) { v[i]++; }); /* SITE */
    oneapi::tbb::task_group g;
    g.run([&] { v[0]++; });
    g.wait(); /* SITE */
    return v[7];
}
`

// Calls of templates stand at the user's call of these, also where they are functions of
// their own, and called by others.
func TestCallSitesOfTemplates(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "sort.cc")
	if err := os.WriteFile(source, []byte(algorithms), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"-O0", "-O2"} {
		program := filepath.Join(dir, "sort"+level)
		if out, err := exec.Command("g++", "-std=c++20", level, "-g", "-o", program, source, "-ltbb").CombinedOutput(); err != nil {
			t.Skipf("g++ without oneTBB: %v: %s", err, out)
		}
		sites, err := CallSites(program)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for _, l := range sites {
			seen[l.Line] = l.File == source
		}
		for i, line := range strings.Split(algorithms, "\n") {
			if want := strings.Contains(line, "SITE"); seen[i+1] != want {
				t.Errorf("%s: line %d: %v", level, i+1, seen[i+1])
			}
		}
	}
}

const regions = `double a[1000];
void scale(double by)
{
#pragma omp parallel for /* SITE */
    for (int i = 0; i < 1000; i++)
        a[i] *= by;
}
int main(void)
{
    scale(2);
#pragma omp parallel /* SITE */
    {
#pragma omp single
#pragma omp task
        a[0]++;
    }
    return 0;
}
`

// Regions stand on the lines of their pragmas, also where they are all that a program has.
func TestCallSitesOfRegions(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "regions.c")
	if err := os.WriteFile(source, []byte(regions), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"-O0", "-O2"} {
		program := filepath.Join(dir, "regions"+level)
		if out, err := exec.Command("gcc", level, "-g", "-fopenmp", "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		sites, err := CallSites(program)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for _, l := range sites {
			seen[l.Line] = true
		}
		for i, line := range strings.Split(regions, "\n") {
			if want := strings.Contains(line, "SITE"); seen[i+1] != want {
				t.Errorf("%s: line %d: %v", level, i+1, seen[i+1])
			}
		}
	}
}

const goMeetings = `package main

import (
	"os"
	"os/exec"
	"sync"
)

type pool struct{ jobs chan int }

func (p *pool) loop(done chan int) {
	for n := range p.jobs {
		done <- n
	}
	<-done
}

func index(list []int, m map[int]int, i int) int { return list[i] + m[i] }

func collect(stop chan bool) (n int) {
	c := make(chan int)
	for range 4 {
		go func() { c <- 1 }()
	}
	for range 4 {
		select { /* SITE */
		case k := <-c:
			n += k
		case <-stop:
		}
	}
	return n
}

func main() {
	var all sync.WaitGroup
	done := make(chan int)
	p := &pool{make(chan int)}
	go p.loop(done)
	p.jobs <- index(make([]int, len(os.Args)), map[int]int{}, 0)
	println(<-done) /* SITE */
	all.Add(1)
	go all.Done()
	defer func() {
		all.Wait() /* SITE */
	}()
	exec.Command("true").Run()
	println(collect(nil))
}
`

// Of a program in Go it is where groups are waited for, and where a function that makes
// goroutines receives something; what the runtime and the library have goroutines for is
// nothing to who calls them.
func TestCallSitesOfGo(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "prog")
	if err := os.WriteFile(source, []byte(goMeetings), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"-gcflags=", "-gcflags=-N -l", "-buildmode=pie"} {
		if out, err := exec.Command("go", "build", flags, "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("go build: %v: %s", err, out)
		}
		sites, err := CallSites(program)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for _, l := range sites {
			if l.File != source {
				t.Errorf("%s: %s:%d", flags, l.File, l.Line)
			}
			seen[l.Line] = true
		}
		for i, line := range strings.Split(goMeetings, "\n") {
			if want := strings.Contains(line, "SITE"); seen[i+1] != want {
				t.Errorf("%s: line %d: %v", flags, i+1, seen[i+1])
			}
		}
	}
}

func TestCallSitesOfNone(t *testing.T) {
	if sites, err := CallSites("/bin/true"); err != nil || len(sites) != 0 {
		t.Errorf("/bin/true: %v, %v", sites, err)
	}
	if _, err := CallSites("/nowhere"); err == nil {
		t.Error("a program that is not there has no error")
	}
	if _, err := CallSites("callsites_test.go"); err == nil {
		t.Error("a source file has no error")
	}
}

func BenchmarkCallSites(b *testing.B) {
	dir := b.TempDir()
	source, program := filepath.Join(dir, "meet.c"), filepath.Join(dir, "meet")
	if err := os.WriteFile(source, []byte(meetings), 0o600); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O2", "-g", "-static", "-pthread", "-o", program, source).CombinedOutput(); err != nil {
		b.Skipf("%v: %s", err, out)
	}
	for b.Loop() {
		if _, err := CallSites(program); err != nil {
			b.Fatal(err)
		}
	}
}

// TestUnasked: calls that wait for threads without anybody's wish, and those of a user's module
// of the same name.
func TestUnasked(t *testing.T) {
	for _, c := range []struct {
		file, function string
		want           bool
	}{
		{"/usr/src/rustc-1.63.0/library/test/src/lib.rs", "test::run_tests", true},
		{"/home/u/src/test/lib.rs", "test::run_tests", false},
		{"/usr/include/oneapi/tbb/task_group.h", "tbb::task_group::~task_group", true},
		{"/usr/include/oneapi/tbb/task_group.h", "tbb::task_group::wait", false},
	} {
		if got := unasked(profile.Frame{File: c.file, Function: c.function, Line: 1}); got != c.want {
			t.Errorf("%s in %s: %v", c.function, c.file, got)
		}
	}
}
