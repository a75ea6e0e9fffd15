package relocate

import (
	"cmp"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
)

// Where control comes back. The moved copy jumps to the original call
// instruction (but for leaves, and in Go: homeward.go), so that return addresses
// stay what they were: exceptions, longjmp, backtraces and the CPU's return
// predictor notice nothing. Whatever arrives in the original code finds a jump
// into the copy there, a springboard:
//
//	entry          from calls through pointers, from outside
//	return site    behind every call that stays in place
//	table target   from jump tables, which are left as they are (of most the copy has its own: dispatch.go)
//	landing pad    from the unwinder
//
// All other bytes of the original are dead. A springboard takes five of them,
// or two where there are no five, and five more dead ones within reach: an
// island.

// draft is the plan of a function that is being made.
type draft struct {
	*Plan
	g        *cfg.Graph
	arrivals []arrival
	inPlace  []cfg.Range // calls that stay in place, sorted
	callsIn  []*cfg.Call // the same calls
	retained []cfg.Range // other code that stays in place
}

func (d *draft) begin(g *cfg.Graph) {
	*d = draft{Plan: &Plan{Func: g.Func, calls: make([]callMode, g.Calls)}, g: g,
		arrivals: d.arrivals[:0], inPlace: d.inPlace[:0], callsIn: d.callsIn[:0], retained: d.retained[:0]}
}

// chooseCalls decides which calls are made from the copy.
func (pl *planner) chooseCalls(d *draft) {
	for _, b := range d.g.Blocks {
		for i := range b.Calls {
			c := &b.Calls[i]
			how, inPlace := callMode(0), true
			switch {
			case d.Func.Go && pl.homeward:
				how, inPlace = pl.choose(b, i)
			case d.Func.Go:
			case !pl.noLeaf && !c.NoReturn && pl.callable(c):
				how, inPlace = fromCopy, false
			}
			if d.calls[c.Index] |= how; !inPlace {
				continue
			}
			d.inPlace = append(d.inPlace, cfg.Range{Lo: c.Insn.Addr, Hi: c.Insn.End()})
			d.callsIn = append(d.callsIn, c)
		}
	}
}

// callable reports whether a call may be made from the copy: nobody looks at
// the address that it returns to.
func (pl *planner) callable(c *cfg.Call) bool {
	if c.Callee == nil {
		return c.LeafImport() || pl.freeReturns && !c.Known()
	}
	return c.Callee.Skip == "" && (pl.freeReturns || c.Callee.Leaf())
}

// callAt returns the call that stays in place at an address, or nil.
func (d *draft) callAt(a uint64) *cfg.Call {
	i := sort.Search(len(d.inPlace), func(i int) bool { return d.inPlace[i].Lo >= a })
	if i < len(d.inPlace) && d.inPlace[i].Lo == a {
		return d.callsIn[i]
	}
	return nil
}

const maxChain = 64 // bytes of straight-line code kept in place between two calls

// collect finds the arrivals, and the straight-line code between two calls of
// a block that stays in place, which saves two jumps; not where its accesses are
// to be simulated.
func (pl *planner) collect(d *draft) {
	d.arrive(d.g.Entry.Start, place{atEntry, 0})
	for _, b := range d.g.Blocks {
		if b.TableTarget {
			d.arrive(b.Start, place{atTable, int32(b.ID)})
		}
		if b.Pad {
			d.arrive(b.Start, place{atPad, int32(b.ID)})
		}
		for i := range b.Calls {
			c := &b.Calls[i]
			if c.NoReturn || d.is(c, fromCopy) && !(d.Func.Go && pl.homeward) {
				continue
			}
			if pl.simulates || d.is(c, fromCopy|wherever) || !d.runOn(b, i) {
				d.arrive(c.Insn.End(), place{atReturn, int32(c.Index)})
			}
		}
	}
	d.unite()
}

func (d *draft) arrive(at uint64, to place) { d.arrivals = append(d.arrivals, arrival{at, to}) }

// runOn lets the original code run on from a block's call to the next one, if
// that is close and in place too.
func (d *draft) runOn(b *cfg.Block, call int) bool {
	r := b.Calls[call].Insn.End()
	if call+1 == len(b.Calls) || d.g.BlockAt(r) != nil {
		return false
	}
	next := &b.Calls[call+1]
	if next.Insn.Addr-r >= maxChain || !next.Known() || d.is(next, fromCopy) {
		return false
	}
	d.chain(b, next)
	d.retained = append(d.retained, cfg.Range{Lo: r, Hi: next.Insn.Addr})
	return true
}

// chain has a call executed in place, right behind the one before in its
// block. If it never returns, nothing comes by where its block's end is counted.
func (d *draft) chain(b *cfg.Block, c *cfg.Call) {
	d.calls[c.Index] |= afterCall
	if c.NoReturn {
		d.exclude(placement.ExcludeEdge, b.Succ[0].ID)
	}
}

// unite sorts the arrivals. Where there are several kinds of them at one
// address, none can be counted there.
func (d *draft) unite() {
	slices.SortStableFunc(d.arrivals, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	one := d.arrivals[:0]
	for _, a := range d.arrivals {
		if n := len(one); n > 0 && one[n-1].at == a.at {
			b := d.g.BlockAt(a.at)
			one[n-1].to = blockPlace(b)
			d.exclude(placement.ExcludeArrivals, b.ID)
			continue
		}
		one = append(one, a)
	}
	d.arrivals = one
}
