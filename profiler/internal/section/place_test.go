package section

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// source is a made-up program: an address is line × 16, of function line / 10,
// in a header of the system from line 900 on. Odd addresses are inlined, at the
// line ten further on.
func source(a profile.Addr) profile.Location {
	frame := func(line int) profile.Frame {
		f := profile.Frame{File: "/src/x.cc", Line: line, Function: fmt.Sprintf("f%d", line/10)}
		if line >= 900 {
			f.File = "/usr/include/c++/12/thread"
		}
		return f
	}
	l := profile.Location{Address: a, Frame: frame(int(a / 16))}
	if a%2 == 1 {
		l.InlinedAt = []profile.Frame{frame(int(a/16) + 10)}
	}
	return l
}

// chainScript feeds a tracker with calls of the made-up program.
type chainScript struct {
	*script
	chains map[string][]uint64
	passes bool
}

func newChainScript() *chainScript {
	s := &chainScript{script: newScript(1 << 20), chains: map[string][]uint64{}, passes: true}
	c := &s.out.c
	c.Locate = source
	c.Line = func(a profile.Addr) string { return fmt.Sprint(a) }
	c.Passes = func(profile.Counts, profile.Addr) bool { return s.passes }
	return s
}

// via is a record of a call that the others in the chain led to.
func (s *chainScript) via(id profile.ThreadID, kind uint32, object uint64, work uint64, chain ...uint64) {
	k := fmt.Sprint(chain)
	if s.chains[k] == nil { // backends keep one copy of each
		s.chains[k] = chain
	}
	s.Record(id, record.Record{Kind: kind, TSC: s.tick(), Arg1: object, Site: chain[0], Chain: s.chains[k], Delta: []record.Delta{{Counter: 0, N: work}}})
}

func line(n uint64) uint64 { return 16 * n }

// meet lets threads 1 and 2 meet at a barrier, each by its chain.
func (s *chainScript) meet(a, b []uint64) {
	s.via(1, barrierWait, 7, 1, a...)
	s.via(2, barrierWait, 7, 2, b...)
	s.at(1, barrierLeft, 7, a[0])
	s.at(2, barrierLeft, 7, b[0])
}

// places are where sections stand: the frame, its callers, and the instances.
func places(list []profile.Section) (out []string) {
	for _, s := range list {
		f := source(s.Site).Frames()[s.Outside]
		at := fmt.Sprintf("%s %d ×%d", s.Kind, f.Line, len(s.Instances))
		for _, a := range s.Callers {
			at += fmt.Sprintf(" ←%d", a/16)
		}
		out = append(out, at)
	}
	return out
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("sections %q, want %q", got, want)
	}
}

