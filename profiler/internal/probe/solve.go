package probe

import (
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Solver turns counters into the counts of a profile's events. What it needs
// of a function it makes when the first counts of that function appear: a
// large program runs a small part of itself. So events are numbered in the
// order of their appearance; Graph gives them their numbers in the profile.
type Solver struct {
	mods   []Module
	plans  []*plan
	funcs  []*solved // by the same number; nil: not seen yet
	events []event
	exits  []Departure
	bad    map[int32]bool // functions with impossible counts: a fault of ours
	pairs  map[pair]int32 // (site, target) → number
	known  []indirect     // by that number

	opens   []frame // by number: counter −1 − number
	openNum map[frame]int32

	chords  int
	weight  []weight // of each chord; step 0: not known yet
	val     []int64
	entered []int64 // per function: entries not yet explained by a call
	touched []int32
	isTouch []bool
	space   cfg.Space
}

// Module is a program or library that was moved.
type Module struct {
	Spec *Spec
	// Bias is how far it was loaded from its link-time addresses, Base how far
	// those lie from the profile's: 0 for the program.
	Bias, Base uint64
}

// Moved says that a module, by its number, was loaded elsewhere.
func (v *Solver) Moved(module int, bias uint64) { v.mods[module].Bias = bias }

func (m *Module) holds(a uint64) bool {
	im := m.Spec.Program.Image
	return a-m.Base >= im.Lowest && a-m.Base < im.Highest
}

// Departure is a jump out of the modules, to a library function of that name,
// and the event that counts it.
type Departure struct {
	Site  profile.Addr
	Name  string
	Event profile.EventID
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

// event is what an event counts, until the profile's numbers are known.
type event struct {
	fn    int32
	block int32 // −1: an edge
	edge  int32
	insns int32 // worth of one, in instructions
}

// NewSolver prepares for the counters of some modules.
func NewSolver(layout Layout, mods ...Module) *Solver {
	v := &Solver{mods: mods, chords: layout.Chords, bad: map[int32]bool{}, pairs: map[pair]int32{}, openNum: map[frame]int32{}}
	for _, m := range mods {
		v.plans = append(v.plans, m.Spec.moved...)
	}
	v.funcs = make([]*solved, len(v.plans))
	v.weight = make([]weight, layout.Chords)
	v.entered = make([]int64, len(v.plans))
	v.isTouch = make([]bool, len(v.plans))
	return v
}

// module returns the module that an address of the profile belongs to, and the
// link-time address there.
func (v *Solver) module(addr uint64) (*Module, uint64) {
	for i := range v.mods {
		if m := &v.mods[i]; m.holds(addr) {
			return m, addr - m.Base
		}
	}
	return nil, 0
}

// planAt returns the plan of the function that holds an address of the
// profile, if it was moved, its module, and the link-time address.
func (v *Solver) planAt(addr uint64) (q *plan, m *Module, link uint64) {
	m, link = v.module(addr)
	if m == nil {
		return nil, nil, 0
	}
	if f := m.Spec.Program.Owner(link); f != nil {
		q = m.Spec.byFunc[f]
	}
	return q, m, link
}

// moduleOf returns the module of a function, by its number.
func (v *Solver) moduleOf(fn int32) *Module {
	i := sort.Search(len(v.mods), func(i int) bool { return v.mods[i].Spec.next.Function > fn })
	return &v.mods[i]
}

// chordOwner returns the number of the function that a chord's counter belongs to.
func (v *Solver) chordOwner(counter int32) int32 {
	return int32(sort.Search(len(v.plans), func(k int) bool { return v.plans[k].after > counter }))
}

// Resolve makes a thread's deltas comparable between threads: counters of
// indirect calls, which each thread hands out by itself, become numbers of
// (site, target) pairs behind the chords.
func (v *Solver) Resolve(a *Area, d []record.Delta) []record.Delta {
	chords := int32(v.chords)
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
	return record.Merge(out)
}

// Open returns a delta for a frame that its thread never left. Addresses are
// the profile's. The thread stood before the instruction at addr, or, with after, behind it: in the call
// that it makes. next is the address that would have come next in its block; 0
// where the block ends there. ok is false
// where no frame stays open: the address is not in a moved function, or the
// graph has an edge for this end.
func (v *Solver) Open(addr uint64, after bool) (d record.Delta, next uint64, ok bool) {
	q, m, addr := v.planAt(addr)
	if q == nil {
		return d, 0, false
	}
	x := v.load(q.number)
	b := m.Spec.Program.Graph(q.f, &v.space).BlockOf(addr)
	if b == nil {
		return d, 0, false
	}
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
	at, _ := probePoint(b)
	if x.edges[x.self(b.ID)].counter >= 0 && (k < at || after && k == at) {
		node = in(b)
	}
	stood := frame{q.number, node}
	n, known := v.openNum[stood]
	if !known {
		n = int32(len(v.opens))
		v.openNum[stood] = n
		v.opens = append(v.opens, stood)
	}
	if next == b.End {
		return record.Delta{Counter: -1 - n, N: 1}, 0, true
	}
	return record.Delta{Counter: -1 - n, N: 1}, next + m.Base, true
}

// Inside returns what is missing in the induction counters of a thread that
// died in the loops around an instruction: the value of their registers. It
// reports false where it cannot be told whether the thread was still inside.
func (v *Solver) Inside(addr uint64, after bool, reg func(x86.Reg) uint64) ([]record.Delta, bool) {
	q, m, addr := v.planAt(addr)
	if q == nil {
		return nil, true
	}
	g := m.Spec.Program.Graph(q.f, &v.space)
	b := g.BlockOf(addr)
	if b == nil {
		return nil, true
	}
	var d []record.Delta
	w := newFlow(g, q.marks, nil)
	w.place(q.first, m.Spec.opt, nil)
	for i := range w.edges {
		e := &w.edges[i]
		if e.induction == nil || !e.induction.loop.Has(b) {
			continue
		}
		if last := b.Last(); after && addr == last.Addr { // on an edge, before or behind its code
			v.bad[q.number] = true
			return nil, false
		}
		d = append(d, record.Delta{Counter: e.counter, N: reg(e.induction.reg)})
	}
	return d, true
}

// pair numbers a call site with one of its targets, a run-time address.
func (v *Solver) pair(site int, target uint64) int32 {
	k := pair{site, target}
	if n, ok := v.pairs[k]; ok {
		return n
	}
	n := int32(len(v.known))
	v.pairs[k] = n
	ind := indirect{event: profile.NoEvent, callee: -1}
	for _, m := range v.mods {
		g := m.Spec.Program.FuncAt(target - m.Bias)
		if g == nil || !m.Spec.Moved(g) {
			continue
		}
		ind.callee = m.Spec.byFunc[g].number
		fn := int32(sort.Search(len(v.plans), func(i int) bool { return int(v.plans[i].site) > site })) - 1
		x := v.load(fn)
		s := x.sites[site-int(v.plans[fn].site)]
		kind := profile.Indirect
		if s.tail {
			kind = profile.TailCall
		}
		ind.event = v.newEdge(x, edge{from: s.block, to: -1, callee: ind.callee, kind: kind, site: s.addr, late: true}, true)
	}
	v.known = append(v.known, ind)
	return n
}

// Solve returns the counts of a list of resolved deltas.
func (v *Solver) Solve(d []record.Delta) profile.Counts {
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
	for i < len(d) && int(d[i].Counter) < v.chords {
		fi := v.chordOwner(d[i].Counter)
		j := i
		for j < len(d) && d[j].Counter < v.plans[fi].after {
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
		if k := v.known[int(d[i].Counter)-v.chords]; k.callee >= 0 {
			v.touch(k.callee)
			v.entered[k.callee] -= int64(d[i].N)
			c.add(k.event, int64(d[i].N))
		}
	}
	for _, fi := range v.touched {
		if n := v.entered[fi]; n > 0 {
			c.add(v.load(fi).start, n)
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

func (v *Solver) solveFunc(fi int32, d []record.Delta, open map[int32]int64, c *counts) {
	x := v.load(fi)
	if cap(v.val) < len(x.edges) {
		v.val = make([]int64, 2*len(x.edges))
	}
	val := v.val[:len(x.edges)]
	clear(val)
	for i := range x.edges {
		if k := x.edges[i].counter; k >= 0 {
			at := sort.Search(len(d), func(j int) bool { return d[j].Counter >= k })
			if at < len(d) && d[at].Counter == k {
				n := int64(d[at].N)
				if n%x.edges[i].step != 0 {
					v.bad[fi] = true
					return
				}
				val[i] = n / x.edges[i].step
			}
		}
	}
	solve(x.steps, val, open)
	for i := range x.edges {
		if x.edges[i].event != profile.NoEvent && val[i] < 0 {
			v.bad[fi] = true
			return
		}
	}
	for i := range x.edges {
		if e := x.edges[i].event; e != profile.NoEvent && val[i] > 0 {
			c.add(e, val[i])
		}
	}
	if !x.edges[x.entry].unknown {
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

// Entered tells whether counts include entries of the function at an address
// of the profile.
func (v *Solver) Entered(c profile.Counts, entry uint64) bool {
	q, _, link := v.planAt(entry)
	if q == nil || q.f.Ranges[0].Lo != link || v.funcs[q.number] == nil {
		return false
	}
	x := v.funcs[q.number]
	e := x.blocks[x.entryBlock].Count
	return e != profile.NoEvent && c.Of(e) > 0
}

// Departures are the jumps to library functions in all functions seen so far.
func (v *Solver) Departures() []Departure { return v.exits }

// Bad names the functions whose counts came out negative or broken: a fault of
// ours. Their counts are unknown.
func (v *Solver) Bad() (names []string) {
	for fi := range v.bad {
		names = append(names, v.plans[fi].f.Name)
	}
	slices.Sort(names)
	return names
}
