package probe

import (
	"fmt"
	"sort"
)

// springboards finds five dead bytes within reach of every short landing.
func (pl *planner) springboards(p *plan) {
	p.boards = p.boards[:0]
	for _, l := range p.shorts {
		board, ok := pl.findBoard(l.at)
		if !ok {
			if pl.forceInPlace(p, l) {
				continue
			}
			p.f.Skip = fmt.Sprintf("no springboard within reach of %#x", l.at)
			pl.fail(p.f)
			return
		}
		pl.use(board, board+5)
		p.boards = append(p.boards, patchPlan{at: l.at, board: board, label: l.label})
	}
}

func (pl *planner) findBoard(at uint64) (uint64, bool) {
	for d := int64(0); d < 122; d++ {
		for _, s := range [2]int64{d, -d - 5} {
			c := uint64(int64(at) + 2 + s)
			ok := true
			for i := uint64(0); i < 5 && ok; i++ {
				ok = pl.dead(c + i)
			}
			if ok {
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

// forceInPlace lets the code from a short landing to a call a few bytes on
// stay in place, in the next round.
func (pl *planner) forceInPlace(p *plan, l landing) bool {
	if pl.force[l.at] {
		return false
	}
	g := pl.p.Blocks(p.f, &pl.space)
	for k := uint64(2); k < 5; k++ {
		b := g.BlockOf(l.at + k)
		if b == nil {
			continue
		}
		for i := range b.Calls {
			if c := &b.Calls[i]; c.Insn.Addr == l.at+k && !p.is(c, chained) {
				pl.force[l.at] = true
				pl.forced[p.f] = true
				return true
			}
		}
	}
	return false
}
