package section

import (
	"container/heap"

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
}

// streams is a heap of the threads' streams that are not empty, by the time of
// their first item.
type streams []*stream

func (q *streams) add(s *stream, i item) {
	s.items = append(s.items, i)
	if len(s.items) == 1 {
		heap.Push(q, s)
	}
}

// next takes the first item of all, if it is not after the horizon.
func (q *streams) next(horizon uint64) (*thread, item, bool) {
	if len(*q) == 0 || (*q)[0].items[0].tsc > horizon {
		return nil, item{}, false
	}
	s := (*q)[0]
	i := s.items[0]
	s.items = s.items[1:]
	if len(s.items) == 0 {
		heap.Pop(q)
	} else {
		heap.Fix(q, 0)
	}
	return s.owner, i, true
}

func (q streams) Len() int { return len(q) }
func (q streams) Less(i, j int) bool {
	a, b := &q[i].items[0], &q[j].items[0]
	if a.tsc != b.tsc {
		return a.tsc < b.tsc
	}
	return q[i].owner.id < q[j].owner.id
}
func (q streams) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *streams) Push(x any)   { *q = append(*q, x.(*stream)) }
func (q *streams) Pop() any {
	old := *q
	s := old[len(old)-1]
	*q = old[:len(old)-1]
	return s
}