func TestPlacesOfBarriers(t *testing.T) {
	type meeting [2][]uint64
	both := func(chain ...uint64) meeting { return meeting{chain, chain} }
	for _, c := range []struct {
		name     string
		meetings []meeting
		want     []string
	}{
		{"the call itself", []meeting{both(line(10), line(50))}, []string{"barrier 10 ×1 ←50"}},
		{"in a header", []meeting{both(line(901), line(50))}, []string{"barrier 50 ×1"}},
		{"inlined from a header", []meeting{both(line(895)+1, line(50))}, []string{"barrier 895 ×1 ←50"}},
		{"inlined into the program", []meeting{both(line(900)+1, line(40))}, []string{"barrier 40 ×1"}},
		{"nothing but headers", []meeting{both(line(901), line(920))}, []string{"barrier 901 ×1"}},
		{"a wrapper with one caller", []meeting{both(line(10), line(50)), both(line(10), line(50))}, []string{"barrier 10 ×2 ←50"}},
		{"a wrapper with two", []meeting{both(line(10), line(50)), both(line(10), line(60)), both(line(10), line(50))}, []string{"barrier 50 ×2", "barrier 60 ×1"}},
		{"a wrapper in a wrapper", []meeting{both(line(10), line(20), line(50)), both(line(10), line(20), line(60))}, []string{"barrier 50 ×1", "barrier 60 ×1"}},
		{"wrappers with one caller each", []meeting{both(line(10), line(20), line(50)), both(line(10), line(30), line(50))},
			[]string{"barrier 20 ×1 ←50", "barrier 30 ×1 ←50"}},
		{"phases of one function", []meeting{both(line(10), line(50)), both(line(12), line(50)), both(line(10), line(60)), both(line(12), line(60))},
			[]string{"barrier 10 ×2", "barrier 12 ×2"}},
		{"two calls in a caller of two", []meeting{both(line(10), line(20), line(50)), both(line(10), line(22), line(50)),
			both(line(10), line(20), line(60)), both(line(10), line(22), line(60))}, []string{"barrier 20 ×2", "barrier 22 ×2"}},
		{"threads that begin elsewhere", []meeting{{{line(10), line(50)}, {line(10), line(60)}}, {{line(10), line(50)}, {line(10), line(60)}}}, []string{"barrier 10 ×2"}},
		{"two calls meet", []meeting{{{line(10), line(50)}, {line(30), line(50)}}}, []string{"barrier 10 ×1 ←50"}},
		{"recursion", []meeting{both(line(10), line(11), line(50)), both(line(10), line(50))}, []string{"barrier 10 ×2"}},
		{"inlined wrapper", []meeting{both(line(10)+1, line(50)), both(line(10), line(60))}, []string{"barrier 20 ×1 ←50", "barrier 60 ×1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newChainScript()
			s.born(0, -1)
			s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 7, Arg3: 2})
			s.born(1, 0)
			s.born(2, 0)
			for _, m := range c.meetings {
				s.meet(m[0], m[1])
			}
			same(t, places(s.Finish()), c.want...)
		})
	}
}

// TestFunctionsThatGoOn after a meeting are no wrappers, whoever calls them.
func TestFunctionsThatGoOn(t *testing.T) {
	for passes, want := range map[bool][]string{true: {"barrier 50 ×2", "barrier 60 ×1"}, false: {"barrier 10 ×3"}} {
		s := newChainScript()
		s.passes = passes
		s.born(0, -1)
		s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 7, Arg3: 2})
		s.born(1, 0)
		s.born(2, 0)
		a, b := []uint64{line(10), line(50)}, []uint64{line(10), line(60)}
		s.meet(a, a)
		s.meet(a, a)
		s.meet(b, b)
		same(t, places(s.Finish()), want...)
	}
}

// TestPlacesMadeByHand: threads wait on a condition variable until one wakes
// them, at another line.
func TestPlacesMadeByHand(t *testing.T) {
	for _, c := range []struct {
		name       string
		wait, wake []uint64
		passes     bool
		want       string
	}{
		{"a function", []uint64{line(12), line(50)}, []uint64{line(14), line(50)}, true, "barrier 50 ×3"},
		{"a macro", []uint64{line(12), line(50)}, []uint64{line(12), line(50)}, true, "barrier 12 ×3 ←50"},
		{"in the thread's function", []uint64{line(12)}, []uint64{line(14)}, true, "barrier 12 ×3"},
		{"several in a function", []uint64{line(12), line(50)}, []uint64{line(14), line(50)}, false, "barrier 12 ×3 ←50"},
		{"inlined", []uint64{line(12) + 1}, []uint64{line(14) + 1}, false, "barrier 22 ×3"},
		{"in a class, from a header", []uint64{line(901), line(12), line(50)}, []uint64{line(902), line(14), line(50)}, true, "barrier 50 ×3"},
		{"by a coordinator", []uint64{line(12), line(50)}, []uint64{line(80), line(90)}, true, "barrier 50 ×3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newChainScript()
			s.passes = c.passes
			threads(s.script, 3)
			s.at(0, join, 9, 320)
			for k := uint64(1); k <= 3; k++ {
				s.via(1, condWait, 7, 10*k, c.wait...)
				s.via(2, condWait, 7, 20*k, c.wait...)
				s.via(3, condBroadcast, 7, 30*k, c.wake...)
			}
			same(t, places(s.Finish()), c.want)
		})
	}
}

