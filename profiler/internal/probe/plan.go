package probe

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Where control comes back. The moved copy jumps to the original call
// instruction, so that return addresses stay what they were: exceptions,
// longjmp, backtraces and the CPU's return predictor notice nothing. Whatever
// arrives in the original code finds a jump into the copy there, a landing:
//
//	entry          from calls through pointers, from outside
//	return site    behind every call that stays in place
//	table target   from jump tables, which are left as they are
//	landing pad    from the unwinder
//
// All other bytes of the original are dead. A landing takes five of them, or
// two where there are no five, and five more dead ones within reach.
type landing struct {
	at    uint64
	label label
}

// plan is how one function is moved: what is worth keeping for every function
// of a large program. The rest is made again where it is needed.
type plan struct {
	f       *cfg.Func
	number  int32 // among the moved functions
	vague   bool  // called from where counts are unknown
	blurred bool  // some counts are unknown
	how     []callHow
	marks   []mark
	patches []patchPlan
	shorts  []landing
	boards  []patchPlan // of the shorts: five bytes elsewhere
	hops    []hop       // how the shorts get there
	first   int32       // number of its first counter,
	after   int32       // and of the first behind its last one
	site    int32       // number of its first indirect call
	sites   int32       // how many it has
	size    uint64      // an upper bound for its copy, in bytes
}

// callHow is how a call is made, by its index in the function.
type callHow uint8

const (
	chained callHow = 1 << iota // executed in place right behind the call before
	inPlace                     // a landing runs into it without passing the copy
	direct                      // made from the copy itself
)

func (q *plan) is(c *cfg.Call, h callHow) bool { return q.how[c.Index]&h != 0 }

// mark is something that no counter can stand on, because of where the landings are.
type mark struct {
	what markKind
	id   int32 // of the block or edge
}

type markKind uint8

const (
	markSelf     markKind = iota // the block
	markEdge                     // an edge of the graph
	markArrivals                 // what arrives at a block by its landings
)

// patchPlan is a jump of five bytes to write: at → label.
type patchPlan struct {
	at    uint64
	label label
}

// hop is a jump of two bytes to write.
type hop struct{ at, to uint64 }

// planner plans all functions of a program; their original bytes are one
// resource, since one function's springboards may lie in another's dead bytes.
type planner struct {
	p     *cfg.Program
	space cfg.Space
	lo    uint64
	used  []bool
	draft draft // its memory serves one function after the other
	plans map[*cfg.Func]*plan
	force map[uint64]bool // landings from which code stays in place
	// Of the present round: functions that cannot be moved after all, and
	// functions with something new in force.
	failed, forced map[*cfg.Func]bool
	padded         cfg.Range // the padding that was looked up last

	reach            int64 // of a jump of two bytes
	noLeaf, holdSome bool
	// freeReturns: nothing in the program looks at return addresses, so that
	// every call of a moved function may be made from the copy.
	freeReturns bool
}

const maxChain = 64 // bytes of straight-line code kept in place between two calls

func newPlanner(p *cfg.Program) *planner {
	pl := &planner{p: p, reach: 122, force: map[uint64]bool{}, plans: make(map[*cfg.Func]*plan, len(p.Funcs))}
	lo, hi := ^uint64(0), uint64(0)
	for _, s := range p.Image.Sections {
		if s.Exec {
			lo, hi = min(lo, s.Addr), max(hi, s.Addr+s.Size)
		}
	}
	pl.lo = lo
	if hi > lo {
		pl.used = make([]bool, hi-lo+64)
	}
	return pl
}

// run plans until nothing changes any more: a function that fails takes its
// dead bytes away from the others, and its callers may have counted on it.
func (pl *planner) run() {
	todo := pl.p.Funcs
	for again := true; again; again = len(pl.failed)+len(pl.forced) > 0 {
		if pl.failed != nil {
			todo = pl.affected()
		}
		pl.failed, pl.forced = map[*cfg.Func]bool{}, map[*cfg.Func]bool{}
		// Springboards lie in the bytes of others, which may be wanted there now.
		for _, q := range pl.plans {
			pl.clearBoards(q)
		}
		for _, f := range todo {
			if f.Skip != "" {
				continue
			}
			pl.release(f)
			p := pl.planFunc(f)
			for p == nil && f.Skip == "" { // something is in force now
				pl.release(f)
				p = pl.planFunc(f)
			}
			if p != nil {
				pl.plans[f] = p
			} else {
				pl.fail(f)
			}
		}
		for _, f := range pl.p.Funcs {
			if p := pl.plans[f]; p != nil {
				pl.springboards(p)
			}
		}
	}
}

func (pl *planner) fail(f *cfg.Func) {
	delete(pl.plans, f)
	pl.failed[f] = true
}

// affected returns the functions to be planned again.
func (pl *planner) affected() (todo []*cfg.Func) {
	for _, f := range pl.p.Funcs {
		if f.Skip == "" && (pl.forced[f] || len(pl.failed) > 0 && slices.ContainsFunc(pl.p.Callees(f), func(g *cfg.Func) bool { return pl.failed[g] })) {
			todo = append(todo, f)
		}
	}
	return todo
}

