package solve

import (
	"encoding/binary"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// process is two modules, the second loaded as a library, with the solver of
// their counters.
type process struct {
	specs  []*relocate.Spec
	mods   []Module
	layout threadarea.Layout
	v      *Solver
	truth  map[*relocate.Plan]*walked
}

// walked is a function that was walked through: its network, and how often each
// of its edges was passed.
type walked struct {
	m     *Module
	q     *relocate.Plan
	w     *placement.Network
	truth []int64
}

func newProcess(t *testing.T) *process {
	programs := probetest.Programs(t)
	return processOf(t, programs[0], programs[len(programs)-1])
}

func processOf(t *testing.T, paths ...string) *process {
	p := &process{truth: map[*relocate.Plan]*walked{}}
	from := relocate.Numbers{}
	for i, path := range paths {
		s := relocate.New(probetest.Open(t, path), probetest.NoHooks, probe.Options{Caches: probe.Front{Sets: 64, Shift: 6}}, from)
		if _, err := s.Assemble(s.Home()); err != nil {
			t.Fatal(err)
		}
		p.specs = append(p.specs, s)
		p.mods = append(p.mods, Module{Spec: s, Bias: 0x555500000000 + uint64(i)<<32, Base: uint64(i) * uint64(profile.LibraryStep)})
		from = s.Next()
	}
	var funcs []threadarea.Function
	for _, s := range p.specs {
		funcs = append(funcs, s.Functions()...)
	}
	p.layout = threadarea.NewLayout(funcs, from.Op)
	p.v = New(p.layout, p.mods...)
	return p
}

// each calls do for every moved function, with its network.
func (p *process) each(do func(x *walked)) {
	for i := range p.mods {
		m := &p.mods[i]
		for _, q := range m.Spec.Plans() {
			x := p.truth[q]
			if x == nil {
				x = &walked{m: m, q: q, w: m.Spec.Counters(q, m.Spec.Program.Graph(q.Func, nil), nil)}
				x.w.MarkUnknown()
				x.truth = make([]int64, len(x.w.Edges))
				p.truth[q] = x
			}
			do(x)
		}
	}
}

// deltas are what the counters would have counted.
func (p *process) deltas() (d []record.Delta) {
	p.each(func(x *walked) {
		for i := range x.w.Edges {
			if e := &x.w.Edges[i]; e.Counter >= 0 && x.truth[i] != 0 {
				step := int64(1)
				if e.Induction != nil {
					step = e.Induction.Step
				}
				d = append(d, record.Delta{Counter: e.Counter, N: uint64(x.truth[i] * step)})
			}
		}
	})
	return record.Merge(d)
}

// solved are counts with the numbers that the graph has.
type counted struct {
	g profile.Graph
	n []int64 // by event
}

func (p *process) count(c profile.Counts) *counted {
	g, events, number := p.v.Graph()
	x := &counted{g: g, n: make([]int64, len(events))}
	for i, e := range c.Event {
		if to := number[e]; to != profile.NoEvent {
			x.n[to] += int64(c.N[i])
		}
	}
	return x
}

// of is an event's count; −1: it is not known.
func (x *counted) of(e profile.EventID) int64 {
	if e == profile.NoEvent {
		return -1
	}
	return x.n[e]
}

// function returns the blocks of a function in the graph.
func (x *counted) function(w *walked) (first profile.BlockID, blocks []profile.Block) {
	entry := profile.Addr(w.q.Func.Ranges[0].Lo + w.m.Base)
	for _, f := range x.g.Functions {
		if f.Entry == entry {
			return f.First, x.g.Blocks[f.First : f.First+profile.BlockID(f.N)]
		}
	}
	return 0, nil
}

// check compares the blocks' counts with the truth, and those of the edges
// with their blocks'.
func (p *process) check(t *testing.T, x *counted) {
	t.Helper()
	if bad := p.v.Bad(); bad != nil {
		t.Fatalf("impossible counts in %v", bad)
	}
	out := make([]int64, len(x.g.Blocks)) // sums over the edges; −1 once one is unknown
	in := slices.Clone(out)
	sum := func(to *int64, n int64) {
		if n < 0 || *to < 0 {
			*to = -1
		} else {
			*to += n
		}
	}
	for _, e := range x.g.Edges {
		if e.Kind == profile.Call || e.Kind == profile.Indirect {
			continue
		}
		if e.From != profile.NoBlock {
			sum(&out[e.From], x.of(e.Count))
		}
		if e.To != profile.NoBlock && e.Kind != profile.Start && e.Kind != profile.TailCall {
			sum(&in[e.To], x.of(e.Count))
		}
	}
	p.each(func(w *walked) {
		first, blocks := x.function(w)
		for _, b := range w.w.Graph.Blocks {
			if len(blocks) == 0 {
				for i := range w.w.Edges {
					if w.w.Edges[i].Counter >= 0 && w.truth[i] != 0 {
						t.Fatalf("%s counted and is not in the graph", w.q.Func.Name)
					}
				}
				continue
			}
			n := x.of(blocks[b.ID].Count)
			truth := w.truth[w.w.Block(b)]
			if unknown := w.w.Edges[w.w.Block(b)].Unknown; unknown != (n < 0) && !saysNever(b, n) || !unknown && n != truth {
				t.Fatalf("%s: the block at %#x ran %d times, solved as %d", w.q.Func.Name, b.Start, truth, n)
			}
			at := first + profile.BlockID(b.ID)
			if slices.ContainsFunc(b.Succ, uncounted) || len(relocate.TailEdges(b)) > 0 { // callees that were not walked through are not there
				out[at] = -1
			}
			if slices.ContainsFunc(b.Pred, uncounted) {
				in[at] = -1
			}
			if n >= 0 && out[at] >= 0 && out[at] != n {
				t.Fatalf("%s: the block at %#x ran %d times and was left %d times", w.q.Func.Name, b.Start, n, out[at])
			}
			if n >= 0 && in[at] >= 0 && b != w.w.Graph.Entry && in[at] != n {
				t.Fatalf("%s: the block at %#x ran %d times and was entered %d times", w.q.Func.Name, b.Start, n, in[at])
			}
		}
	})
}

// uncounted is true for edges that the profile's graph does not have.
func uncounted(e *cfg.Edge) bool { return e.Kind == cfg.Caught || e.Kind == cfg.Resumed }

// worth is the instructions of all blocks whose count is known.
func (p *process) worth() uint64 {
	return p.sum(func(b *cfg.Block) int {
		if b.Spin {
			return 0
		}
		return len(b.Insns)
	})
}

// sum adds up what the blocks that were walked through are worth.
func (p *process) sum(worth func(*cfg.Block) int) (n uint64) {
	p.each(func(x *walked) {
		for _, b := range x.w.Graph.Blocks {
			if i := x.w.Block(b); !x.w.Edges[i].Unknown {
				n += uint64(x.truth[i]) * uint64(worth(b))
			}
		}
	})
	return n
}

// walkAll walks through a third of all functions.
func (p *process) walkAll(r *rand.Rand) {
	p.each(func(x *walked) {
		if x.q.Number%3 == 0 {
			for range 3 {
				walk(r, x.w, x.truth)
			}
		}
	})
}

// TestWakes: how often counters say that somebody was woken.
func TestWakes(t *testing.T) {
	out, err := exec.Command("g++", "-print-file-name=libstdc++.so.6").Output()
	if err != nil {
		t.Fatal(err)
	}
	p := processOf(t, strings.TrimSpace(string(out)))
	p.each(func(x *walked) {
		r := rand.New(rand.NewPCG(13, uint64(x.q.Number)))
		for range 20 {
			walk(r, x.w, x.truth)
		}
	})
	wakes := regexp.MustCompile("^(pthread_cond_(signal|broadcast)|_ZNSt18condition_variable10notify_(one|all)Ev|writev?|send)$")
	// These ask the system for nothing else; the library's others that ask it wait.
	asks := regexp.MustCompile("^(__cxa_guard_(abort|release)|_ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj)$")
	im := p.mods[0].Spec.Program.Image
	calls := func(b *cfg.Block, which *regexp.Regexp) (n int) {
		var names []string
		if b.Last().Kind.IsJump() {
			names = append(names, im.PLT[b.Last().Target])
		}
		for i := range b.Calls {
			names = append(names, b.Calls[i].Import)
		}
		for _, name := range names {
			if which.MatchString(name) {
				n++
			}
		}
		return n
	}
	system := func(b *cfg.Block) int {
		if f := im.FuncAt(b.Start); f == nil || !asks.MatchString(f.Name) {
			return 0
		}
		return calls(b, regexp.MustCompile("^syscall$"))
	}
	want := p.sum(func(b *cfg.Block) int {
		n := calls(b, wakes) + system(b)
		if len(b.Succ) > 1 { // who looks whether there is somebody to wake has handed work out
			for _, e := range b.Succ {
				if e.To != nil {
					n += system(e.To)
				}
			}
		}
		return n
	})
	if got := p.v.Wakes(p.deltas()); got != want || want == 0 {
		t.Errorf("%d calls that let threads go on, want %d", got, want)
	}
}

// TestSolveProcess solves what all functions of two modules counted, and looks
// at what comes out as a reader of the profile does.
func TestSolveProcess(t *testing.T) {
	p := newProcess(t)
	p.walkAll(rand.New(rand.NewPCG(11, 12)))
	d := p.deltas()
	if got, want := p.v.Work(d), p.worth(); got != want {
		t.Errorf("%d instructions of work, want %d", got, want)
	}
	c := p.v.Solve(d)
	x := p.count(c)
	p.check(t, x)

	calls := map[*relocate.Plan]int64{} // of each function, by known calls
	p.each(func(w *walked) {
		for _, b := range w.w.Graph.Blocks {
			for i := range b.Calls {
				if q := w.m.Spec.Plan(b.Calls[i].Callee); q != nil {
					calls[q] += w.truth[w.w.Block(b)]
				}
			}
			for _, e := range relocate.TailEdges(b) {
				if f := w.m.Spec.Program.FuncAt(b.Last().Target); f != nil && w.m.Spec.Plan(f) != nil {
					calls[w.m.Spec.Plan(f)] += w.truth[w.w.Edge(e)]
				}
			}
		}
	})
	starts := 0
	p.each(func(w *walked) {
		_, blocks := x.function(w)
		if len(blocks) == 0 {
			return
		}
		entered := p.v.Entered(c, w.q.Func.Ranges[0].Lo+w.m.Base)
		if n := x.of(blocks[w.w.Graph.Entry.ID].Count); entered != (n > 0) {
			t.Errorf("%s: entered %v, %d times", w.q.Func.Name, entered, n)
		}
		for _, e := range x.g.Edges {
			if e.Kind != profile.Start || x.g.Blocks[e.To].Start != profile.Addr(w.w.Graph.Entry.Start+w.m.Base) || x.of(e.Count) < 0 {
				continue
			}
			starts++
			if want := max(0, w.truth[w.w.Edge(w.w.Graph.Edges[0])]-calls[w.q]); x.of(e.Count) != want {
				t.Errorf("%s: started %d times, want %d", w.q.Func.Name, x.of(e.Count), want)
			}
			break
		}
	})
	if starts < 100 {
		t.Errorf("only %d functions were started", starts)
	}
	if p.v.Entered(c, 1) || p.v.Entered(c, p.specs[0].Plans()[0].Func.Ranges[0].Lo+1) {
		t.Error("entered where no function is")
	}
	for _, d := range p.v.Departures() {
		i := int(d.Site / profile.LibraryStep)
		if !slices.ContainsFunc(slices.Collect(plts(p.specs[i])), func(n string) bool { return n == d.Name }) {
			t.Errorf("a jump to %s, which %s does not import", d.Name, p.specs[i].Program.Image.Path)
		}
	}
}

func plts(s *relocate.Spec) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, n := range s.Program.Image.PLT {
			if !yield(n) {
				return
			}
		}
	}
}

