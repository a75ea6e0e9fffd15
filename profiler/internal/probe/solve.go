package probe

import (
	"sort"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Solver turns counters into the counts of a profile's events, and holds the
// graph that these belong to. The graph grows while the program runs: an
// indirect call's edge appears with its first target.
type Solver struct {
	Graph  profile.Graph
	Events []profile.Event
	// Bad counts the solutions of each function that came out negative: a
	// fault of ours. Its counts are unknown from then on.
	Bad map[string]int

	s     *Spec
	bias  uint64
	funcs []solved
	byFn  map[*cfg.Func]int32
	pairs map[pair]int32 // (site, target) → number
	known []indirect     // by that number

	opens   []frame // by number: counter −1 − number
	openNum map[frame]int32

	weight  []weight // of each chord
	val     []int64
	entered []int64 // per function: entries not yet explained by a call
	touched []int32
	isTouch []bool
}

type pair struct {
	site   int
	target uint64
}

// frame is where a thread ended in a function.
type frame struct {
	fn   int32
	node int32
}

type indirect struct {
	event  profile.EventID // NoEvent: the target is not ours
	callee int32
}

// solved is one function as the solver sees it.
type solved struct {
	q           *plan
	first, last int32 // its counters
	eventOf     []profile.EventID
	entry       int32           // flow edge of the entry
	start       profile.EventID // of the START edge
	startKnown  bool
	calls       []callOf
	firstBlock  profile.BlockID
	hubBlock    map[int32]profile.BlockID // hubs that several switches share
}

// callOf is a known call in a function: as often as its flow edge.
type callOf struct {
	edge   int32
	callee int32
}

// NewSolver numbers the events. bias is the run-time less the link-time address.
func (s *Spec) NewSolver(bias uint64) *Solver {
	v := &Solver{s: s, bias: bias, Bad: map[string]int{}, byFn: map[*cfg.Func]int32{}, pairs: map[pair]int32{}, openNum: map[frame]int32{}}
	next := int32(0)
	for i, q := range s.moved {
		v.byFn[q.f] = int32(i)
		x := solved{q: q, first: next, start: profile.NoEvent, entry: q.w.byCfg[0]}
		for j := range q.w.edges {
			next = max(next, q.w.edges[j].counter+1)
		}
		x.last = next
		v.funcs = append(v.funcs, x)
	}
	v.buildGraph()
	v.weigh()
	v.entered = make([]int64, len(v.funcs))
	v.isTouch = make([]bool, len(v.funcs))
	return v
}

// Resolve makes a thread's deltas comparable between threads: counters of
// indirect calls, which each thread hands out by itself, become numbers of
// (site, target) pairs behind the chords.
func (v *Solver) Resolve(a *Area, d []Delta) []Delta {
	chords := int32(v.s.Layout.Chords)
	if n := len(d); n == 0 || d[n-1].Counter < chords { // in order, and no indirect call among them
		return d
	}
	out := d[:0]
	for _, x := range d {
		if x.Counter >= chords {
			site, target := a.Target(x.Counter)
			x.Counter = chords + v.pair(site, target)
		}
		out = append(out, x)
	}
	return Merge(out)
}

// Open returns a delta for a frame that its thread never left. The thread
// stood before the instruction at addr, or, with after, behind it: in the call
// that it makes. next is the address that would have come next in its block; 0
// where the block ends there. ok is false
// where no frame stays open: the address is not in a moved function, or the
// graph has an edge for this end.
func (v *Solver) Open(addr uint64, after bool) (d Delta, next uint64, ok bool) {
	f := v.s.Program.Owner(addr)
	if f == nil || !v.s.Moved(f) {
		return d, 0, false
	}
	i := sort.Search(len(f.Blocks), func(i int) bool { return f.Blocks[i].End > addr })
	if i == len(f.Blocks) || addr < f.Blocks[i].Start {
		return d, 0, false
	}
	b := f.Blocks[i]
	for i := range b.Calls {
		if c := &b.Calls[i]; after && addr >= c.Insn.Addr && addr < c.Insn.End() && (c.NoReturn || c.Leaves) {
			return d, 0, false
		}
	}
	// The block counts as entered once its counter was passed.
	node := out(b)
	next = addr
	k := 0
	for k < len(b.Insns) && b.Insns[k].End() <= addr {
		k++
	}
	if after {
		next = b.Insns[k].End()
		k++
	}
	w := v.s.byFunc[f].w
	if at, _ := probePoint(b); w.edges[w.self[b.ID]].counter >= 0 && (k < at || after && k == at) {
		node = in(b)
	}
	x := frame{v.byFn[f], node}
	n, known := v.openNum[x]
	if !known {
		n = int32(len(v.opens))
		v.openNum[x] = n
		v.opens = append(v.opens, x)
	}
	if next == b.End {
		next = 0
	}
	return Delta{-1 - n, 1}, next, true
}

// Inside returns what is missing in the induction counters of a thread that
// died in the loops around an instruction: the value of their registers. It
// reports false where it cannot be told whether the thread was still inside.
func (v *Solver) Inside(addr uint64, after bool, reg func(x86.Reg) uint64) ([]Delta, bool) {
	f := v.s.Program.Owner(addr)
	if f == nil || !v.s.Moved(f) {
		return nil, true
	}
	i := sort.Search(len(f.Blocks), func(i int) bool { return f.Blocks[i].End > addr })
	if i == len(f.Blocks) || addr < f.Blocks[i].Start {
		return nil, true
	}
	b := f.Blocks[i]
	var d []Delta
	w := v.s.byFunc[f].w
	for i := range w.edges {
		e := &w.edges[i]
		if e.induction == nil || !e.induction.loop.Blocks[b] {
			continue
		}
		if last := b.Last(); after && addr == last.Addr { // on an edge, before or behind its code
			v.Bad[f.Name]++
			return nil, false
		}
		d = append(d, Delta{e.counter, reg(e.induction.reg)})
	}
	return d, true
}

func (v *Solver) pair(site int, target uint64) int32 {
	k := pair{site, target}
	if n, ok := v.pairs[k]; ok {
		return n
	}
	n := int32(len(v.known))
	v.pairs[k] = n
	ind := indirect{event: profile.NoEvent, callee: -1}
	s := v.s.Sites[site]
	if g := v.s.Program.FuncAt(target - v.bias); g != nil && v.s.Moved(g) {
		ind.callee = v.byFn[g]
		kind := profile.Indirect
		if s.Tail {
			kind = profile.TailCall
		}
		from := v.blockID(s.Block)
		ind.event = v.addEdge(from, v.blockID(g.Entry), kind, s.Addr, true)
	}
	v.known = append(v.known, ind)
	return n
}

// Solve returns the counts of a list of resolved deltas.
func (v *Solver) Solve(d []Delta) profile.Counts {
	var c counts
	v.touched = v.touched[:0]
	open := map[int32]map[int32]int64(nil) // by function, by node
	i := 0
	for ; i < len(d) && d[i].Counter < 0; i++ {
		k := v.opens[-1-d[i].Counter]
		if open == nil {
			open = map[int32]map[int32]int64{}
		}
		if open[k.fn] == nil {
			open[k.fn] = map[int32]int64{}
		}
		open[k.fn][k.node] += int64(d[i].N)
	}
	for i < len(d) && int(d[i].Counter) < v.s.Layout.Chords {
		fi := int32(sort.Search(len(v.funcs), func(k int) bool { return v.funcs[k].last > d[i].Counter }))
		j := i
		for j < len(d) && d[j].Counter < v.funcs[fi].last {
			j++
		}
		v.solveFunc(fi, d[i:j], open[fi], &c)
		delete(open, fi)
		i = j
	}
	for fi, o := range open { // entered and never left without passing a counter
		v.solveFunc(fi, nil, o, &c)
	}
	for ; i < len(d); i++ {
		if k := v.known[int(d[i].Counter)-v.s.Layout.Chords]; k.callee >= 0 {
			v.touch(k.callee)
			v.entered[k.callee] -= int64(d[i].N)
			c.add(k.event, int64(d[i].N))
		}
	}
	for _, fi := range v.touched {
		if n := v.entered[fi]; n > 0 {
			c.add(v.funcs[fi].start, n)
		}
		v.entered[fi], v.isTouch[fi] = 0, false
	}
	sort.Sort(&c)
	return profile.Counts{Event: c.e, N: c.n}
}

func (v *Solver) touch(fi int32) {
	if !v.isTouch[fi] {
		v.isTouch[fi] = true
		v.touched = append(v.touched, fi)
	}
}

func (v *Solver) solveFunc(fi int32, d []Delta, open map[int32]int64, c *counts) {
	x := &v.funcs[fi]
	w := x.q.w
	if cap(v.val) < len(w.edges) {
		v.val = make([]int64, 2*len(w.edges))
	}
	val := v.val[:len(w.edges)]
	clear(val)
	for i := range w.edges {
		if k := w.edges[i].counter; k >= 0 {
			at := sort.Search(len(d), func(j int) bool { return d[j].Counter >= k })
			if at < len(d) && d[at].Counter == k {
				val[i] = int64(d[at].N)
				if iv := w.edges[i].induction; iv != nil {
					if val[i]%iv.step != 0 {
						v.Bad[x.q.f.Name]++
						return
					}
					val[i] /= iv.step
				}
			}
		}
	}
	w.solve(val, open)
	for i, e := range x.eventOf {
		if e == profile.NoEvent {
			continue
		}
		if val[i] < 0 {
			v.Bad[x.q.f.Name]++
			return
		}
	}
	for i, e := range x.eventOf {
		if e != profile.NoEvent && val[i] > 0 {
			c.add(e, val[i])
		}
	}
	if !w.edges[x.entry].unknown {
		v.touch(fi)
		v.entered[fi] += val[x.entry]
	}
	for _, k := range x.calls {
		if val[k.edge] != 0 {
			v.touch(k.callee)
			v.entered[k.callee] -= val[k.edge]
		}
	}
}

// counts collects events before they are sorted.
type counts struct {
	e []profile.EventID
	n []uint64
}

func (c *counts) add(e profile.EventID, n int64) {
	if e != profile.NoEvent {
		c.e, c.n = append(c.e, e), append(c.n, uint64(n))
	}
}
func (c *counts) Len() int           { return len(c.e) }
func (c *counts) Less(i, j int) bool { return c.e[i] < c.e[j] }
func (c *counts) Swap(i, j int)      { c.e[i], c.e[j] = c.e[j], c.e[i]; c.n[i], c.n[j] = c.n[j], c.n[i] }

// EntryEvent is the event that counts a function's entry block; NoEvent when
// unknown.
func (v *Solver) EntryEvent(f *cfg.Func) profile.EventID {
	return v.Graph.Blocks[v.blockID(f.Entry)].Count
}