// release takes back what an earlier plan of a function uses.
func (pl *planner) release(f *cfg.Func) {
	for _, r := range f.Ranges {
		pl.set(r.Lo, pl.usableEnd(f, r.Hi-1), false)
	}
}

func (pl *planner) isUsed(a uint64) bool {
	i := a - pl.lo
	return i >= uint64(len(pl.used)) || pl.used[i]
}

func (pl *planner) use(lo, hi uint64) { pl.set(lo, hi, true) }

func (pl *planner) set(lo, hi uint64, used bool) {
	bytes := pl.used[lo-pl.lo : hi-pl.lo]
	for i := range bytes {
		bytes[i] = used
	}
}

// draft is the plan of a function that is being made.
type draft struct {
	*plan
	g        *cfg.Graph
	landings []landing
	stay     []cfg.Range // calls that stay in place, sorted
	calls    []*cfg.Call // the same calls
	keep     []cfg.Range // other code that stays in place
}

func (pl *planner) planFunc(f *cfg.Func) *plan {
	g := pl.p.Blocks(f, &pl.space)
	if g.Torn != 0 {
		f.Skip = fmt.Sprintf("nothing to fall into at %#x", g.Torn)
		return nil
	}
	d := &pl.draft
	*d = draft{plan: &plan{f: f, how: make([]callHow, g.Calls)}, g: g,
		landings: d.landings[:0], stay: d.stay[:0], calls: d.calls[:0], keep: d.keep[:0]}
	for _, b := range g.Blocks {
		for i := range b.Calls {
			c := &b.Calls[i]
			if !pl.noLeaf && !c.NoReturn && pl.callable(c) {
				d.how[c.Index] |= direct
				continue
			}
			d.stay = append(d.stay, cfg.Range{Lo: c.Insn.Addr, Hi: c.Insn.End()})
			d.calls = append(d.calls, c)
		}
	}
	pl.collect(d)
	if !pl.settle(d) {
		return nil
	}
	for _, k := range d.stay {
		pl.use(k.Lo, k.Hi)
	}
	for _, k := range d.keep {
		pl.use(k.Lo, k.Hi)
	}
	for _, l := range d.landings {
		pl.use(l.at, l.at+1)
	}
	if !pl.room(d) {
		return nil
	}
	eachSite(pl.p, d.plan, g, func(*cfg.Block, *cfg.Call) { d.sites++ })
	d.size = uint64(len(g.Code))*24 + uint64(len(g.Edges))*48 + 256
	return d.plan
}

// callAt returns the call that stays in place at an address, or nil.
func (d *draft) callAt(a uint64) *cfg.Call {
	i := sort.Search(len(d.stay), func(i int) bool { return d.stay[i].Lo >= a })
	if i < len(d.stay) && d.stay[i].Lo == a {
		return d.calls[i]
	}
	return nil
}

func (q *plan) mark(what markKind, id int) { q.marks = append(q.marks, mark{what, int32(id)}) }

// collect finds the landings, and the straight-line code between two calls of
// a block that stays in place, which saves two jumps.
func (pl *planner) collect(d *draft) {
	g := d.g
	put := func(a uint64, l label) { d.landings = append(d.landings, landing{a, l}) }
	put(g.Entry.Start, label{atEntry, 0})
	for _, b := range g.Blocks {
		if b.TableTarget {
			put(b.Start, label{atTable, int32(b.ID)})
		}
		if b.Pad {
			put(b.Start, label{atPad, int32(b.ID)})
		}
		for i := range b.Calls {
			c := &b.Calls[i]
			if c.NoReturn || d.is(c, direct) {
				continue
			}
			r := c.Insn.End()
			if i+1 < len(b.Calls) && g.BlockAt(r) == nil { // straight-line code up to the next call
				if next := &b.Calls[i+1]; next.Insn.Addr-r < maxChain && next.Known() && !d.is(next, direct) {
					d.chain(b, next)
					d.keep = append(d.keep, cfg.Range{Lo: r, Hi: next.Insn.Addr})
					continue
				}
			}
			put(r, label{atReturn, int32(c.Index)})
		}
	}
	d.unite()
}

// settle leaves code in place that a landing leads to: up to a call that comes
// so close that no jump fits before it, or, where a landing has nowhere to
// jump from, to the end of its block. What passes there is not counted but
// derived.
func (pl *planner) settle(d *draft) (ok bool) {
	var rest []landing
	held := map[uint64]bool{}
	for i := 0; i < len(d.landings); i++ { // more come in on the way
		l := d.landings[i]
		if held[l.at] {
			continue
		}
		if pl.force[l.at] || pl.holdSome && l.at*0x9e3779b97f4a7c15>>62 == 0 {
			held[l.at] = (l.label.kind != atEntry || !pl.p.Image.Static) && d.hold(l.at) // a static program's hooks hang on entries
			if held[l.at] {
				continue
			}
			if pl.force[l.at] {
				d.f.Skip = fmt.Sprintf("no room for a landing at %#x", l.at)
				return false
			}
		}
		c := d.callAt(l.at)
		if c == nil {
			c = d.callAt(l.at + 1)
		}
		if c == nil {
			rest = append(rest, l)
		} else {
			d.holdCall(l.at, c)
		}
	}
	d.landings = rest
	d.unite()
	return true
}