// TestActiveFrames ends walks in the middle: with a frame's delta, the counts
// are those of what was passed.
func TestActiveFrames(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	p := newProcess(t)
	var frames []record.Delta
	inCalls := 0
	p.each(func(x *walked) {
		if x.q.Number%5 != 0 || inInduction(x.w, x.w.Graph.Entry) {
			return
		}
		b := walkTo(r, x.w, x.truth)
		if e := &x.w.Edges[x.w.Block(b)]; e.Induction != nil || inInduction(x.w, b) {
			t.Fatalf("walked into a loop that counts by induction")
		}
		if r.IntN(4) == 0 { // it has come to the block, and nothing is counted there
			d, next, ok := p.v.ActiveFrame(b.Start+x.m.Base, relocate.Arrives)
			if !ok || next != b.Start+x.m.Base {
				t.Fatalf("%s: no frame stays active where control comes to %#x", x.q.Func.Name, b.Start)
			}
			frames = append(frames, d)
			return
		}
		k, after := r.IntN(len(b.Insns)), r.IntN(2) == 0
		in, how := &b.Insns[k], relocate.Before
		if after {
			how = relocate.After
		}
		d, next, ok := p.v.ActiveFrame(in.Addr+x.m.Base, how)
		if after && slices.ContainsFunc(b.Calls, func(c cfg.Call) bool { return c.Insn == in && (c.NoReturn || c.Leaves) }) {
			inCalls++
			if ok {
				t.Fatalf("%s: a frame stays active at %#x, in a call that may not come back", x.q.Func.Name, in.Addr)
			}
			// As if the call had not begun.
			after = false
			d, next, ok = p.v.ActiveFrame(in.Addr+x.m.Base, relocate.Before)
		}
		want := in.Addr
		if after {
			want = in.End()
			k++
		}
		if want += x.m.Base; want == b.End+x.m.Base {
			want = 0
		}
		if !ok || next != want {
			t.Fatalf("%s: at %#x, after %v: next is %#x %v, want %#x", x.q.Func.Name, in.Addr, after, next, ok, want)
		}
		frames = append(frames, d)
		// The block's counter stands before the instruction at the counting point.
		if at, _ := placement.CountingPoint(b); x.w.Edges[x.w.Block(b)].Counter < 0 || k > at || k == at && !after {
			x.truth[x.w.Block(b)]++
		}
	})
	d := record.Merge(append(p.deltas(), frames...))
	c := p.v.Solve(d)
	p.checkActive(t, p.count(c))
	if got, want := p.v.Work(d), p.worth(); got != want {
		t.Errorf("%d instructions of work, want %d", got, want)
	}
	if inCalls == 0 {
		t.Error("no thread ended in a call")
	}
	if _, _, ok := p.v.ActiveFrame(3, relocate.Arrives); ok {
		t.Error("a frame stays active outside of all modules")
	}
	if _, _, ok := p.v.ActiveFrame(p.specs[0].Program.Image.Lowest, relocate.Before); ok {
		t.Error("a frame stays active where no function is")
	}
}

