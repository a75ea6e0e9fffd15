package native

import (
	"cmp"
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// A program may have very many goroutines that live for microseconds. What each
// executed in its life would have to be solved, kept and read for each, and that takes
// longer than they lived; and no reader looks at the ten thousandth. So of those that
// one go statement makes the first have their counts themselves, and those of the
// others are added up, as counters, and belong to the first of them.

// ownLives is how many of a go statement have counts of their own.
const ownLives = 32

// statement is a go statement, with what was begun there: one in the library may make
// goroutines for many.
type statement struct{ created, start uint64 }

// lives are those of goroutines that were made by one.
type lives struct {
	n     int     // those that have ended
	first *thread // of those that were added up; nil: none yet
	sum   []uint64
}

// lived takes what a thread counted in its life.
func (ts *threads) lived(t *thread, all []record.Delta) {
	if l := ts.goroutines.livesOf(t); l != nil && len(t.active)+len(t.left) == 0 {
		if l.n++; l.n > ownLives {
			ts.solver.Check(all)
			l.add(t, all)
			return
		}
	}
	t.totals = ts.solver.SolveLife(record.Merge(slices.Concat(all, t.active, t.left)))
}

// livesOf are those of a goroutine's statement; nil: it is none.
func (gs *goroutines) livesOf(t *thread) *lives {
	if gs == nil {
		return nil
	}
	s := statement{t.goroutine.Created, t.goroutine.Start}
	if gs.lives[s] == nil {
		gs.lives[s] = &lives{}
	}
	return gs.lives[s]
}

func (l *lives) add(t *thread, all []record.Delta) {
	if l.first == nil {
		l.first = t
	}
	t.with = l.first
	if n := len(all); n > 0 && int(all[n-1].Counter) >= len(l.sum) {
		l.sum = append(l.sum, make([]uint64, int(all[n-1].Counter)+1-len(l.sum))...)
	}
	for _, d := range all {
		l.sum[d.Counter] += d.N
	}
}

// settle solves what was added up.
func (gs *goroutines) settle(v *solve.Solver) {
	if gs == nil {
		return
	}
	added := slices.DeleteFunc(slices.Collect(maps.Values(gs.lives)), func(l *lives) bool { return l.first == nil })
	slices.SortFunc(added, func(a, b *lives) int { return cmp.Compare(a.first.id, b.first.id) })
	for _, l := range added {
		var all []record.Delta
		for c, n := range l.sum {
			if n > 0 {
				all = append(all, record.Delta{Counter: int32(c), N: n})
			}
		}
		l.first.totals = v.SolveLife(all)
	}
}
