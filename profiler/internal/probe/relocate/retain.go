package relocate

import (
	"fmt"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// retainCode leaves code in place that an arrival leads to: up to a call that
// comes so close that no jump fits before it, or, where a springboard has
// nowhere to jump from, to the end of its block. What passes there is not
// counted but derived.
func (pl *planner) retainCode(d *draft) (ok bool) {
	var left []arrival
	done := map[uint64]bool{}
	for i := 0; i < len(d.arrivals); i++ { // more come in on the way
		a := d.arrivals[i]
		if done[a.at] {
			continue
		}
		if pl.held(a.at) {
			if done[a.at] = pl.mayRetain(d, a) && d.retainFrom(a.at); done[a.at] {
				continue
			}
			if pl.retain[a.at] {
				d.Func.Skip = fmt.Sprintf(noRoom, a.at)
				return false
			}
		}
		c := d.callAt(a.at)
		if c == nil {
			c = d.callAt(a.at + 1)
		}
		if c == nil {
			left = append(left, a)
		} else {
			d.retainUpTo(a.at, c)
		}
	}
	d.arrivals = left
	d.unite()
	return true
}

// held reports whether code at an arrival is to stay in place.
func (pl *planner) held(at uint64) bool {
	return pl.retain[at] || pl.retainSome && at*0x9e3779b97f4a7c15>>62 == 0
}

// mayRetain is false for entries that hooks hang on, as in a static program.
func (pl *planner) mayRetain(d *draft, a arrival) bool {
	return a.to.kind != atEntry || !pl.p.Image.Static && pl.p.Image.Go == nil && d.Func.Role == ""
}

// retainFrom leaves the code from an address to the end of its block in place,
// or to the first call in it. Where control goes from there must be springboards.
func (d *draft) retainFrom(at uint64) bool {
	b := d.g.BlockOf(at)
	for i := range b.Calls {
		if c := &b.Calls[i]; c.Insn.Addr >= at {
			if d.is(c, fromCopy) {
				return false
			}
			d.retainUpTo(at, c)
			return true
		}
	}
	if _, known := d.g.Targets(b.Last().Addr); b.Last().Kind == x86.JmpInd && !known {
		return false // its target would not be seen
	}
	d.retained = append(d.retained, cfg.Range{Lo: at, Hi: b.End})
	if at == b.Start {
		d.exclude(placement.ExcludeBlock, b.ID)
		d.exclude(placement.ExcludeArrivals, b.ID)
	}
	for _, e := range b.Succ {
		if e.Kind == cfg.Table {
			continue // counted where it arrives
		}
		d.exclude(placement.ExcludeEdge, e.ID)
		if e.To != nil {
			d.arrive(e.To.Start, blockPlace(e.To))
		}
	}
	return true
}

// retainUpTo leaves the code from an address to a call in place.
func (d *draft) retainUpTo(at uint64, c *cfg.Call) {
	if b := d.g.BlockAt(at); b == nil { // between two calls of a block
		d.chain(d.g.BlockOf(at), c)
		if !c.Known() {
			d.calls[c.Index] |= afterArrival
		}
	} else {
		d.exclude(placement.ExcludeBlock, b.ID)
		d.exclude(placement.ExcludeArrivals, b.ID)
		if c.NoReturn {
			d.exclude(placement.ExcludeEdge, b.Succ[0].ID)
		}
		d.calls[c.Index] |= afterArrival
	}
	d.retained = append(d.retained, cfg.Range{Lo: at, Hi: c.Insn.Addr})
}
