package taskgraph

import (
	"cmp"
	"math/bits"
	"slices"
)

// There are several events for each part of each instance, hundreds of thousands in
// all. To compare them with each other takes longer than all that is made of them; so
// they are dealt out by the digits of their times, from the last one to the first.

const (
	digit = 11   // bits
	few   = 2048 // events, of which there are less than would be gained
)

// stamp is when an event was.
type stamp struct {
	at uint64 // since the first
	i  int32
}

// inOrder are the numbers of events in the order in which they count.
func inOrder(events []event) []int32 {
	stamps := make([]stamp, len(events))
	first, last := int64(0), int64(0)
	for i := range events {
		if at := events[i].at; i == 0 {
			first, last = at, at
		} else {
			first, last = min(first, at), max(last, at)
		}
	}
	for i := range events {
		stamps[i] = stamp{uint64(events[i].at - first), int32(i)}
	}
	if len(stamps) <= few {
		slices.SortStableFunc(stamps, func(x, y stamp) int { return cmp.Compare(x.at, y.at) })
	} else {
		stamps = dealt(stamps, bits.Len64(uint64(last-first)))
	}
	order := make([]int32, len(stamps))
	for from := 0; from < len(stamps); {
		to := from
		for ; to < len(stamps) && stamps[to].at == stamps[from].at; to++ {
			order[to] = stamps[to].i
		}
		if to-from > 1 {
			slices.SortFunc(order[from:to], func(x, y int32) int { return events[x].atOnce(&events[y]) })
		}
		from = to
	}
	return order
}

// atOnce compares events that happen at once.
func (e *event) atOnce(x *event) int {
	return cmp.Or(cmp.Compare(e.what, x.what), cmp.Compare(e.meeting, x.meeting), cmp.Compare(e.number, x.number))
}

// dealt are stamps of so many bits in the order of time.
func dealt(stamps []stamp, width int) []stamp {
	other := make([]stamp, len(stamps))
	for shift := 0; shift < width; shift += digit {
		var begin [1 << digit]int32
		for _, s := range stamps {
			begin[s.at>>shift&(1<<digit-1)]++
		}
		at := int32(0)
		for d, n := range begin {
			begin[d], at = at, at+n
		}
		for _, s := range stamps {
			d := s.at >> shift & (1<<digit - 1)
			other[begin[d]] = s
			begin[d]++
		}
		stamps, other = other, stamps
	}
	return stamps
}
