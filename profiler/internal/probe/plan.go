package probe

import (
	"fmt"
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

// plan is how one function is moved.
type plan struct {
	f        *cfg.Func
	w        *flow
	landings []landing
	shorts   []landing
	chained  map[uint64]bool // calls executed in place right behind the call before
	inPlace  map[uint64]bool // calls that a landing runs into without passing the copy
	direct   map[uint64]bool // calls that the copy makes itself
	patches  []patchPlan
	opaque   string // moved, but not counted, and why
}

// patchPlan is a jump to write: at → label, through board where at has only two bytes.
type patchPlan struct {
	at, board uint64
	label     label
}

// planner plans all functions of a program; their original bytes are one
// resource, since one function's springboards may lie in another's dead bytes.
type planner struct {
	p     *cfg.Program
	lo    uint64
	used  []bool
	plans map[*cfg.Func]*plan
	force map[uint64]bool // landings that stay in place up to a call up to five bytes on
	again bool

	noLeaf bool
	// freeReturns: nothing in the program looks at return addresses, so that
	// every call of a moved function may be made from the copy.
	freeReturns bool
}

const maxChain = 64 // bytes of straight-line code kept in place between two calls

func newPlanner(p *cfg.Program) *planner {
	pl := &planner{p: p, force: map[uint64]bool{}}
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
// dead bytes away from the others.
func (pl *planner) run() {
	for {
		clear(pl.used)
		pl.plans = map[*cfg.Func]*plan{}
		pl.again = false
		failed := 0
		for _, f := range pl.p.Funcs {
			if f.Skip != "" {
				failed++
				continue
			}
			if p := pl.planFunc(f); p != nil {
				pl.plans[f] = p
			} else {
				failed++
			}
		}
		for _, f := range pl.p.Funcs {
			if p := pl.plans[f]; p != nil && f.Skip == "" {
				pl.springboards(p)
			}
		}
		after := 0
		for _, f := range pl.p.Funcs {
			if f.Skip != "" {
				after++
			}
		}
		if after == failed && !pl.again {
			return
		}
	}
}

func (pl *planner) isUsed(a uint64) bool {
	i := a - pl.lo
	return i >= uint64(len(pl.used)) || pl.used[i]
}

func (pl *planner) use(lo, hi uint64) {
	for a := lo; a < hi; a++ {
		pl.used[a-pl.lo] = true
	}
}

func (pl *planner) planFunc(f *cfg.Func) *plan {
	p := &plan{f: f, w: newFlow(f), chained: map[uint64]bool{}, inPlace: map[uint64]bool{}, direct: map[uint64]bool{}}
	calls := map[uint64]*cfg.Call{}
	for _, b := range f.Blocks {
		for i := range b.Calls {
			c := &b.Calls[i]
			if !pl.noLeaf && !c.NoReturn && pl.callable(c) {
				p.direct[c.Insn.Addr] = true
				continue
			}
			calls[c.Insn.Addr] = c
		}
	}
	keep := pl.collect(p, calls)
	more, ok := pl.settle(p, calls)
	if !ok {
		return nil
	}
	for a, c := range calls {
		pl.use(a, a+uint64(c.Insn.Len()))
	}
	for _, k := range append(keep, more...) {
		pl.use(k.Lo, k.Hi)
	}
	for _, l := range p.landings {
		pl.use(l.at, l.at+1)
	}
	if !pl.room(p) {
		return nil
	}
	return p
}

// collect finds the landings, and the straight-line code between two calls of
// a block that stays in place, which saves two jumps.
func (pl *planner) collect(p *plan, calls map[uint64]*cfg.Call) (keep []cfg.Range) {
	f := p.f
	set := map[uint64]label{}
	put := func(a uint64, kind labelKind) {
		if _, dup := set[a]; !dup {
			set[a] = label{kind, a}
			return
		}
		// Several kinds of arrival at one address: none of them can be counted there.
		set[a] = label{atBlock, a}
		p.w.forbidArrivals(f.BlockAt(a))
	}
	put(f.Entry.Start, atEntry)
	for _, b := range f.Blocks {
		if b.TableTarget {
			put(b.Start, atTable)
		}
	}
	for _, b := range f.Blocks {
		if b.Pad {
			put(b.Start, atPad)
		}
	}
	for _, b := range f.Blocks {
		for i := range b.Calls {
			c := &b.Calls[i]
			if c.NoReturn || p.direct[c.Insn.Addr] {
				continue
			}
			r := c.Insn.End()
			if f.BlockAt(r) != nil {
				put(r, atReturn)
				continue
			}
			if next := nextCall(b, i, r); next != nil && next.Known() && !p.direct[next.Insn.Addr] {
				p.chained[next.Insn.Addr] = true
				keep = append(keep, cfg.Range{Lo: r, Hi: next.Insn.Addr})
				continue
			}
			put(r, atReturn)
		}
	}
	for a, l := range set {
		p.landings = append(p.landings, landing{a, l})
	}
	sort.Slice(p.landings, func(i, j int) bool { return p.landings[i].at < p.landings[j].at })
	return keep
}

// nextCall returns the call after call i of a block, when only a little
// straight-line code lies between.
func nextCall(b *cfg.Block, i int, from uint64) *cfg.Call {
	if i+1 >= len(b.Calls) || b.Calls[i+1].Insn.Addr-from >= maxChain {
		return nil
	}
	return &b.Calls[i+1]
}

// settle leaves a call in place that comes so close behind a landing that no
// jump fits before it; what passes there is not counted but derived.
func (pl *planner) settle(p *plan, calls map[uint64]*cfg.Call) (keep []cfg.Range, ok bool) {
	var rest []landing
	for _, l := range p.landings {
		near := uint64(2)
		if pl.force[l.at] {
			near = 5
		}
		var c *cfg.Call
		d := uint64(0)
		for ; d < near && c == nil; d++ {
			c = calls[l.at+d]
		}
		if c == nil {
			rest = append(rest, l)
			continue
		}
		d--
		b := p.f.BlockAt(l.at)
		switch {
		case b == nil: // between two calls of a block
			p.chained[c.Insn.Addr] = true
			if !c.Known() {
				p.inPlace[c.Insn.Addr] = true
			}
		case b.Last() == c.Insn:
			p.w.edges[p.w.self[b.ID]].uncountable = true
			p.w.forbidArrivals(b)
			if c.NoReturn {
				p.w.edges[p.w.byCfg[b.Succ[0].ID]].uncountable = true
			}
			p.inPlace[c.Insn.Addr] = true
		default:
			p.f.Skip = fmt.Sprintf("no room for a landing before the call at %#x", c.Insn.Addr)
			return nil, false
		}
		keep = append(keep, cfg.Range{Lo: l.at, Hi: l.at + d})
	}
	p.landings = rest
	return keep, true
}

// room finds five bytes for every landing, or notes it as short.
func (pl *planner) room(p *plan) bool {
	for _, l := range p.landings {
		end := pl.usableEnd(p.f, l.at)
		fits := l.at+5 <= end
		for i := uint64(1); i < 5 && fits; i++ {
			fits = !pl.isUsed(l.at + i)
		}
		if fits {
			pl.use(l.at, l.at+5)
			p.patches = append(p.patches, patchPlan{at: l.at, label: l.label})
			continue
		}
		if pl.isUsed(l.at+1) || l.at+2 > end {
			if pl.loneReturn(p, l) {
				continue
			}
			p.f.Skip = fmt.Sprintf("no room for a landing at %#x", l.at)
			return false
		}
		pl.use(l.at+1, l.at+2)
		p.shorts = append(p.shorts, l)
	}
	return true
}

// callable reports whether a call may be made from the copy: nobody looks at
// the address that it returns to.
func (pl *planner) callable(c *cfg.Call) bool {
	if c.Callee == nil {
		return c.LeafImport()
	}
	return c.Callee.Skip == "" && (pl.freeReturns || c.Callee.Leaf())
}

// loneReturn leaves a table target that is nothing but a ret in place.
func (pl *planner) loneReturn(p *plan, l landing) bool {
	b := p.f.BlockAt(l.at)
	if l.label.kind != atTable || b == nil || len(b.Insns) != 1 || b.Last().Kind != x86.Ret {
		return false
	}
	p.w.edges[p.w.self[b.ID]].uncountable = true
	for _, e := range b.Succ {
		p.w.edges[p.w.byCfg[e.ID]].uncountable = true
	}
	p.w.edges[p.w.hubTo[b]].uncountable = true
	return true
}

// usableEnd is the end of the bytes that a landing may take: the part's end,
// and the padding behind it up to the next aligned address or function.
func (pl *planner) usableEnd(f *cfg.Func, a uint64) uint64 {
	for _, r := range f.Ranges {
		if a < r.Lo || a >= r.Hi {
			continue
		}
		e := r.Hi
		end := e
		if s := pl.p.Image.SectionAt(a); s != nil {
			end = s.Addr + s.Size
		}
		for e%16 != 0 && e < end && pl.p.Image.FuncAt(e) == nil {
			e++
		}
		return e
	}
	return a
}
