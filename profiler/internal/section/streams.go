package section

import (
	"container/heap"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// item is what a thread did at a moment: it was born, died, or made a record.
type item struct {
	tsc        uint64
	rec        record.Record
	born, died bool
}

// stream is what a thread did and is not handled yet, in the order of time.
type stream struct {
	owner *thread
	items []item
	done  int // how many of them are handled: their room is used again
}

func (s *stream) first() *item { return &s.items[s.done] }

// streams is a heap of the threads' streams that are not empty, by the time of
// their first item, which stands there, too: to look at each takes longer.
type streams struct {
	heap  []queued
	rooms [][]item // of threads that have ended, for those that will be born
}

type queued struct {
	tsc uint64
	*stream
}

// end is told that nothing more comes from a thread.
func (q *streams) end(s *stream) {
	if cap(s.items) > 0 && cap(s.items) <= smallRoom && len(q.rooms) < manyRooms {
		q.rooms = append(q.rooms, s.items[:0])
	}
	s.items = nil
}

// What is kept of such rooms.
const (
	smallRoom = 64
	manyRooms = 256
)

func (q *streams) add(s *stream, i *item) {
	if s.done > 0 && len(s.items) == cap(s.items) {
		s.items, s.done = slices.Delete(s.items, 0, s.done), 0
	}
	if n := len(q.rooms); s.items == nil && n > 0 {
		s.items, q.rooms = q.rooms[n-1], q.rooms[:n-1]
	}
	if n := len(s.items); n == cap(s.items) { // by as much again: append's quarters would take five times the room in all
		s.items = append(make([]item, 0, max(2*n, 4)), s.items...)
	}
	s.items = append(s.items, *i)
	if len(s.items) == s.done+1 {
		heap.Push(q, s)
	} else if s.sort() {
		q.fix(slices.IndexFunc(q.heap, func(x queued) bool { return x.stream == s }))
	}
}

// fault reports whether the item is page faults.
func (i *item) fault() bool { return i.rec.Wait != nil && i.rec.Wait.Kind == profile.WaitFault }

// sort puts the last item where it belongs: of page faults the kernel tells, later
// than the thread itself of what it did behind them, and by another clock. Behind a
// thread's end there is nothing. It reports whether the first item is another one.
func (s *stream) sort() bool {
	i := len(s.items) - 1
	if i == s.done || s.items[i].tsc >= s.items[i-1].tsc {
		return false
	}
	last := s.items[i]
	for ; i > s.done && last.tsc < s.items[i-1].tsc && (last.fault() || s.items[i-1].fault()); i-- {
		if last.died {
			s.items[i-1].tsc = last.tsc
			continue
		}
		s.items[i] = s.items[i-1]
	}
	if !last.died {
		s.items[i] = last
	}
	return i == s.done
}

// next takes the first item of all, if it is not after the horizon; else there is no
// thread. The item is there until one is added; what it holds is garbage once it is cleared.
func (q *streams) next(horizon uint64) (*thread, *item) {
	if len(q.heap) == 0 || q.heap[0].tsc > horizon {
		return nil, nil
	}
	s := q.heap[0].stream
	i := s.first()
	if s.done++; s.done == len(s.items) {
		heap.Pop(q)
		s.items, s.done = s.items[:0], 0
	} else {
		q.fix(0)
	}
	return s.owner, i
}

// fix is told that a stream has another first item.
func (q *streams) fix(i int) {
	q.heap[i].tsc = q.heap[i].first().tsc
	heap.Fix(q, i)
}

func (q *streams) Len() int { return len(q.heap) }
func (q *streams) Less(i, j int) bool {
	a, b := &q.heap[i], &q.heap[j]
	if a.tsc != b.tsc {
		return a.tsc < b.tsc
	}
	return a.owner.id < b.owner.id
}
func (q *streams) Swap(i, j int) { q.heap[i], q.heap[j] = q.heap[j], q.heap[i] }
func (q *streams) Push(x any)    { s := x.(*stream); q.heap = append(q.heap, queued{s.first().tsc, s}) }
func (q *streams) Pop() any {
	n := len(q.heap) - 1
	s := q.heap[n].stream
	q.heap = q.heap[:n]
	return s
}
