package relocate

import (
	"fmt"

	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
)

const noRoom = "no room for a springboard at %#x" // why a function is skipped

// placeSpringboards finds five bytes for every arrival, or notes it as short.
func (pl *planner) placeSpringboards(d *draft) bool {
	for _, a := range d.arrivals {
		end := pl.usableEnd(d.Func, a.at)
		fits := a.at+asm.JumpLen <= end
		for i := uint64(1); i < asm.JumpLen && fits; i++ {
			fits = !pl.bytes.used(a.at + i)
		}
		if fits {
			pl.bytes.use(a.at, a.at+asm.JumpLen)
			d.springboards = append(d.springboards, a)
			continue
		}
		if pl.bytes.used(a.at+1) || a.at+asm.ShortJumpLen > end {
			if !pl.retainNext(d.Func, a.at) {
				d.Func.Skip = fmt.Sprintf(noRoom, a.at)
			}
			return false
		}
		pl.bytes.use(a.at+1, a.at+2)
		d.shorts = append(d.shorts, a)
	}
	return true
}
