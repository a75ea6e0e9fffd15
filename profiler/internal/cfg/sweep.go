package cfg

import (
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Code that stays where it is may jump into the middle of a function that
// moves, whose bytes there are dead: hand-written assembly does. So all code
// that does not move (skipped functions, code between functions) is swept from
// its first byte to its last, and what its direct branches name is noted.
// Bytes that are no instruction are stepped over one by one; a branch too many
// costs a function that could have moved, no more.
func (p *Program) sweepUnmoved() []uint64 {
	var targets []uint64
	for i := range p.Image.Sections {
		s := &p.Image.Sections[i]
		if !s.Exec {
			continue
		}
		for a := s.Addr; a < s.Addr+s.Size; {
			if f := p.movedAt(a); f != nil {
				a = f.end(a)
				continue
			}
			code := s.Data[a-s.Addr:]
			in, err := x86.Decode(code[:min(15, len(code))], a)
			if err != nil {
				a++
				continue
			}
			if in.Kind.IsJump() || in.Kind == x86.Call {
				targets = append(targets, in.Target)
			}
			a = in.End()
		}
	}
	return sortUnique(targets)
}

// movedAt returns the function that is to be moved and holds an address.
func (p *Program) movedAt(a uint64) *Func {
	if f := p.Owner(a); f != nil && f.Skip == "" && f.In(a) {
		return f
	}
	return nil
}

// end is the end of the part that holds an address.
func (f *Func) end(a uint64) uint64 {
	for _, r := range f.Ranges {
		if a >= r.Lo && a < r.Hi {
			return r.Hi
		}
	}
	return a + 1
}

// enteredInside returns a target that lies in a moved function but not at its
// entry, nor where it is known that control comes in, given targets sorted.
func (f *Func) enteredInside(targets []uint64) (uint64, bool) {
	for _, r := range f.Ranges {
		i := sort.Search(len(targets), func(i int) bool { return targets[i] >= r.Lo })
		for ; i < len(targets) && targets[i] < r.Hi; i++ {
			if _, known := slices.BinarySearch(f.pads, targets[i]); targets[i] != f.Ranges[0].Lo && !known {
				return targets[i], true
			}
		}
	}
	return 0, false
}
