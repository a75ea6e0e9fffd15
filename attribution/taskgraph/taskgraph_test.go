package taskgraph

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// run is a profile under construction.
type run struct {
	*profile.Profile
	anchors [][5]int64
}

func newRun(wall int64) run { return run{Profile: &profile.Profile{Run: profile.Run{WallNS: wall}}} }

// thread: creator and joiner are counted from 1.
func (r run) thread(begin, end, cpu int64, creator profile.ThreadID, joined int64) run {
	t := profile.Thread{ID: profile.ThreadID(len(r.Threads)), BeginNS: begin, EndNS: end, CPUNS: cpu, Creator: creator, JoinedNS: joined}
	if joined > 0 {
		t.Joiner = creator
	}
	r.Threads = append(r.Threads, t)
	return r
}

// anchored: when the next thread is created and waited for, by the thread before it.
func (r run) anchored(created, createdCPU, join, joinCPU int64) run {
	r.anchors = append(r.anchors, [5]int64{int64(len(r.Threads)), created, createdCPU, join, joinCPU})
	return r
}

func (r run) anchor() {
	for _, a := range r.anchors {
		t := &r.Threads[a[0]]
		t.CreatedNS, t.CreatedCPUNS, t.JoinNS, t.JoinCPUNS = a[1], a[2], a[3], a[4]
	}
}

type times struct {
	thread              profile.ThreadID
	begin, arrive, busy int64
}

func (r run) section(kind profile.SectionKind, waiter profile.ThreadID, instances ...[]times) run {
	s := profile.Section{Kind: kind, Site: 1}
	if kind == profile.Threads {
		s.Site = 0
	}
	for _, in := range instances {
		x := profile.Instance{Folded: 1, Waiter: waiter}
		for _, q := range in {
			x.Parts = append(x.Parts, profile.Part{Thread: q.thread, BeginNS: q.begin, ArriveNS: q.arrive, BusyNS: q.busy, Timed: true})
		}
		s.Instances = append(s.Instances, x)
	}
	r.Sections = append(r.Sections, s)
	return r
}

// path names the steps of the longest path: thread, stretch, section and length.
func path(t *testing.T, r run) (length int64, steps []string, g *Graph) {
	t.Helper()
	r.anchor()
	if err := r.CheckValid(); err != nil {
		t.Fatal(err)
	}
	g, err := New(r.Profile)
	if err != nil {
		t.Fatal(err)
	}
	checkGraph(t, r.Profile, g)
	p := g.Longest(nil)
	for _, s := range p.Steps {
		x := &g.Tasks[s.Task]
		steps = append(steps, fmt.Sprintf("%d %d-%d s%d %d", x.Thread, x.FromNS, x.ToNS, x.Of.Section, s.NS))
	}
	return p.NS, steps, g
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		name string
		r    run
		ns   int64
		want []string
	}{
		{"one thread", newRun(100).thread(0, 100, 60, 0, 0), 60, []string{"0 0-100 s-1 60"}},
		// The main thread works 10, creates two, joins them at 90 and works 10 more.
		{"create and join", newRun(100).thread(0, 100, 20, 0, 0).thread(10, 60, 50, 1, 90).thread(10, 90, 30, 1, 90).
			section(profile.Join, 0, []times{{1, 10, 60, 50}, {2, 10, 90, 30}}), 70,
			[]string{"0 0-10 s-1 10", "1 10-60 s0 50", "0 90-100 s-1 10"}},
		// Two rounds of a barrier in which another one is last each time; each had to
		// wait for a core for half of its time.
		{"barrier", newRun(100).thread(0, 100, 0, 0, 0).thread(0, 100, 40, 1, 100).thread(0, 100, 40, 1, 100).
			section(profile.Barrier, 0, []times{{1, 0, 60, 30}, {2, 0, 20, 10}}, []times{{1, 60, 80, 10}, {2, 60, 100, 30}}), 60,
			[]string{"1 0-60 s0 30", "2 60-100 s0 30"}},
		// A pool: the first thread prepares each round for 10, and waits.
		{"pool", newRun(100).thread(0, 100, 20, 0, 0).thread(0, 100, 70, 1, 0).
			section(profile.Join, 1, []times{{1, 10, 40, 30}}, []times{{1, 50, 90, 40}}), 90,
			[]string{"0 0-10 s-1 6", "1 10-40 s0 30", "0 40-50 s-1 7", "1 50-90 s0 40", "0 90-100 s-1 7"}},
		// The dispatcher takes part from 5 on; who is let go late does not depend on that.
		{"pool with its dispatcher", newRun(100).thread(0, 60, 55, 0, 0).thread(0, 60, 30, 1, 0).
			section(profile.Join, 1, []times{{0, 5, 50, 45}, {1, 30, 60, 30}}), 55,
			[]string{"0 0-5 s-1 5", "0 5-50 s0 45", "0 50-60 s-1 5"}},
		// Threads that create threads: the inner one is joined by a worker.
		{"nested", newRun(100).thread(0, 100, 10, 0, 0).thread(5, 90, 30, 1, 90).thread(20, 70, 50, 2, 70).
			section(profile.Join, 0, []times{{1, 5, 90, 30}, {2, 20, 70, 50}}), 90,
			[]string{"0 0-5 s-1 3", "1 5-20 s0 12", "2 20-70 s0 50", "1 70-90 s0 18", "0 90-100 s-1 7"}},
		// The same, where it is known when a thread created another and waited for it, and
		// how much it had done by then: thread 1 does 25 before it creates the other.
		{"nested, exactly", newRun(100).thread(0, 100, 10, 0, 0).anchored(4, 4, 80, 6).thread(5, 90, 30, 1, 90).anchored(35, 25, 35, 25).thread(40, 70, 30, 2, 70).
			section(profile.Join, 0, []times{{1, 5, 90, 30}, {2, 40, 70, 30}}), 68,
			[]string{"0 0-4 s-1 4", "1 5-35 s0 25", "2 40-70 s0 30", "1 70-90 s0 5", "0 90-100 s-1 4"}},
		// Nobody joins thread 1: the path ends with it.
		{"detached", newRun(100).thread(0, 40, 10, 0, 0).thread(10, 100, 80, 1, 0), 82, []string{"0 0-10 s-1 2", "1 10-100 s-1 80"}},
	} {
		ns, steps, _ := path(t, c.r)
		if ns != c.ns || !reflect.DeepEqual(steps, c.want) {
			t.Errorf("%s: %d %q, want %d %q", c.name, ns, steps, c.ns, c.want)
		}
	}
}