// checkActive compares the blocks' counts with the truth.
func (p *process) checkActive(t *testing.T, x *counted) {
	t.Helper()
	if bad := p.v.Bad(); bad != nil {
		t.Fatalf("impossible counts in %v", bad)
	}
	p.each(func(w *walked) {
		_, blocks := x.function(w)
		for _, b := range w.w.Graph.Blocks {
			if len(blocks) == 0 {
				continue
			}
			if n := x.of(blocks[b.ID].Count); n >= 0 && n != w.truth[w.w.Block(b)] && !saysNever(b, n) {
				t.Fatalf("%s: the block at %#x ran %d times, solved as %d", w.q.Func.Name, b.Start, w.truth[w.w.Block(b)], n)
			}
		}
	})
}

func inInduction(w *placement.Network, b *cfg.Block) bool {
	for i := range w.Edges {
		if v := w.Edges[i].Induction; v != nil && v.Loop.Has(b) {
			return true
		}
	}
	return false
}

// walkTo walks from the entry for a while, outside of loops that count by
// induction, and returns the block in which it stops; that one is entered, and
// not counted.
func walkTo(r *rand.Rand, w *placement.Network, count []int64) *cfg.Block {
	e := w.Graph.Edges[0]
	pass(w, e, count)
	for n := r.IntN(20); n > 0; n-- {
		var ways []*cfg.Edge
		for _, s := range e.To.Succ {
			if s.To != nil && !inInduction(w, s.To) {
				ways = append(ways, s)
			}
		}
		if len(ways) == 0 {
			break
		}
		count[w.Block(e.To)]++
		e = ways[r.IntN(len(ways))]
		pass(w, e, count)
	}
	return e.To
}

