package profiler_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/slack"
)

// profiled runs a program under the profiler and returns what it wrote.
func profiled(t *testing.T, path string, args ...string) (stdout, stderr string, p *profile.Profile) {
	t.Helper()
	return profiledAs(t, profiler.Config{Path: path, Args: args})
}

// profiledAs is profiled with more options.
func profiledAs(t *testing.T, c profiler.Config) (stdout, stderr string, p *profile.Profile) {
	t.Helper()
	var files [2]*os.File
	for i := range files {
		f, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	c.Stdin, c.Stdout, c.Stderr = null, files[0], files[1]
	ctx, off := watchdog(t)
	defer off()
	p, err = profiler.Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	var text [2]string
	for i, f := range files {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		text[i] = string(b)
	}
	return text[0], text[1], p
}

// same runs a program with and without the profiler and compares all that can
// be seen of it from outside.
func same(t *testing.T, path string, args ...string) *profile.Profile {
	t.Helper()
	return sameAs(t, profiler.Config{Path: path, Args: args})
}

// sameAs is same with more options of the profiler.
func sameAs(t *testing.T, c profiler.Config) *profile.Profile {
	t.Helper()
	path, args := c.Path, c.Args
	out, msg, w := native(t, path, args)
	gotOut, gotErr, p := profiledAs(t, c)
	if gotOut != string(out) {
		t.Errorf("%s %v wrote\n%.2000s\nwithout the profiler\n%.2000s", path, args, gotOut, out)
	}
	if gotErr != string(msg) {
		t.Errorf("%s %v complained\n%.2000s\nwithout the profiler\n%.2000s", path, args, gotErr, msg)
	}
	if w.Signaled() != (p.Run.Signal != "") || !w.Signaled() && w.ExitStatus() != p.Run.ExitCode {
		t.Errorf("%s %v ended with %d, signal %q; without the profiler %#x", path, args, p.Run.ExitCode, p.Run.Signal, int(w))
	}
	return p
}

// native runs a program without the profiler. One that cancels threads to which signals
// come may hang by itself, once in very many times.
func native(t *testing.T, path string, args []string) (out, msg sink, w syscall.WaitStatus) {
	t.Helper()
	for range 3 {
		ctx, off := context.WithTimeout(t.Context(), 30*time.Second)
		cmd := exec.CommandContext(ctx, path, args...)
		out, msg = nil, nil
		cmd.Stdout, cmd.Stderr = &out, &msg
		runtime.LockOSThread() // it has what the thread has that starts it (package slack)
		slack.Own()
		err := cmd.Start()
		runtime.UnlockOSThread()
		if err == nil {
			err = cmd.Wait()
		}
		hung := ctx.Err() != nil
		off()
		if _, ended := err.(*exec.ExitError); err != nil && !ended {
			t.Fatal(err)
		}
		if !hung {
			return out, msg, cmd.ProcessState.Sys().(syscall.WaitStatus)
		}
	}
	t.Fatalf("%s %v hangs without the profiler", path, args)
	return nil, nil, 0
}

type sink []byte

func (s *sink) Write(b []byte) (int, error) { *s = append(*s, b...); return len(b), nil }

func TestProcesses(t *testing.T) {
	for _, build := range [][]string{{"-O2"}, {"-O0"}, {"-O2", "-static-pie"}, {"-O2", "-Wl,-z,max-page-size=0x200000"}} {
		prog := proctest.Build(t, "gcc", append(build, "-g", "-pthread", filepath.Join("testdata", "process.c"))...)
		for _, what := range []string{"fork", "fork-thread", "fork-crash", "vfork", "spawn", "exec", "exec-thread", "threads", "timer", "clock", "cancel",
			"pages", "altstack", "breakpoint", "main-exits", "name", "killed", "segv", ""} {
			t.Run(what+"/"+build[len(build)-1], func(t *testing.T) { same(t, prog, what) })
		}
	}
}

// TestFixedAddresses: where the kernel loads programs at the same addresses
// every time, it still does so, and there is room for the copy.
func TestFixedAddresses(t *testing.T) {
	if os.Getenv("SKEWLENS_FIXED") == "" { // a process passes it on to all that it starts
		if err := exec.Command("setarch", "-R", "true").Run(); err != nil { // containers may forbid it
			t.Skip("setarch: ", err)
		}
		ctx, off := watchdog(t)
		defer off()
		again := exec.CommandContext(ctx, "setarch", "-R", os.Args[0], "-test.run=^TestFixedAddresses$")
		again.Env = append(os.Environ(), "SKEWLENS_FIXED=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	for _, build := range []string{"-pie", "-no-pie", "-static-pie", "-static"} {
		prog := proctest.Build(t, "gcc", "-O2", build, "-pthread", filepath.Join("testdata", "process.c"))
		for _, what := range []string{"where", "threads"} {
			t.Run(what+"/"+build, func(t *testing.T) { same(t, prog, what) })
		}
	}
}

// TestStrangers runs programs that nobody wrote for this: stripped, optimised,
// of every size.
func TestStrangers(t *testing.T) {
	for _, c := range [][]string{
		{"bash", "-c", `for i in $(seq 200); do x=$((x+i)); done; echo $x; f() { echo a b c | tr a-z A-Z; }; f; [[ abc =~ b ]] && echo m; exit 7`},
		{"perl", "-e", `my %h; $h{$_%7}+=length("$_" x 3) for 1..50000; print join(",",map{"$_=$h{$_}"} sort keys %h),"\n"; eval { die "x\n" }; print $@; exit 3`},
		{"sort", "--parallel=4", "/etc/services", "/etc/passwd"},
		{"grep", "-rc", "define", "/usr/include/stdio.h"},
		{"sed", "-e", "s/a/b/g;y/xyz/XYZ/", "/etc/passwd"},
		{"find", "/usr/include/linux", "-name", "a*"},
		{"tar", "cf", "-", "-C", "/etc", "passwd"},
		{"gzip", "-c", "/usr/include/stdio.h"},
		{"awk", "BEGIN{for(i=0;i<50000;i++) s+=i%7; print s; print substr(\"hello\",2,3); exit 3}"},
		{"git", "--version"},
		{"make", "--version"},
		{"objdump", "-d", "/bin/true"},
		{"false"},
	} {
		t.Run(c[0], func(t *testing.T) {
			path, err := exec.LookPath(c[0])
			if err != nil {
				t.Skipf("%s is not installed", c[0])
			}
			p := same(t, path, c[1:]...)
			if n := p.Coverage; n.Functions*20 < n.FunctionsTotal*19 {
				t.Errorf("%d of %d functions were moved", n.Functions, n.FunctionsTotal)
			}
		})
	}
}

// TestGSIsRefused: a program that uses GS itself is told so, and not run.
func TestGSIsRefused(t *testing.T) {
	src := proctest.Source(t, "gs.c", `#include <stdio.h>
int main(void) { long x; puts("ran"); __asm__ volatile("movq %%gs:0, %0" : "=r"(x)); return (int)x; }
`)
	_, _, err := ran(t, profiler.Config{Path: proctest.Build(t, "gcc", "-O2", src)})
	if err == nil || !strings.Contains(err.Error(), "GS register") {
		t.Errorf("error %v", err)
	}
}

// TestManyThreads: of threads that are there at once, each has its counters, in an
// address space that has no room for those of thousands; where there is none for
// those that there are, one line says so, and nothing is left.
func TestManyThreads(t *testing.T) {
	src := proctest.Source(t, "many.c", `#include <pthread.h>
#include <stdlib.h>
static pthread_barrier_t all;
static void *work(void *p) {
	pthread_barrier_wait(&all);
	for (volatile int i = 0; i < 100; i++)
		;
	return p;
}
int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t t[n];
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&all, 0, n);
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], &small, work, 0))
			return 2;
	for (int i = 0; i < n; i++)
		pthread_join(t[i], 0);
	return 3;
}
`)
	prog := proctest.Build(t, "gcc", "-O1", "-g", "-pthread", src)
	limited := func(threads, kB string) (*profile.Profile, error) {
		_, p, err := ran(t, profiler.Config{Path: "/bin/sh", FollowExec: true, Args: []string{"-c", "ulimit -v " + kB + "; exec " + prog + " " + threads}})
		return p, err
	}
	p, err := limited("100", "250000")
	if err != nil {
		t.Fatal(err)
	}
	loops := map[uint64]int{}
	for _, m := range perFunction(p) {
		loops[m["work"]]++
	}
	if p.Run.ExitCode != 3 || len(p.Threads) != 101 || len(loops) != 2 || loops[0] != 1 {
		t.Errorf("exit code %d, %d threads, so many of them did so many instructions: %v", p.Run.ExitCode, len(p.Threads), loops)
	}
	if _, err := limited("200", "100000"); err == nil || !strings.Contains(err.Error(), "ulimit -v") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
}

// TestExitWhileThreadsAreMade: the process ends at any moment of a thread's making.
func TestExitWhileThreadsAreMade(t *testing.T) {
	src := proctest.Source(t, "exits.c", `#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *waits(void *p) {
	for (;;)
		pause();
	return p;
}
static void *ends(void *p) {
	usleep(atoi(p));
	exit(3);
}
int main(int argc, char **argv) {
	pthread_t t;
	if (argc > 1)
		pthread_create(&t, 0, ends, argv[1]);
	for (;;)
		pthread_create(&t, 0, waits, 0);
}
`)
	prog := proctest.Build(t, "gcc", "-O1", "-pthread", src)
	for us := range 20 {
		_, p, err := ran(t, profiler.Config{Path: prog, Args: []string{strconv.Itoa(137 * us)}})
		if err != nil || p.Run.ExitCode != 3 {
			t.Fatalf("after %d µs: %v", 137*us, err)
		}
	}
}

// TestWakingNobody: threads meet at barriers made by hand of many condition
// variables, and wake thousands of others that nobody waits on. All meetings
// are found.
func TestWakingNobody(t *testing.T) {
	const rounds = 200
	src := proctest.Source(t, "wake.c", `#include <pthread.h>
#include <stdint.h>
enum { threads = 3, rounds = 200 };
static struct { pthread_mutex_t m; pthread_cond_t c; int came; long round; } at[64];
static pthread_cond_t nobody[5000];
static void meet(long r) {
	__typeof__(at[0]) *b = &at[r % 64];
	pthread_mutex_lock(&b->m);
	long round = b->round;
	if (++b->came == threads) {
		b->came = 0;
		b->round++;
		pthread_cond_broadcast(&b->c);
	} else
		while (b->round == round)
			pthread_cond_wait(&b->c, &b->m);
	pthread_mutex_unlock(&b->m);
}
static void *work(void *id) {
	for (long r = 0; r < rounds; r++) {
		for (int i = (int)(intptr_t)id; i < 5000; i += 7)
			pthread_cond_broadcast(&nobody[i]);
		meet(r);
	}
	return 0;
}
int main(void) {
	pthread_t t[threads];
	for (intptr_t i = 1; i < threads; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	work(0);
	for (int i = 1; i < threads; i++)
		pthread_join(t[i], 0);
}
`)
	p := run(t, proctest.Build(t, "gcc", "-O2", "-g", "-pthread", src))
	n := 0
	for _, s := range p.Sections {
		if s.Kind != profile.Barrier {
			continue
		}
		for _, in := range s.Instances {
			if len(in.Parts) == 3 {
				n += in.Folded
			}
		}
	}
	if n != rounds {
		t.Errorf("%d meetings found, not %d", n, rounds)
	}
}

// TestFileSizes: who may make small files only is profiled all the same, with as many
// threads as ever, and has its limit still.
func TestFileSizes(t *testing.T) {
	if os.Getenv("SKEWLENS_SMALL") == "" { // a process has one limit
		ctx, off := watchdog(t)
		defer off()
		again := exec.CommandContext(ctx, "sh", "-c", `ulimit -S -f 100; exec "$0" -test.run='^TestFileSizes$'`, os.Args[0])
		again.Env = append(os.Environ(), "SKEWLENS_SMALL=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	src := proctest.Source(t, "small.c", `#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
static pthread_barrier_t all;
static void *work(void *p) { pthread_barrier_wait(&all); return p; }
int main(void) {
	pthread_t t[40];
	struct rlimit l;
	pthread_barrier_init(&all, 0, 40);
	for (int i = 0; i < 40; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 40; i++)
		pthread_join(t[i], 0);
	getrlimit(RLIMIT_FSIZE, &l);
	printf("%lu\n", (unsigned long)l.rlim_cur);
	return 0;
}
`)
	prog := proctest.Build(t, "gcc", "-O1", "-pthread", src)
	if p := same(t, prog); len(p.Threads) != 41 {
		t.Errorf("%d threads", len(p.Threads))
	}
}
