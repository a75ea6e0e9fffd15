package native

import (
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestLivesAddUp: what was counted in lives that are added up belongs to the first of
// them, and goroutines of one statement that begin in different functions stay apart.
func TestLivesAddUp(t *testing.T) {
	gs := &goroutines{lives: map[statement]*lives{}}
	a := &thread{living: &living{goroutine: threadarea.Goroutine{Created: 1, Start: 2}}}
	b := &thread{living: &living{goroutine: threadarea.Goroutine{Created: 1, Start: 2}}}
	c := &thread{living: &living{goroutine: threadarea.Goroutine{Created: 1, Start: 3}}}
	l := gs.livesOf(a)
	if gs.livesOf(b) != l || gs.livesOf(c) == l {
		t.Error("a statement's goroutines are not told apart by where they begin")
	}
	l.add(a, []record.Delta{{Counter: 2, N: 5}})
	l.add(b, []record.Delta{{Counter: 0, N: 1}, {Counter: 2, N: 1}, {Counter: 9, N: 3}})
	if a.with != a || b.with != a {
		t.Error("they do not belong to the first")
	}
	for counter, n := range map[int]uint64{0: 1, 2: 6, 9: 3, 5: 0} {
		if l.sum[counter] != n {
			t.Errorf("counter %d is %d, want %d", counter, l.sum[counter], n)
		}
	}
	if (*goroutines)(nil).livesOf(a) != nil {
		t.Error("a thread was made by a go statement")
	}
}

// TestLivingAgain: where a thread lives that another one has left, nothing is left of that.
func TestLivingAgain(t *testing.T) {
	var ts threads
	left := ts.living()
	*left = living{tid: -1, slot: 7, lastTSC: 9, hidden: true, active: []record.Delta{{Counter: 1, N: 1}}, parent: &thread{}}
	ts.spare = append(ts.spare, left)
	next, other := ts.living(), ts.living()
	if next != left || other == left || len(ts.spare) != 0 {
		t.Error("the room is not used again, once")
	}
	if !reflect.DeepEqual(*next, living{}) {
		t.Errorf("%+v is left", *next)
	}
}