// pass counts an edge of the graph in its network.
func pass(w *placement.Network, e *cfg.Edge, count []int64) {
	if i := w.Edge(e); i >= 0 {
		count[i]++
		return
	}
	count[w.IntoHub(e.From)]++
	count[w.FromHub(e.To)]++
}

// TestActiveLoops: a thread that ends in a loop lacks the value of its register, up to
// where that is counted on the way out, and from where it is on the way in.
func TestActiveLoops(t *testing.T) {
	p := newProcess(t)
	reg := func(r x86.Reg) uint64 { return 1000 + uint64(r) }
	loops, edges := 0, 0
	p.each(func(x *walked) {
		for i := range x.w.Edges {
			e := &x.w.Edges[i]
			if e.Induction == nil || loops > 200 {
				continue
			}
			loops++
			b := e.Induction.Loop.Head
			lacks := func(at uint64, how relocate.How, want bool) {
				d := p.v.ActiveLoops(at+x.m.Base, how, reg)
				if slices.Contains(d, record.Delta{Counter: e.Counter, N: reg(e.Induction.Reg)}) != want {
					t.Errorf("%s: at %#x, %#x: %v, want that of register %d: %v", x.q.Func.Name, at, how, d, e.Induction.Reg, want)
				}
			}
			lacks(b.Start, relocate.Before, true)
			lacks(b.Last().Addr, relocate.After, true)
			for j := range x.w.Edges {
				way := x.w.Edges[j].Way()
				k := slices.IndexFunc(x.w.Updates(way), func(u placement.Update) bool { return u.Counter == e.Counter })
				if way == nil || way.From == nil || k < 0 {
					continue
				}
				before := 0 // executed on the edge before this one
				for n, u := range x.w.Updates(way) {
					if leaves := x.w.Updates(way)[k].Add; u.Add && !leaves || u.Add == leaves && n < k {
						before++
					}
				}
				if x.w.Edges[j].Counter >= 0 && !x.w.Updates(way)[k].Add {
					before++
				}
				edges++
				lacks(way.From.Last().Addr, relocate.On(int32(j), before), x.w.Updates(way)[k].Add)
				lacks(way.From.Last().Addr, relocate.On(int32(j), before+1), !x.w.Updates(way)[k].Add)
			}
		}
		if !inInduction(x.w, x.w.Graph.Entry) {
			if d := p.v.ActiveLoops(x.w.Graph.Entry.Start+x.m.Base, relocate.Before, reg); d != nil {
				t.Errorf("%s: outside of loops: %v", x.q.Func.Name, d)
			}
		}
	})
	if loops == 0 || edges < loops {
		t.Errorf("%d loops count by induction, on %d edges", loops, edges)
	}
	if d := p.v.ActiveLoops(3, relocate.Before, reg); d != nil {
		t.Errorf("outside of all modules: %v", d)
	}
}