// hold leaves the code from an address to the end of its block in place, or to
// the first call in it. Where control goes from there must be landings.
func (d *draft) hold(at uint64) bool {
	b := d.g.BlockOf(at)
	for i := range b.Calls {
		if c := &b.Calls[i]; c.Insn.Addr >= at {
			if d.is(c, direct) {
				return false
			}
			d.holdCall(at, c)
			return true
		}
	}
	if _, known := d.g.Targets(b.Last().Addr); b.Last().Kind == x86.JmpInd && !known {
		return false // its target would not be seen
	}
	d.keep = append(d.keep, cfg.Range{Lo: at, Hi: b.End})
	if at == b.Start {
		d.mark(markSelf, b.ID)
		d.mark(markArrivals, b.ID)
	}
	for _, e := range b.Succ {
		if e.Kind == cfg.Table {
			continue // counted where it arrives
		}
		d.mark(markEdge, e.ID)
		if e.To != nil {
			d.landings = append(d.landings, landing{e.To.Start, blockLabel(e.To)})
		}
	}
	return true
}

// holdCall leaves the code from an address to a call in place.
func (d *draft) holdCall(at uint64, c *cfg.Call) {
	if b := d.g.BlockAt(at); b == nil { // between two calls of a block
		d.chain(d.g.BlockOf(at), c)
		if !c.Known() {
			d.how[c.Index] |= inPlace
		}
	} else {
		d.mark(markSelf, b.ID)
		d.mark(markArrivals, b.ID)
		if c.NoReturn {
			d.mark(markEdge, b.Succ[0].ID)
		}
		d.how[c.Index] |= inPlace
	}
	d.keep = append(d.keep, cfg.Range{Lo: at, Hi: c.Insn.Addr})
}

// chain has a call executed in place, right behind the one before in its
// block. If it never returns, nothing comes by where its block's end is counted.
func (d *draft) chain(b *cfg.Block, c *cfg.Call) {
	d.how[c.Index] |= chained
	if c.NoReturn {
		d.mark(markEdge, b.Succ[0].ID)
	}
}

// unite sorts the landings. Where there are several kinds of arrival at one
// address, none of them can be counted there.
func (d *draft) unite() {
	slices.SortStableFunc(d.landings, func(a, b landing) int { return cmp.Compare(a.at, b.at) })
	one := d.landings[:0]
	for _, l := range d.landings {
		if n := len(one); n > 0 && one[n-1].at == l.at {
			b := d.g.BlockAt(l.at)
			one[n-1].label = blockLabel(b)
			d.mark(markArrivals, b.ID)
			continue
		}
		one = append(one, l)
	}
	d.landings = one
}

// room finds five bytes for every landing, or notes it as short.
func (pl *planner) room(d *draft) bool {
	for _, l := range d.landings {
		end := pl.usableEnd(d.f, l.at)
		fits := l.at+5 <= end
		for i := uint64(1); i < 5 && fits; i++ {
			fits = !pl.isUsed(l.at + i)
		}
		if fits {
			pl.use(l.at, l.at+5)
			d.patches = append(d.patches, patchPlan(l))
			continue
		}
		if pl.isUsed(l.at+1) || l.at+2 > end {
			if !pl.holdNext(d.f, l.at) {
				d.f.Skip = fmt.Sprintf("no room for a landing at %#x", l.at)
			}
			return false
		}
		pl.use(l.at+1, l.at+2)
		d.shorts = append(d.shorts, l)
	}
	return true
}

// callable reports whether a call may be made from the copy: nobody looks at
// the address that it returns to.
func (pl *planner) callable(c *cfg.Call) bool {
	if c.Callee == nil {
		return c.LeafImport() || pl.freeReturns && !c.Known()
	}
	return c.Callee.Skip == "" && (pl.freeReturns || c.Callee.Leaf())
}

// holdNext lets the code at a landing stay in place, in the next round.
func (pl *planner) holdNext(f *cfg.Func, at uint64) bool {
	if pl.force[at] {
		return false
	}
	pl.force[at] = true
	pl.forced[f] = true
	return true
}

// usableEnd is the end of the bytes that a landing may take: the part's end,
// and the padding behind it up to the next aligned address or function.
func (pl *planner) usableEnd(f *cfg.Func, a uint64) uint64 {
	for _, r := range f.Ranges {
		if a < r.Lo || a >= r.Hi {
			continue
		}
		if pl.padded.Lo == r.Hi {
			return pl.padded.Hi
		}
		e := r.Hi
		end := e
		if s := pl.p.Image.SectionAt(a); s != nil {
			end = s.Addr + s.Size
		}
		for e%16 != 0 && e < end && pl.p.Image.FuncAt(e) == nil {
			e++
		}
		pl.padded = cfg.Range{Lo: r.Hi, Hi: e}
		return e
	}
	return a
}
