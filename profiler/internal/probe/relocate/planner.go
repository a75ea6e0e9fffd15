package relocate

import (
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
)

// planner plans all functions of a program; their original bytes are one
// resource, since one function's islands may lie in another's dead bytes.
type planner struct {
	p      *cfg.Program
	space  cfg.Space
	bytes  textBytes
	draft  draft // its memory serves one function after the other
	plans  map[*cfg.Func]*Plan
	retain map[uint64]bool // arrivals from which code stays in place
	// Of the present round: functions that cannot be moved after all, and
	// functions with something new to retain.
	failed, retained map[*cfg.Func]bool
	padded           cfg.Range // the padding that was looked up last
	fates            []fate    // of the bytes, while islands are placed

	reach              int64 // of a jump of two bytes
	noLeaf, retainSome bool
	units, simulates   bool
	ranging            ranging
	// freeReturns: nobody looks at return addresses, so that
	// every call of a moved function may be made from the copy.
	freeReturns bool
	// homeward: who looks at a return address in the copy sees the original one.
	homeward bool
}

// shortReach is how far a jump of two bytes leads, less what it has to leave
// for the jump that it leads to.
const shortReach = 122

func newPlanner(p *cfg.Program) *planner {
	bytes := newTextBytes(p.Image)
	return &planner{p: p, bytes: bytes, fates: make([]fate, len(bytes.mark)), reach: shortReach, retain: map[uint64]bool{}, plans: make(map[*cfg.Func]*Plan, len(p.Funcs))}
}

// run plans until nothing changes any more: a function that fails takes its
// dead bytes away from the others, and its callers may have counted on it.
func (pl *planner) run() {
	todo := pl.p.Funcs
	for again := true; again; again = len(pl.failed)+len(pl.retained) > 0 {
		if pl.failed != nil {
			todo = pl.affected()
		}
		pl.failed, pl.retained = map[*cfg.Func]bool{}, map[*cfg.Func]bool{}
		// Islands lie in the bytes of others, which may be wanted there now.
		for _, q := range pl.plans {
			pl.clearIslands(q)
		}
		for _, f := range todo {
			if f.Skip == "" {
				pl.plan(f)
			}
		}
		clear(pl.fates)
		for _, f := range pl.p.Funcs {
			if q := pl.plans[f]; q != nil {
				pl.placeIslands(q)
			}
		}
	}
}

// plan plans a function, again as long as there is something new to retain.
func (pl *planner) plan(f *cfg.Func) {
	pl.release(f)
	q := pl.tryPlan(f)
	for q == nil && f.Skip == "" {
		pl.release(f)
		q = pl.tryPlan(f)
	}
	if q == nil {
		pl.fail(f)
		return
	}
	pl.plans[f] = q
}

func (pl *planner) fail(f *cfg.Func) {
	delete(pl.plans, f)
	for _, r := range f.Ranges { // it stays, and with it what may run on behind it
		lo, hi := max(r.Lo-16, pl.bytes.lo)-pl.bytes.lo, r.Hi+16-pl.bytes.lo
		clear(pl.fates[lo:min(hi, uint64(len(pl.fates)))])
	}
	pl.failed[f] = true
}

// affected returns the functions to be planned again.
func (pl *planner) affected() (todo []*cfg.Func) {
	for _, f := range pl.p.Funcs {
		if f.Skip == "" && (pl.retained[f] || len(pl.failed) > 0 && slices.ContainsFunc(pl.p.Callees(f), func(g *cfg.Func) bool { return pl.failed[g] })) {
			todo = append(todo, f)
		}
	}
	return todo
}

// retainNext lets the code at an arrival stay in place, in the next round.
func (pl *planner) retainNext(f *cfg.Func, at uint64) bool {
	if pl.retain[at] {
		return false
	}
	pl.retain[at] = true
	pl.retained[f] = true
	return true
}

// tryPlan plans a function. It returns nil where that cannot be (Skip says
// why), or where something has to be retained first.
func (pl *planner) tryPlan(f *cfg.Func) *Plan {
	g := pl.p.Blocks(f, &pl.space)
	if g.Torn != 0 {
		f.Skip = fmt.Sprintf("nothing to fall into at %#x", g.Torn)
		return nil
	}
	d := &pl.draft
	d.begin(g)
	pl.chooseCalls(d)
	pl.collect(d)
	if !pl.retainCode(d) {
		return nil
	}
	for _, k := range d.inPlace {
		pl.bytes.use(k.Lo, k.Hi)
	}
	for _, k := range d.retained {
		pl.bytes.use(k.Lo, k.Hi)
	}
	for _, a := range d.arrivals {
		pl.bytes.use(a.at, a.at+1)
	}
	if !pl.placeSpringboards(d) {
		return nil
	}
	eachSite(pl.p, d.Plan, g, func(*cfg.Block, *cfg.Call) { d.sites++ })
	d.size = uint64(len(g.Code))*24 + uint64(len(g.Edges))*48 + 256 + enterSize
	_, _, own := ownTables(pl.p, g)
	d.size += uint64(own)
	if pl.units {
		d.size += gateSize * uint64(len(g.Blocks))
	}
	for _, b := range g.Blocks {
		for i := range b.Calls {
			d.callsUnknown = d.callsUnknown || b.Calls[i].Callee == nil && !b.Calls[i].LeafImport()
		}
		if b.Pad {
			d.size += enterSize
		}
	}
	if pl.simulates {
		eachOp(pl.ranging, g, func(Op) { d.ops++ })
		d.size += (simulatedSize + sampledSize) * uint64(d.ops)
	}
	return d.Plan
}