// TestIndirectCalls: targets that each thread numbers by itself become edges
// from the calling block, and explain entries of what they call.
func TestIndirectCalls(t *testing.T) {
	p := newProcess(t)
	mem := make([]byte, p.layout.Size())
	common := threadarea.NewCommon(p.layout, make([]byte, p.layout.Size()), 0x6000000000)
	area := threadarea.New(common, mem, 0x7000000000, 0, 1<<62, 0)
	var d []record.Delta
	type want struct {
		site, callee uint64
		n            int64
	}
	var wants []want
	callee := p.mods[1].Spec.Plans()[7]
	ran := false
	p.each(func(x *walked) {
		n := x.q.Site
		x.m.Spec.Sites(x.q, x.w.Graph, func(b *cfg.Block, c *cfg.Call) {
			at := b.Last().Addr
			if c != nil {
				at = c.Insn.Addr
			}
			if n%50 == 0 {
				target := callee.Func.Ranges[0].Lo + p.mods[1].Bias
				if n%100 == 0 {
					target = 0x1234 // not ours
				} else {
					wants = append(wants, want{at + x.m.Base, callee.Func.Ranges[0].Lo + p.mods[1].Base, int64(n) + 1})
				}
				binary.LittleEndian.PutUint64(mem[p.layout.TargetOffset()+32*uint32(n):], target)
				d = append(d, record.Delta{Counter: int32(p.layout.Chords) + 2*n, N: uint64(n) + 1})
			}
			n++
		})
	})
	if len(wants) < 5 {
		t.Fatalf("only %d indirect calls", len(wants))
	}
	p.each(func(x *walked) {
		if x.q == callee {
			walk(rand.New(rand.NewPCG(17, 18)), x.w, x.truth)
			ran = x.truth[x.w.Edge(x.w.Graph.Edges[0])] == 1
		}
	})
	d = append(p.deltas(), d...)
	first := slices.Clone(d)
	resolved := p.v.Resolve(area, d)
	if again := p.v.Resolve(area, first); !slices.Equal(again, resolved) {
		t.Error("resolved again, pairs have other numbers")
	}
	if d := p.v.Resolve(area, nil); d != nil {
		t.Errorf("nothing resolves to %v", d)
	}
	c := p.v.Solve(resolved)
	x := p.count(c)
	for _, w := range wants {
		found := false
		for _, e := range x.g.Edges {
			if (e.Kind == profile.Indirect || e.Kind == profile.TailCall) && uint64(e.Site) == w.site && e.To != profile.NoBlock && uint64(x.g.Blocks[e.To].Start) == w.callee {
				found = x.of(e.Count) == w.n
			}
		}
		if !found {
			t.Errorf("no edge from %#x to %#x with %d calls", w.site, w.callee, w.n)
		}
	}
	for _, e := range x.g.Edges {
		if e.Kind == profile.Start && uint64(x.g.Blocks[e.To].Start) == callee.Func.Ranges[0].Lo+p.mods[1].Base && (!ran || x.of(e.Count) > 0) {
			t.Errorf("%s was started %d times, but only ever called", callee.Func.Name, x.of(e.Count))
		}
	}
	p.v.Moved(1, 0)
	if p.v.mods[1].Bias != 0 {
		t.Error("the module has not moved")
	}
}

