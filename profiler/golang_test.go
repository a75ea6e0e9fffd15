package profiler_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// buildGo builds a program in Go.
func buildGo(t testing.TB, folder string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "prog")
	c := exec.Command("go", append(append([]string{"build", "-o", out}, flags...), ".")...)
	c.Dir = folder
	c.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if b, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, b)
	}
	return out
}

// goModule is a folder with a module that is one file.
func goModule(t testing.TB, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"go.mod": "module prog\n\ngo 1.22\n", "main.go": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// goRoot is where Go is. Its compiler was built with a profile of itself.
func goRoot(t testing.TB) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(root))
}

// TestGoCounts compares how often blocks of a program in Go ran with what go build
// -cover counts, on calls, panics, deferred functions, faults, stacks that grow and
// goroutines that end in the middle of functions.
func TestGoCounts(t *testing.T) {
	covered := buildGo(t, "testdata/golang", "-cover", "-covermode=atomic")
	dir := t.TempDir()
	c := exec.Command(covered)
	c.Env = append(os.Environ(), "GOCOVERDIR="+dir)
	if out, err := c.CombinedOutput(); len(out) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	text := filepath.Join(dir, "text")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i", dir, "-o", text).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := marked(t, text)
	for _, flags := range [][]string{nil, {"-gcflags=all=-N -l"}, {"-buildmode=pie"}, {"-pgo=" + filepath.Join(goRoot(t), "src/cmd/compile/default.pgo")}} {
		t.Run(fmt.Sprint(flags), func(t *testing.T) {
			p := run(t, buildGo(t, "testdata/golang", flags...))
			got := marks(t, p)
			for at, n := range want {
				if got[at] != n {
					t.Errorf("%s: %d times, go build -cover says %d", at, got[at], n)
				}
			}
			if len(want) < 60 {
				t.Errorf("%d blocks compared", len(want))
			}
			if t.Failed() {
				t.Logf("%+v, %d edges, %d threads, %d locations: %+v", p.Run, len(p.Graph.Edges), len(p.Threads), len(p.Locations), p.Warnings)
			}
		})
	}
}

// marks is how often each call of main.mark, or in C of mark, was made, by its line.
func marks(t *testing.T, p *profile.Profile) map[string]uint64 {
	t.Helper()
	var all profile.Counts
	for i := range p.Threads {
		all = all.Plus(p.Threads[i].Totals)
	}
	n := map[string]uint64{}
	for _, e := range p.Graph.Edges {
		if e.Kind != profile.Call {
			continue
		}
		if name := p.Graph.Functions[p.Graph.Blocks[e.To].Function].Name; name != "main.mark" && name != "mark" {
			continue
		}
		if l, ok := p.Location(e.Site); ok {
			n[fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line)] += all.Of(e.Count)
		}
	}
	return n
}

// marked is how often go build -cover says that these lines were executed.
func marked(t *testing.T, text string) map[string]uint64 {
	t.Helper()
	f, err := os.Open(text)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := map[string]uint64{}
	block := regexp.MustCompile(`^golang/(\w+\.go):(\d+)\.(\d+),(\d+)\.(\d+) \d+ (\d+)$`)
	for s := bufio.NewScanner(f); s.Scan(); {
		m := block.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		var from, col, to, end int
		var count uint64
		fmt.Sscan(strings.Join(m[2:], " "), &from, &col, &to, &end, &count)
		src, err := os.ReadFile(filepath.Join("testdata/golang", m[1]))
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range strings.Split(string(src), "\n") {
			c := strings.Index(l, "mark()") + 1
			if c == 0 || strings.Contains(l, "func mark") || i+1 < from || i+1 > to || i+1 == from && c < col || i+1 == to && c >= end {
				continue
			}
			n[fmt.Sprintf("%s:%d", m[1], i+1)] += count
		}
	}
	return n
}

// TestGoStandard: tests of Go's own packages pass, which look at what the runtime does
// to their stacks, and at what becomes of panics.
func TestGoStandard(t *testing.T) {
	root := goRoot(t)
	for _, pkg := range []string{"sort", "sync", "regexp/syntax"} {
		t.Run(pkg, func(t *testing.T) {
			prog := filepath.Join(t.TempDir(), "prog")
			if out, err := exec.Command("go", "test", "-c", "-o", prog, pkg).CombinedOutput(); err != nil {
				t.Fatalf("go test -c: %v\n%s", err, out)
			}
			p := runWith(t, profiler.Config{Path: prog, Args: []string{"-test.short"}, Dir: filepath.Join(root, "src", pkg)})
			if p.Run.ExitCode != 0 || p.Run.Signal != "" {
				t.Errorf("status %d %s", p.Run.ExitCode, p.Run.Signal)
			}
		})
	}
}

// TestGoRefused: where goroutines cannot be told apart it is said why, in one line.
func TestGoRefused(t *testing.T) {
	proctest.Need(t, "gcc", "g++")
	for _, c := range []struct{ folder, flags, want string }{
		{"testdata/golang", "-ldflags=-s -w", "build it without -ldflags=-s and -w"},
		{"testdata/cgo", "-ldflags=-s", "build it without -ldflags=-s and -w"},
		{"testdata/golang", "-race", "build it without -race"},
	} {
		_, err := profiler.Run(t.Context(), profiler.Config{Path: buildGo(t, c.folder, c.flags)})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %s: %v", c.folder, c.flags, err)
		}
	}
	tool := filepath.Join(goRoot(t), "bin", "go")
	if _, err := profiler.Run(t.Context(), profiler.Config{Path: tool, Args: []string{"version"}}); err != nil && strings.Contains(err.Error(), "-ldflags=-s") {
		t.Errorf("%s: %v, which is no mend", tool, err)
	}
}

