package relocate

import (
	"fmt"

	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
)

const maxHops = 2 // between a springboard and its island

// placeIslands finds five dead bytes within reach of every short springboard,
// or two from which five are within reach.
func (pl *planner) placeIslands(q *Plan) {
	for _, a := range q.shorts {
		if !pl.island(q, a.at, a.to, maxHops) && !pl.retainNext(q.Func, a.at) {
			q.Func.Skip = fmt.Sprintf("no island within reach of %#x", a.at)
			pl.fail(q.Func)
			return
		}
	}
}

// island leads a jump of two bytes to a place in the copy.
func (pl *planner) island(q *Plan, at uint64, to place, hops int) bool {
	if near, ok := pl.find(at, asm.JumpLen, func(uint64) bool { return true }); ok {
		pl.bytes.use(near, near+asm.JumpLen)
		q.islands = append(q.islands, arrival{near, to})
		q.hops = append(q.hops, hop{at, near})
		return true
	}
	if hops == 0 {
		return false
	}
	near, ok := pl.find(at, asm.ShortJumpLen, func(c uint64) bool {
		pl.bytes.use(c, c+asm.ShortJumpLen)
		found := pl.island(q, c, to, hops-1)
		pl.bytes.set(c, c+asm.ShortJumpLen, found)
		return found
	})
	if ok {
		q.hops = append(q.hops, hop{at, near})
	}
	return ok
}

// clearIslands takes back what the islands of a function use.
func (pl *planner) clearIslands(q *Plan) {
	short := map[uint64]bool{} // the springboards themselves stay
	for _, a := range q.shorts {
		short[a.at] = true
	}
	for _, x := range q.islands {
		pl.bytes.set(x.at, x.at+asm.JumpLen, false)
	}
	for _, x := range q.hops {
		if !short[x.at] {
			pl.bytes.set(x.at, x.at+asm.ShortJumpLen, false)
		}
	}
	q.islands, q.hops = q.islands[:0], q.hops[:0]
}

// find returns the nearest n dead bytes that a jump of two bytes reaches and
// that fit.
func (pl *planner) find(at, n uint64, fits func(uint64) bool) (uint64, bool) {
	for d := int64(0); d < pl.reach; d++ {
		for _, s := range [2]int64{d, -d - asm.JumpLen} {
			c := uint64(int64(at) + asm.ShortJumpLen + s)
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