// saysNever: a block calls a function, and is taken to be never executed because that
// was never entered. Walks do not follow calls.
func saysNever(b *cfg.Block, n int64) bool {
	return n == 0 && slices.ContainsFunc(b.Calls, func(c cfg.Call) bool { return c.Callee != nil })
}

// TestImpossibleCounts are told and left out, of the function that has them only.
func TestImpossibleCounts(t *testing.T) {
	p := newProcess(t)
	p.walkAll(rand.New(rand.NewPCG(15, 16)))
	var broken *walked
	p.each(func(x *walked) {
		for i := range x.w.Edges {
			if v := x.w.Edges[i].Induction; broken == nil && v != nil && v.Step > 1 {
				broken = x
			}
		}
	})
	d := p.deltas()
	for range 2 {
		if p.v.Check(record.Merge(slices.Clone(d))); p.v.Bad() != nil {
			t.Errorf("what was walked is impossible in %v", p.v.Bad())
		}
	}
	for i := range broken.w.Edges {
		if e := &broken.w.Edges[i]; e.Induction != nil && e.Induction.Step > 1 {
			d = append(d, record.Delta{Counter: e.Counter, N: 1}) // no multiple of what it counts by
			break
		}
	}
	d = record.Merge(d)
	for _, find := range []func(){func() { p.v.Check(d) }, func() { p.v.Solve(d) }} {
		clear(p.v.broken)
		find()
		if bad := p.v.Bad(); !slices.Equal(bad, []string{broken.q.Func.Name}) {
			t.Errorf("impossible counts in %v, want %s", bad, broken.q.Func.Name)
		}
	}
	x := p.count(p.v.Solve(d))
	_, blocks := x.function(broken)
	for _, b := range blocks {
		if b.Count != profile.NoEvent {
			t.Errorf("a block of %s is counted", broken.q.Func.Name)
		}
	}
}
