package probe

import (
	"fmt"
	"sort"
)

// springboards finds five dead bytes within reach of every short landing, or
// two from which five are within reach.
func (pl *planner) springboards(p *plan) {
	for _, l := range p.shorts {
		if !pl.board(p, l.at, l.label, maxHops) && !pl.holdNext(p.f, l.at) {
			p.f.Skip = fmt.Sprintf("no springboard within reach of %#x", l.at)
			pl.fail(p.f)
			return
		}
	}
}

const maxHops = 2 // between a landing and its springboard

// board leads a jump of two bytes to a label.
func (pl *planner) board(p *plan, at uint64, l label, hops int) bool {
	if to, ok := pl.find(at, 5, func(uint64) bool { return true }); ok {
		pl.use(to, to+5)
		p.boards = append(p.boards, patchPlan{to, l})
		p.hops = append(p.hops, hop{at, to})
		return true
	}
	if hops == 0 {
		return false
	}
	to, ok := pl.find(at, 2, func(c uint64) bool {
		pl.use(c, c+2)
		found := pl.board(p, c, l, hops-1)
		pl.set(c, c+2, found)
		return found
	})
	if ok {
		p.hops = append(p.hops, hop{at, to})
	}
	return ok
}

// clearBoards takes back what the springboards of a function use.
func (pl *planner) clearBoards(p *plan) {
	short := map[uint64]bool{} // the landings themselves stay
	for _, l := range p.shorts {
		short[l.at] = true
	}
	for _, x := range p.boards {
		pl.set(x.at, x.at+5, false)
	}
	for _, x := range p.hops {
		if !short[x.at] {
			pl.set(x.at, x.at+2, false)
		}
	}
	p.boards, p.hops = p.boards[:0], p.hops[:0]
}

// find returns the nearest n dead bytes that a jump of two bytes reaches and
// that fit.
func (pl *planner) find(at, n uint64, fits func(uint64) bool) (uint64, bool) {
	for d := int64(0); d < pl.reach; d++ {
		for _, s := range [2]int64{d, -d - 5} {
			c := uint64(int64(at) + 2 + s)
			ok := true
			for i := uint64(0); i < n && ok; i++ {
				ok = pl.dead(c + i)
			}
			if ok && fits(c) {
				return c, true
			}
		}
	}
	return 0, false
}

// dead reports whether nothing ever executes the original byte at c: it
// belongs to a moved function, or to the padding between functions.
func (pl *planner) dead(c uint64) bool {
	if c < pl.lo || pl.isUsed(c) {
		return false
	}
	im := pl.p.Image
	if im.FuncAt(c) != nil {
		o := pl.p.Owner(c)
		return o != nil && o.Skip == "" && pl.plans[o] != nil
	}
	i := sort.Search(len(im.Funcs), func(i int) bool { return im.Funcs[i].Addr > c })
	if i == 0 || i == len(im.Funcs) {
		return false
	}
	before := &im.Funcs[i-1]
	return im.Funcs[i].Addr-(before.Addr+before.Size) <= 16
}
