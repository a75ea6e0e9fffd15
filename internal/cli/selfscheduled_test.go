package cli

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
)

// selfScheduled is a program of testdata/selfscheduled: threads, or goroutines, take
// pieces of known costs themselves.
type selfScheduled struct {
	name  string
	build func(t *testing.T, out string)
	modes map[string]func(costs []uint64) []uint64 // what is taken at a time; nil: each piece has a goroutine of its own
}

const takers = 8

var selfScheduledPrograms = []selfScheduled{
	{"gcc", func(t *testing.T, out string) {
		needs(t, "g++", "-O2", "-g", "-fopenmp", "testdata/selfscheduled/omp.cc", "-o", out)
	},
		map[string]func([]uint64) []uint64{"dynamic": chunks(1), "dynamic4": chunks(4), "guided": guided, "tasks": chunks(1)}},
	{"go", buildPool, map[string]func([]uint64) []uint64{"counter": chunks(1), "channel": chunks(1), "buffered": chunks(1), "mutex": chunks(1), "limit": nil, "each": nil}},
}

func needs(t *testing.T, words ...string) {
	t.Helper()
	if _, err := exec.LookPath(words[0]); err != nil {
		t.Skip(err)
	}
	if err := runCompiler(words...); err != nil {
		t.Fatal(err)
	}
}

// buildPool builds a copy of pool.go: no module is about it there.
func buildPool(t *testing.T, out string) {
	t.Helper()
	text, err := os.ReadFile("testdata/selfscheduled/pool.go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, b := range map[string][]byte{"pool.go": text, "go.mod": []byte("module pool\n\ngo 1.25\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("go", "build", "-o", out, ".")
	c.Dir, c.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, bytes.TrimSpace(text))
	}
}

// pieces are the costs of such.
func pieces(how string, n int, mean uint64) (all []uint64) {
	s := uint64(42)
	for i := range n {
		c := mean
		switch {
		case how == "random":
			s = s*6364136223846793005 + 1442695040888963407
			c = (s>>33)%(2*mean) + 1000
		case how == "huge" && i == n/3:
			c = mean * uint64(n) / 5
		case how == "growing":
			c = 2 * mean * uint64(i+1) / uint64(n+1)
		}
		all = append(all, c)
	}
	return all
}

// chunks are so many pieces at a time.
func chunks(size int) func([]uint64) []uint64 {
	return func(costs []uint64) (all []uint64) {
		for c := range slices.Chunk(costs, size) {
			all = append(all, sum(c))
		}
		return all
	}
}

// guided is as libgomp has it: of what is left the takers' part.
func guided(costs []uint64) (all []uint64) {
	for len(costs) > 0 {
		n := (len(costs) + takers - 1) / takers
		all, costs = append(all, sum(costs[:n])), costs[n:]
	}
	return all
}

func sum(of []uint64) (n uint64) {
	for _, x := range of {
		n += x
	}
	return n
}

// imbalanceOf is that of what takers do.
func imbalanceOf(each []uint64) float64 {
	most := float64(slices.Max(each))
	return 1 - float64(sum(each))/float64(len(each))/most
}

// taken is what takers on cores of their own do who take the next when they are done
// with the one before.
func taken(list []uint64) []uint64 {
	each := make([]uint64, takers)
	for _, c := range list {
		first := 0
		for k := range each {
			if each[k] < each[first] {
				first = k
			}
		}
		each[first] += c
	}
	return each
}

// TestSelfScheduled: on few cores, kept together, who takes work himself does as much
// of it as on a core of his own.
func TestSelfScheduled(t *testing.T) {
	realBench(t, 1)
	for _, p := range selfScheduledPrograms {
		t.Run(p.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "prog")
			p.build(t, out)
			for mode, take := range p.modes {
				for how, x := range map[string]struct {
					n    int
					mean uint64
				}{"random": {40, 8e6}, "huge": {64, 5e6}, "growing": {64, 5e6}} {
					list := pieces(how, x.n, x.mean)
					want := imbalanceOf(list)
					if take != nil {
						want = imbalanceOf(taken(take(list)))
					}
					args := []string{mode, how, strconv.Itoa(x.n), strconv.FormatUint(x.mean, 10)}
					printed := alone(t, out, args)
					got := math.NaN()
					for range 3 { // on a busy machine chance has a hand in it: what is off must be off each time
						if s := together(t, out, args, printed, false); s != nil && s.Imbalance != nil {
							got = *s.Imbalance
						}
						if math.Abs(got-want) <= 0.05 {
							break
						}
					}
					if !(math.Abs(got-want) <= 0.05) {
						t.Errorf("%s of %s pieces: imbalance %.3f, on cores of their own %.3f", mode, how, got, want)
					}
				}
			}
		})
	}
}

// alone is what the program prints.
func alone(t *testing.T, prog string, args []string) string {
	t.Helper()
	text, err := exec.Command(prog, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// together is the program's largest section, with as many cores as takers; it prints
// what it does otherwise.
func together(t *testing.T, prog string, args []string, want string, units bool) *report.Section {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p, err := profiler.Run(ctx, profiler.Config{Path: prog, Args: args, Stdin: null, Stdout: out, Stderr: os.Stderr, Cores: takers, Units: units})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(out.Name()); err != nil || string(text) != want {
		t.Errorf("%v prints %q, otherwise %q (%v)", args, text, want, err)
	}
	r, err := report.New(p, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sections) == 0 {
		return nil
	}
	s := slices.MaxFunc(r.Sections, func(a, b report.Section) int { return cmp.Compare(a.Critical, b.Critical) })
	return &s
}

// TestUnitsTaken: the units that tasks and goroutines do are known, however they came
// by them, and cures are in their runtime's words.
func TestUnitsTaken(t *testing.T) {
	realBench(t, 1)
	tbb := func(t *testing.T, out string) {
		if _, err := os.Stat("/usr/include/oneapi/tbb.h"); err != nil {
			t.Skip("libtbb-dev is not installed")
		}
		needs(t, "g++", "-std=c++20", "-O2", "-g", "-pthread", "testdata/selfscheduled/tbb.cc", "-o", out, "-ltbb")
	}
	for _, c := range []struct {
		build         func(t *testing.T, out string)
		mode          string
		dealt, clause string
	}{
		{selfScheduledPrograms[0].build, "dynamic", "demand", "schedule(dynamic, 4)"},
		{selfScheduledPrograms[0].build, "taskloop", "tasks", "grainsize(4)"},
		{tbb, "simple", "tasks", "blocked_range(…, 4), simple_partitioner"},
		{tbb, "auto", "tasks", "blocked_range(…, 4), simple_partitioner"},
		{buildPool, "counter", "demand", "next.Add(4), or 4 to a send"},
		{buildPool, "channel", "demand", "next.Add(4), or 4 to a send"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "prog")
			c.build(t, out)
			const n = 61 // not as many for each
			args := []string{c.mode, "growing", strconv.Itoa(n), "3000000"}
			s := together(t, out, args, alone(t, out, args), true)
			if s == nil || s.Units == nil {
				t.Fatal("no units")
			}
			if s.Units.Count != n || s.Units.Dealt != c.dealt {
				t.Errorf("%d units, dealt by %q; want %d, %q", s.Units.Count, s.Units.Dealt, n, c.dealt)
			}
			if !slices.ContainsFunc(s.Dealings, func(d report.Dealing) bool { return d.Clause == c.clause }) {
				t.Errorf("no %s among %+v", c.clause, s.Dealings)
			}
		})
	}
}