// TestNotKnown: what a profile does not say makes no graph.
func TestNotKnown(t *testing.T) {
	old := newRun(9).thread(0, 9, 9, 0, 0).thread(1, 9, 8, 0, 0)
	untimed := newRun(9).thread(0, 9, 9, 0, 0).thread(1, 9, 8, 1, 0).section(profile.Barrier, 0, []times{{0, 0, 0, 1}})
	folded := newRun(9).thread(0, 9, 9, 0, 0).thread(1, 9, 8, 1, 0).section(profile.Barrier, 0, []times{{0, 0, 5, 1}})
	folded.Sections[0].Instances[0].Folded = 2
	folded.Sections[0].Totals = folded.Sections[0].Instances[0].Parts
	for _, c := range []struct {
		r    run
		want error
	}{{old, ErrNoTies}, {untimed, ErrNoTimes}, {folded, ErrFolded}} {
		if _, err := New(c.r.Profile); !errors.Is(err, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
	if g, err := New(&profile.Profile{}); err != nil || g.Longest(nil).NS != 0 {
		t.Errorf("no threads: %v, %v", g, err)
	}
}

// checkGraph: what holds of every graph, whatever was measured.
func checkGraph(t *testing.T, p *profile.Profile, g *Graph) {
	t.Helper()
	sum, busy := make([]int64, len(p.Threads)), int64(0)
	for i := range g.Tasks {
		x := &g.Tasks[i]
		if x.NS < 0 || x.BusyNS < 0 || x.BusyNS > x.NS || x.NS > x.ToNS-x.FromNS {
			t.Fatalf("task %d: %+v", i, *x)
		}
		for _, d := range g.dependences(i) {
			if int(d) >= i || g.Tasks[d].ToNS > x.FromNS {
				t.Fatalf("task %d, %+v, depends on %d, %+v", i, *x, d, g.Tasks[d])
			}
		}
		if busy += x.BusyNS; x.Thread >= 0 {
			sum[x.Thread] += x.NS
		}
	}
	path := g.Longest(nil)
	if busy != g.BusyNS || g.BusyNS > path.NS*int64(len(p.Threads)) {
		t.Fatalf("work %d, or %d, on %d threads, span %d", g.BusyNS, busy, len(p.Threads), path.NS)
	}
	wall := p.Run.WallNS
	for i := range p.Threads {
		wall = max(wall, p.Threads[i].EndNS)
		if sum[i] > path.NS {
			t.Fatalf("thread %d takes %d, the path %d", i, sum[i], path.NS)
		}
	}
	if path.NS > wall-min(wall, g.FromNS) {
		t.Fatalf("a path of %d in a run of %d", path.NS, wall)
	}
	at, length, slack := int64(0), int64(0), g.Slack().Sections()
	for _, s := range path.Steps {
		x := &g.Tasks[s.Task]
		if x.FromNS < at {
			t.Fatalf("step %+v begins before %d", *x, at)
		}
		at, length = x.ToNS, length+s.NS
		if x.Of.Section >= 0 && slack[x.Of.Section] != 0 {
			t.Fatalf("the path leads through section %d, which has slack %d", x.Of.Section, slack[x.Of.Section])
		}
	}
	if length != path.NS {
		t.Fatalf("the steps of a path of %d take %d", path.NS, length)
	}
	if most := g.AtMost(); most < path.NS || most > wall-min(wall, g.FromNS) {
		t.Fatalf("a path of %d, at most %d, in a run of %d", path.NS, most, wall)
	}
	for of, left := range partSlack(g, p) {
		// What the part's first task takes longer, it takes longer as a whole.
		longer := func(by int64) int64 {
			done := false
			return g.Longest(func(t *Task) int64 {
				if t.Of == of && t.NS > 0 && !done {
					done = true
					return t.NS + by
				}
				return t.NS
			}).NS
		}
		if got := longer(left); got > path.NS {
			t.Fatalf("part %+v takes its slack of %d longer, and the path %d more", of, left, got-path.NS)
		}
		if left < slack[of.Section] {
			t.Fatalf("part %+v has slack %d, its section %d", of, left, slack[of.Section])
		}
		break // one of them, by chance
	}
	half := g.Longest(func(t *Task) int64 { return t.NS / 2 })
	if half.NS > path.NS/2 {
		t.Fatalf("halved: %d of %d", half.NS, path.NS)
	}
}

// partSlack is the slack of the parts that have one.
func partSlack(g *Graph, p *profile.Profile) map[Part]int64 {
	s, all := g.Slack(), map[Part]int64{}
	for x := range p.Sections {
		for i := range p.Sections[x].Instances {
			for k := range p.Sections[x].Instances[i].Parts {
				of := Part{int32(x), int32(i), int32(k)}
				if left, ok := s.Of(of); ok {
					all[of] = left
				}
			}
		}
	}
	return all
}

// TestSlack: by how much a section may take longer.
func TestSlack(t *testing.T) {
	// Thread 1 does 50 in a section, 2 and 3 do 30 and 20 in another.
	r := newRun(100).thread(0, 100, 0, 0, 0).thread(0, 50, 50, 1, 60).thread(0, 50, 30, 1, 60).thread(0, 50, 20, 1, 60).
		section(profile.Join, 0, []times{{1, 0, 50, 50}}).section(profile.Barrier, 0, []times{{2, 0, 50, 30}, {3, 0, 50, 20}}).
		section(profile.Barrier, 0)
	_, _, g := path(t, r)
	if got, want := partSlack(g, r.Profile), (map[Part]int64{{0, 0, 0}: 0, {1, 0, 0}: 20, {1, 0, 1}: 30}); !reflect.DeepEqual(got, want) {
		t.Errorf("parts' slack %v, want %v", got, want)
	}
	if got, want := g.Slack().Sections(), []int64{0, 20, -1}; !reflect.DeepEqual(got, want) {
		t.Errorf("slack %v, want %v", got, want)
	}
}

// TestWaits: what a thread waits for by itself is of its length, but the wait for
// those that it joins is not. The rest of its time it had no core.
func TestWaits(t *testing.T) {
	r := newRun(100).thread(0, 100, 20, 0, 0).thread(10, 60, 5, 1, 60).
		section(profile.Threads, 0, []times{{0, 0, 100, 20}, {1, 10, 60, 5}})
	q := &r.Sections[0].Instances[0].Parts[0]
	q.Waits = []profile.Wait{{Kind: profile.WaitJoin, NS: 50, N: 1}, {Kind: profile.WaitLock, NS: 10, N: 2}}
	ns, steps, g := path(t, r)
	if ns != 35 || g.BusyNS != 25 || g.Counts != (Tasks{Work: 4, Create: 1, Join: 1}) {
		t.Errorf("path %d %q, work %d, tasks %+v", ns, steps, g.BusyNS, g.Counts)
	}
}

// TestHandedOver: where it is known who ended a wait, the path leads through what
// that one did, and the wait is no length. Thread 2 waits for a lock that 1 has up to 50.
func TestHandedOver(t *testing.T) {
	r := newRun(100).thread(0, 100, 0, 0, 0).thread(0, 60, 60, 1, 0).thread(0, 100, 50, 1, 0).
		section(profile.Threads, 0, []times{{1, 0, 60, 60}, {2, 0, 100, 50}})
	q := &r.Sections[0].Instances[0].Parts[1]
	q.Waits = []profile.Wait{{Kind: profile.WaitLock, Site: 7, NS: 48, N: 1}}
	q.Syncs = []profile.Sync{{Kind: profile.WaitLock, Site: 7, BeginNS: 2, EndNS: 52, Thread: 1, WakeNS: 50}}
	ns, steps, g := path(t, r)
	if want := []string{"1 0-50 s0 50", "2 52-100 s0 48"}; g.AtMost() != 100 || g.SyncNS != 50 || ns != 98 || !reflect.DeepEqual(steps, want) || g.Counts.Sync != 1 || len(g.Longest(nil).Syncs) != 1 {
		t.Errorf("path %d %q, want %q; tasks %+v", ns, steps, want, g.Counts)
	}
}

// TestWindow: from behind the last instances that were added up.
func TestWindow(t *testing.T) {
	r := newRun(100).thread(0, 100, 10, 0, 0).thread(0, 100, 90, 1, 100).
		section(profile.Join, 1, []times{{1, 0, 40, 40}}, []times{{1, 50, 90, 40}})
	r.Sections[0].Instances[0] = profile.Instance{Folded: 2, Parts: []profile.Part{{Thread: 0, BusyNS: 45, Timed: true}}}
	r.Sections[0].Totals = []profile.Part{{Thread: 1, BusyNS: 85, Timed: true}}
	ns, steps, g := path(t, r)
	if g.FromNS != 50 || ns != 42 || len(steps) != 2 { // half of what is done outside of sections
		t.Errorf("from %d: %d %q", g.FromNS, ns, steps)
	}
}

// randomRun makes threads that create, meet, wait for each other and end, at random times.
func randomRun(r *rand.Rand) run {
	wall := 1 + r.Int64N(1000)
	out := newRun(wall)
	n := 1 + r.IntN(6)
	for i := range n {
		begin := r.Int64N(wall)
		if i == 0 {
			begin = 0
		}
		end := begin + r.Int64N(wall-begin+1)
		creator, joined := profile.ThreadID(0), int64(0)
		if i > 0 && (i == 1 || r.IntN(8) > 0) {
			creator = 1 + profile.ThreadID(r.IntN(i))
			if r.IntN(3) > 0 {
				joined = max(1, begin, begin+r.Int64N(wall-begin+1))
			}
		}
		out = out.thread(begin, end, r.Int64N(wall), creator, joined)
		if x := &out.Threads[i]; creator > 0 && r.IntN(2) == 0 {
			x.CreatedNS, x.CreatedCPUNS = r.Int64N(begin+1), r.Int64N(wall)
			if joined > 0 {
				x.JoinNS, x.JoinCPUNS = r.Int64N(joined+1), r.Int64N(wall)
			}
		}
	}
	for range r.IntN(4) {
		var ins [][]times
		for range 1 + r.IntN(5) {
			var in []times
			for i := range n {
				if r.IntN(3) == 0 {
					continue
				}
				a, b := 1+r.Int64N(wall), 1+r.Int64N(wall)
				in = append(in, times{profile.ThreadID(i), min(a, b), max(a, b), r.Int64N(wall)})
			}
			if len(in) > 0 {
				ins = append(ins, in)
			}
		}
		kind := []profile.SectionKind{profile.Barrier, profile.Join, profile.Threads}[r.IntN(3)]
		waiter := profile.ThreadID(0)
		if kind == profile.Join && r.IntN(2) == 0 {
			waiter = 1 + profile.ThreadID(r.IntN(n))
		}
		out = out.section(kind, waiter, ins...)
	}
	for s := range out.Sections {
		for i := range out.Sections[s].Instances {
			q := &out.Sections[s].Instances[i].Parts[0]
			q.Timed = r.IntN(9) > 0
			for at := q.BeginNS; r.IntN(3) > 0; {
				end := at + r.Int64N(wall)
				q.Syncs = append(q.Syncs, profile.Sync{Kind: profile.WaitLock, BeginNS: at, EndNS: end, Thread: profile.ThreadID(r.IntN(len(out.Threads))), WakeNS: r.Int64N(end + 1)})
				at += r.Int64N(wall)
			}
			if q.Waits = []profile.Wait{{Kind: profile.WaitJoin, NS: r.Int64N(99), N: 1}, {Kind: profile.WaitLock, NS: r.Int64N(99), N: 1}}; !q.Timed {
				q.BusyNS = 0
			}
		}
	}
	return out
}

// TestRandomRuns: what holds of every graph holds of any run, also where its
// times cannot be.
func TestRandomRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		p := randomRun(r)
		path(t, p)
		if t.Failed() {
			return
		}
	}
}