// TestSeveralInAFunction: threads go from one meeting to the next in a function that
// they do not enter again, the last one by calls of its own; not where what they do
// is apart: they wait there for what somebody has done.
func TestSeveralInAFunction(t *testing.T) {
	for apart, want := range map[bool][]string{false: {"barrier 12 ×2 ←50", "barrier 22 ×2 ←50"}, true: nil} {
		s := newChainScript()
		s.passes = false
		s.c.Apart = func(a, b profile.Addr) bool { return apart }
		threads(s.script, 2)
		s.at(0, join, 9, 320)
		for range 2 {
			for _, at := range []uint64{12, 22} {
				s.via(1, condWait, 7, 10, line(at), line(50))
				s.via(2, condBroadcast, 7, 30, line(at+2), line(50))
			}
		}
		same(t, places(s.Finish()), want...)
	}
}

// TestCoordinator: who wakes the others and does nothing else takes no part.
func TestCoordinator(t *testing.T) {
	for _, c := range []struct {
		works uint64
		wake  []uint64
		parts int
	}{
		{1, []uint64{line(80), line(90)}, 2},
		{9, []uint64{line(80), line(90)}, 3},
		{1, []uint64{line(14), line(50)}, 3},
	} {
		s := newChainScript()
		threads(s.script, 3)
		s.at(0, join, 9, 320)
		for range 3 {
			s.via(1, condWait, 7, 100, line(12), line(50))
			s.via(2, condWait, 7, 120, line(12), line(50))
			s.via(3, condBroadcast, 7, c.works, c.wake...)
		}
		list := s.Finish()
		if len(list) != 1 || len(list[0].Instances) != 3 || len(list[0].Instances[1].Parts) != c.parts {
			t.Errorf("%+v: %+v", c, list)
		}
		same(t, places(list), "barrier 50 ×3")
	}
}

// TestHeldMeetings: the first meetings of threads that turn out to make a
// barrier count as well, each with its own work.
func TestHeldMeetings(t *testing.T) {
	s := newChainScript()
	threads(s.script, 2)
	for k := range uint64(4) {
		if k == 1 {
			s.at(0, join, 9, 320) // now everybody else waits
		}
		s.via(1, condWait, 7, 10*k+10, line(12), line(50))
		s.via(2, condBroadcast, 7, 20*k+20, line(14), line(50))
	}
	list := s.Finish()
	same(t, places(list), "barrier 50 ×4")
	if got, want := fmt.Sprint(work(list[0])), "[[10 20] [20 40] [30 60] [40 80]]"; got != want {
		t.Errorf("parts %s, want %s", got, want)
	}
}

// TestLibrariesOfTheirOwn: who meets without any call of the program's.
func TestLibrariesOfTheirOwn(t *testing.T) {
	s := newChainScript()
	s.born(0, -1)
	s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 7, Arg3: 2})
	s.born(1, 0)
	s.born(2, 0)
	for id := range profile.ThreadID(2) {
		s.Record(id+1, record.Record{Kind: barrierWait, TSC: s.tick(), Arg1: 7, Library: true})
	}
	if list := s.out.finish(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// TestMergedSections: sections that come to stand on one line are one, folded
// instances and totals included.
func TestMergedSections(t *testing.T) {
	s := newChainScript()
	s.out.c.MaxBytes = 10 * bytesPerDelta
	s.born(0, -1)
	s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 7, Arg3: 2})
	s.born(1, 0)
	s.born(2, 0)
	for k := range uint64(30) {
		a := []uint64{line(10), line(50), line(60 + 10*(k%3%2))}
		s.meet(a, a)
	}
	list := s.Finish()
	n, sum := 0, uint64(0)
	for _, x := range list {
		for _, in := range x.Instances {
			n += in.Folded
		}
		for _, p := range x.Totals {
			for _, c := range p.Counts.N {
				sum += c
			}
		}
	}
	if n != 30 || sum != 90 {
		t.Errorf("%d instances, %d instructions in all: %q", n, sum, places(list))
	}
}

