package cfg

import (
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/image"
)

// BuildSilent is Build of a library whose code is moved, but of which nothing is
// counted, so that more of it can be: the C library has functions in assembly that
// share their code.
//
//   - Where code of others jumps into a function, as mempcpy does into memmove, a part
//     of it begins: control is led from there into the copy, and how often it comes so
//     is nobody's business.
//   - Where there is but one thread, the allocator jumps over a prefix, that of a lock.
//     Here it does not: with it the instruction does the same.
func BuildSilent(im *image.Image, catches Catches, among ...*image.Image) *Program {
	p := begin(im, catches, among)
	p.silent = true
	return p.build()
}

// Silent reports whether the program is one of BuildSilent.
func (p *Program) Silent() bool { return p.silent }

// enters notes at which of the targets of others, sorted, a part of the function
// begins: where one of its instructions does.
func (f *Func) enters(targets []uint64) {
	first := uint64(0)
	for _, r := range f.Ranges {
		i := sort.Search(len(targets), func(i int) bool { return targets[i] >= r.Lo })
		for ; i < len(targets) && targets[i] < r.Hi; i++ {
			bit := first + targets[i] - r.Lo
			at, known := slices.BinarySearch(f.pads, targets[i])
			if !known && targets[i] != f.Ranges[0].Lo && f.starts[bit>>3]>>(bit&7)&1 != 0 {
				f.pads = slices.Insert(f.pads, at, targets[i])
			}
		}
		first += r.Hi - r.Lo
	}
}
