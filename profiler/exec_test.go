package profiler_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// followed runs a command natively and with --follow-exec, compares what it
// wrote and how it ended, and returns the profile.
func followed(t *testing.T, command ...string) *profile.Profile {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	want, _ := cmd.CombinedOutput()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	ctx, off := watchdog(t)
	defer off()
	p, err := profiler.Run(ctx, profiler.Config{Path: command[0], Args: command[1:], Stdout: out, Stderr: out, FollowExec: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%v wrote\n%s\nwithout the profiler\n%s", command, got, want)
	}
	if w := cmd.ProcessState.ExitCode(); p.Run.ExitCode != w {
		t.Errorf("%v ended with %d, without the profiler with %d", command, p.Run.ExitCode, w)
	}
	return p
}

// about joins the warnings about exec.
func about(p *profile.Profile) string {
	var s []string
	for _, w := range p.Warnings {
		if w.Code == "exec" {
			s = append(s, w.Message)
		}
	}
	return strings.Join(s, "; ")
}

func TestFollowExec(t *testing.T) {
	launch := proctest.Build(t, "gcc", "-O2", "-pthread", filepath.Join("testdata", "launch.c"))
	prog := proctest.Build(t, "gcc", "-O2", "-g", filepath.Join("testdata", "corpus", "sorts.c"))
	static := proctest.Build(t, "gcc", "-O2", "-static", "-no-pie", filepath.Join("testdata", "corpus", "sorts.c"))
	script := proctest.Source(t, "script", "#!/bin/sh\necho script\nexec \"$@\"\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, command string // P is the program, S a static one, L the launcher
		replaced      string // named in the warning
	}{
		{"exec", "L exec P", "L"},
		{"arguments", "L exec P a {b} c", "L"},
		{"thread", "L thread P x", "L"},
		{"chain", "L exec L thread L exec P", "L and then L and then L"},
		{"env", "/usr/bin/env A=1 P", "/usr/bin/env"},
		{"shell", "/bin/sh -c exec$P$1", "sh"},
		{"script", "SCRIPT P 1", "sh"},
		{"static", "L exec S", "L"},
		{"timer", "L timer P", "L"},
		{"forks", "L forks P", "L"},
	} {
		t.Run(c.name, func(t *testing.T) {
			put := strings.NewReplacer("SCRIPT", script, "L", launch, "P", prog, "S", static)
			var words []string
			for _, w := range strings.Fields(c.command) {
				words = append(words, strings.ReplaceAll(put.Replace(w), "$", " "))
			}
			last, args := prog, []string(nil)
			if c.name == "static" {
				last = static
			}
			if i := slices.Index(words, last); i >= 0 {
				args = words[i+1:]
			} else {
				args = []string{"1"}
			}
			p := followed(t, words...)
			if p.Program.Path != last || fmt.Sprint(p.Program.Args) != fmt.Sprint(args) {
				t.Errorf("the profile is of %s %q, not of %s %q", p.Program.Path, p.Program.Args, last, args)
			}
			if w := about(p); !strings.Contains(w, put.Replace(c.replaced)) {
				t.Errorf("the warning is %q, without %s", w, put.Replace(c.replaced))
			}
			if alone := run(t, last, args...); c.name != "static" && !slices.Equal(p.Threads[0].Totals.N, alone.Threads[0].Totals.N) {
				t.Error("the counts are not those of the program run by itself") // a static one's C library does what the environment says
			}
			if err := p.CheckValid(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestExecNotFollowed: what cannot be followed, or shall not be, runs as if
// nobody looked, and the report says so.
func TestExecNotFollowed(t *testing.T) {
	launch := proctest.Build(t, "gcc", "-O2", "-pthread", filepath.Join("testdata", "launch.c"))
	prog := proctest.Build(t, "gcc", "-O2", "-g", filepath.Join("testdata", "corpus", "sorts.c"))
	gs := proctest.Build(t, "gcc", "-O2", proctest.Source(t, "gs.c", `#include <stdio.h>
int main(int c, char **v) { long x = 0; puts("ran"); if (c > 5) __asm__ volatile("movq %%gs:0, %0" : "=r"(x)); return 3 + (int)x; }
`))
	golang, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		command []string
		warning string
	}{
		{"gs", []string{launch, "exec", gs}, "GS register"},
		{"gs from thread", []string{launch, "thread", gs}, "GS register"},
		{"go", []string{launch, "exec", golang, "-test.list", "^TestExecNotFollowed$"}, "Go program"},
		{"behind one that is", []string{launch, "exec", launch, "exec", gs}, "GS register"},
		{"missing", []string{launch, "missing"}, ""},
		{"child", []string{launch, "child", prog}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := followed(t, c.command...)
			if p.Program.Path != launch {
				t.Errorf("the profile is of %s", p.Program.Path)
			}
			if w := about(p); !strings.Contains(w, c.warning) || (w == "") != (c.warning == "") {
				t.Errorf("the warning is %q, without %s", w, c.warning)
			}
		})
	}
	_, _, p := profiled(t, launch, "exec", prog)
	if w := about(p); !strings.Contains(w, "--follow-exec") || p.Program.Path != launch {
		t.Errorf("without the flag the profile is of %s, and the warning %q", p.Program.Path, w)
	}
}

// executed is how often a thread came to where a line begins in a block.
func executed(p *profile.Profile, b *profile.Block, t *profile.Thread, line int) (n uint64) {
	for a := b.Start; a < b.End; a++ {
		if l, ok := p.Location(a); !ok || l.Line != line || !slices.Contains([]string{"leaves.c", "main.go"}, filepath.Base(l.File)) || b.Count == profile.NoEvent {
			continue
		}
		n = t.Totals.Of(b.Count)
		for _, next := range t.Active { // it never came to what stands from there on
			if next >= b.Start && next <= a {
				n--
			}
		}
		return n
	}
	return 0
}

// TestExecLeaves: what stands behind a call that another program takes the place in is not
// counted, by whichever function and thread it is made; where it fails it is.
func TestExecLeaves(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-g", "-pthread", proctest.Source(t, "leaves.c", `#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static char *to[] = {"/bin/true", NULL}, *env[] = {NULL};
volatile int failed;
__attribute__((noinline)) static int leave(int how)
{
	int r = how == 1 ? execvp(*to, to) : how == 2 ? (int)syscall(SYS_execve, *to, to, env) : how == 3 ? fexecve(open(*to, O_RDONLY), to, env) : execv("/nowhere", to);
	failed += r != how;
	return r;
}
static void *begin(void *how) { leave(atoi(how)); return NULL; }
int main(int c, char **v)
{
	pthread_t t;
	leave(4);
	if (c > 2)
		pthread_create(&t, NULL, begin, v[1]), c > 3 ? 0 : pthread_join(t, NULL);
	leave(atoi(v[1]));
	return 0;
}
`))
	for _, c := range []struct {
		args   []string
		behind uint64
	}{{[]string{"1"}, 1}, {[]string{"2"}, 1}, {[]string{"3"}, 1}, {[]string{"4"}, 2}, {[]string{"1", "thread"}, 1}, {[]string{"4", "thread"}, 3}, {[]string{"1", "thread", "race"}, 1}} {
		if n := executedBy(run(t, prog, c.args...), 12); n != c.behind {
			t.Errorf("%q: what stands behind the call was executed %d times, not %d", c.args, n, c.behind)
		}
	}
}

// executedBy is how often all threads came to where a line begins in a block.
func executedBy(p *profile.Profile, line int) (n uint64) {
	for i := range p.Threads {
		for k := range p.Graph.Blocks {
			n += executed(p, &p.Graph.Blocks[k], &p.Threads[i], line)
		}
	}
	return n
}

// TestExecLeavesGo: likewise of a program in Go, where other goroutines have tried in vain,
// or do so at the same time; what its children become is theirs.
func TestExecLeavesGo(t *testing.T) {
	prog := buildGo(t, goModule(t, `package main

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
)

var failed int

//go:noinline
func leave(path string) {
	if err := syscall.Exec(path, []string{path}, nil); err != nil {
		failed++
	}
	failed *= 3 // LINE 17
}

func main() {
	var begun, tried sync.WaitGroup
	for range len(os.Args) - 2 {
		begun.Add(1)
		tried.Add(1)
		go func() {
			leave("/nowhere")
			tried.Done()
			begun.Wait()
			leave(os.Args[1])
		}()
	}
	tried.Wait()
	if exec.Command("/bin/true").Run() != nil {
		os.Exit(8)
	}
	leave("/nowhere")
	for range len(os.Args) - 2 {
		begun.Done()
	}
	leave(os.Args[1])
}
`))
	for _, c := range []struct {
		args                  []string
		called, fewer, behind uint64 // fewer: of others that may not have got as far
	}{{[]string{"/bin/true"}, 2, 0, 1}, {[]string{"/nowhere"}, 2, 0, 2}, {[]string{"/bin/true", "1"}, 4, 1, 2}, {[]string{"/bin/true", "1", "2", "3"}, 8, 3, 4}} {
		p := run(t, prog, c.args...)
		if called, n := executedBy(p, 14), executedBy(p, 17); n != c.behind || called > c.called || called < c.called-c.fewer {
			t.Errorf("%q: the call was come to %d times, and what stands behind it %d times, not %d and %d", c.args, called, n, c.called, c.behind)
		}
		if err := p.CheckValid(); err != nil {
			t.Error(err)
		}
		if slices.ContainsFunc(p.Warnings, func(w profile.Warning) bool { return w.Code == "inconsistent-counts" }) {
			t.Errorf("%q: %+v", c.args, p.Warnings)
		}
	}
}

// TestBesides: where nothing is found for lack of threads, that other processes ran is said.
func TestBesides(t *testing.T) {
	for script, want := range map[string]bool{"/bin/true; /bin/true; :": true, ":": false} {
		p := run(t, "/bin/bash", "-c", script)
		i := slices.IndexFunc(p.Warnings, func(w profile.Warning) bool { return w.Code == "one-thread" })
		if i < 0 || strings.Contains(p.Warnings[i].Message, "other processes (2)") != want {
			t.Errorf("%q: %+v", script, p.Warnings)
		}
	}
}