// TestPlaceByTwoWays: where two ways lead to a meeting its place is what it was the first
// time, whoever comes first.
func TestPlaceByTwoWays(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	ways := [][]uint64{{line(10), line(50), line(60)}, {line(10), line(50), line(70)}, {line(10), line(80)}, {line(10), line(50)}, {line(20), line(50)}, nil}
	config := newChainScript().c
	known := newCollector(config)
	for range 500 {
		var arrivals []arrival
		some := ways[:1+r.IntN(len(ways))]
		for range 2 + r.IntN(5) {
			chain := some[r.IntN(len(some))]
			a := arrival{site: profile.Addr(line(10)), chain: chain}
			if len(chain) > 0 {
				a.site = profile.Addr(chain[0])
			}
			arrivals = append(arrivals, a)
		}
		lines := func(c *collector) (list []string) {
			place, from := c.place(arrivals, byLibrary)
			for _, s := range place {
				list = append(list, s.line)
			}
			return append(list, fmt.Sprint(from))
		}
		if got, want := lines(known), lines(newCollector(config)); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v, of %v", got, want, arrivals)
		}
	}
}

// TestFetchedModules: a section stands in the user's own code and not in what others wrote, a
// module in Go that was fetched or a folder for that, but where the program itself was, or what its own is is not known.
// What the compiler writes is nobody's.
func TestFetchedModules(t *testing.T) {
	const fetched, other = "/go/pkg/mod/x/pool@v1.2.3/", "/go/pkg/mod/x/tool@v0.1.0/"
	for _, c := range []struct{ main, in, by, want string }{
		{"/home/me/main.go", fetched + "wait.go", "/home/me/main.go", "/home/me/main.go"},
		{other + "main.go", fetched + "wait.go", other + "run.go", other + "run.go"},
		{other + "main.go", other + "wait.go", other + "run.go", other + "wait.go"},
		{"/home/me/main.go", fetched + "wait.go", fetched + "pool.go", fetched + "wait.go"},
		{"", fetched + "wait.go", "/home/me/main.go", fetched + "wait.go"},
		{"/home/me/main.go", "/home/me/vendor/x/pool/wait.go", "/home/me/main.go", "/home/me/main.go"},
		{"/home/me/main.go", "", "/home/me/main.go", "/home/me/main.go"},
		{"/home/me/main.cc", "/home/me/third_party/pool/wait.h", "/home/me/run.cc", "/home/me/run.cc"},
		{"/home/me/third_party/gtest/main.cc", "/home/me/third_party/pool/wait.h", "/home/me/run.cc", "/home/me/run.cc"},
		{"/home/me/third_party/pool/example.cc", "/home/me/third_party/pool/wait.h", "/home/me/third_party/pool/run.cc", "/home/me/third_party/pool/wait.h"},
	} {
		s := newChainScript()
		s.out.c.Goroutines, s.out.c.Main = strings.HasSuffix(c.main, ".go"), func() string { return c.main }
		s.out.c.Line = func(a profile.Addr) string { return []string{c.in, c.by}[a/16-1] }
		s.out.c.Locate = func(a profile.Addr) profile.Location {
			return profile.Location{Frame: profile.Frame{File: s.out.c.Line(a), Line: 1, Function: fmt.Sprint("x.f", a)}}
		}
		s.born(0, -1)
		s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 7, Arg3: 2})
		s.born(1, 0)
		s.born(2, 0)
		s.meet([]uint64{line(1), line(2)}, []uint64{line(1), line(2)})
		list := s.Finish()
		if len(list) != 1 || s.out.c.Line(list[0].Site) != c.want {
			t.Errorf("main is in %q, the call in %q by %q: %+v, want it in %q", c.main, c.in, c.by, list, c.want)
		}
	}
}