// TestGoPreempted: the runtime stops goroutines that do nothing but go round, to collect
// garbage: in loops so small that nothing can lead back to their copies, and in others.
// None waits for the signal for ever, however many are asked by turns.
func TestGoPreempted(t *testing.T) {
	for name, loop := range map[string]string{"empty": "for {\n}", "small": "for n := 0; ; n++ {\nif n == -1 {\nprintln(n)\n}\n}"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			source := "package main\n\nimport \"runtime\"\n\nfunc main() {\nruntime.GOMAXPROCS(8)\nfor range 7 {\ngo func() {\n" + loop + "\n}()\n}\n" +
				"for range 4 {\nruntime.Gosched()\nruntime.GC()\nruntime.ReadMemStats(new(runtime.MemStats))\n}\n}\n"
			if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644); err != nil {
				t.Fatal(err)
			}
			prog := filepath.Join(dir, "prog")
			if out, err := exec.Command("go", "build", "-o", prog, filepath.Join(dir, "main.go")).CombinedOutput(); err != nil {
				t.Fatalf("go build: %v\n%s", err, out)
			}
			if p := runWith(t, profiler.Config{Path: prog, Dir: dir}); p.Run.ExitCode != 0 || p.Run.Signal != "" {
				t.Errorf("status %d %s", p.Run.ExitCode, p.Run.Signal)
			}
		})
	}
}

// TestGoMany: of more goroutines at once than are told apart, again and again, none is
// harmed, and that they are not counted is said.
func TestGoMany(t *testing.T) {
	dir := t.TempDir()
	source := `package main

import "sync"

// talk makes a goroutine and sends it much.
func talk() {
	c := make(chan int)
	go func() {
		for range c {
		}
	}()
	for range 600 {
		c <- 1
	}
	close(c)
}

func main() {
	for round := range 4 {
		var all, begun sync.WaitGroup
		hold := make(chan int)
		n := 9000 + 7*round
		begun.Add(n)
		for k := range n {
			all.Go(func() {
				begun.Done()
				<-hold
				if k+50 > n {
					talk()
				}
			})
		}
		begun.Wait()
		close(hold)
		all.Wait()
	}
	println("all")
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	prog := filepath.Join(dir, "prog")
	if out, err := exec.Command("go", "build", "-o", prog, filepath.Join(dir, "main.go")).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	p := runWith(t, profiler.Config{Path: prog, Dir: dir})
	if p.Run.ExitCode != 0 || p.Run.Signal != "" {
		t.Errorf("status %d %s", p.Run.ExitCode, p.Run.Signal)
	}
	if !slices.ContainsFunc(p.Warnings, func(w profile.Warning) bool { return w.Code == "goroutines" }) {
		t.Errorf("warnings %v", p.Warnings)
	}
}

// TestGoEndsInLoops: how often goroutines went round loops without calls is known when the
// program ends, of those that the runtime has interrupted there, too, and of one to which
// the signal came that ends it.
func TestGoEndsInLoops(t *testing.T) {
	dir := goModule(t, `package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

var (
	at  [6][16]int
	tid int
)

//go:noinline
func loop(at *int, n int) {
	for i := 0; i < n; i++ {
		*at = i
	}
}

func main() {
	if len(os.Args) > 1 {
		go func() {
			runtime.LockOSThread()
			tid = syscall.Gettid()
			loop(&at[0][0], 1<<60)
		}()
	} else {
		for i := range at {
			go loop(&at[i][0], 1<<60)
		}
	}
	loops := len(at)
	if len(os.Args) > 1 {
		loops = 1
	}
	for i := range loops {
		for at[i][0] < 1<<20 { // it is in the loop, and more of them than cores have been interrupted there
			time.Sleep(time.Millisecond)
		}
	}
	for i := range at {
		fmt.Println(at[i][0])
	}
	if len(os.Args) > 1 {
		syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(tid), uintptr(syscall.SIGTERM))
		select {} // until it ends
	}
	os.Exit(0)
}
`)
	for i, flags := range [][]string{nil, {"-gcflags=all=-N -l"}, nil} {
		var args []string
		if i == 2 {
			args = []string{"ended"} // by a signal that comes to a loop
		}
		out, _, p := profiled(t, buildGo(t, dir, flags...), args...)
		var stored, counted []int
		for _, s := range strings.Fields(out) {
			n, _ := strconv.Atoi(s)
			stored = append(stored, n)
		}
		for i := range p.Threads {
			most := 0
			for _, b := range p.Graph.Blocks {
				if p.Graph.Functions[b.Function].Name == "main.loop" && b.Count != profile.NoEvent {
					most = max(most, int(p.Threads[i].Totals.Of(b.Count)))
				}
			}
			counted = append(counted, most)
		}
		counted = append(counted, make([]int, len(stored))...) // some may not have run
		slices.Sort(stored)
		slices.Sort(counted)
		counted = counted[len(counted)-len(stored):]
		for i, n := range stored {
			if counted[i] < n {
				t.Errorf("%v: %d rounds, stored %d: %v", flags, counted, stored, p.Warnings)
				break
			}
		}
	}
}
