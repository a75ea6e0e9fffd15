package section

import (
	"math"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Threads tell the rounds of loops that may deal work out (record.Unit). Which
// one does is not known before the end: so what the rounds of each cost is kept
// with the instances that they are in.

// units is the rule that hears of rounds.
func units(t *Tracker) rule {
	return rule{calls: []call{{names: []string{record.Unit},
		arrive: func(x *thread, r record.Record) { x.rounds.begin(r) },
		leave:  func(x *thread, r record.Record) { x.rounds.leave(r) },
	}}}
}

// IsUnit reports whether a kind of record is of a round.
func IsUnit(kind uint32) bool { return declared.of(kind).unit }

// rounds are a thread's, in the order of time.
type rounds struct {
	work uint64  // instructions of the thread until now
	log  []event // all that is of instances to come
	lost bool    // its beginning is not
	in   []int32 // loops that the thread is in
}

// event is that a round began, or that the thread left a loop, or neither: how
// much it had done then.
type event struct {
	tsc, work uint64
	index     int64
	loop      int32 // −1: neither
	skip      uint32
	kind      eventKind
}

type eventKind uint8

const (
	entered eventKind = iota // the loop's first round begins
	next                     // another one
	gone                     // the loop is left; skip are the passes that were still to be left out
)

const mostEvents = 1 << 18 // of one thread that are kept

func (x *rounds) add(e event) {
	if len(x.log) >= mostEvents {
		x.log, x.lost = slices.Delete(x.log, 0, mostEvents/2), true
	}
	e.work = x.work
	x.log = append(x.log, e)
}

// latest is the moment of the last event, 0 where there is none.
func (x *rounds) latest() uint64 {
	if len(x.log) == 0 {
		return 0
	}
	return x.log[len(x.log)-1].tsc
}

// mark notes how much was done at a moment.
func (x *rounds) mark(tsc uint64) { x.add(event{tsc: tsc, loop: -1}) }

func (x *rounds) begin(r record.Record) {
	e := event{tsc: r.TSC, index: int64(r.Arg1), loop: int32(r.Arg3), skip: uint32(r.Site), kind: next}
	if i := slices.Index(x.in, e.loop); i >= 0 {
		x.in = x.in[:i+1]
	} else {
		x.in, e.kind = append(x.in, e.loop), entered
	}
	x.add(e)
}

func (x *rounds) leave(r record.Record) {
	e := event{tsc: r.TSC, loop: int32(r.Arg3), skip: uint32(r.Site), kind: gone}
	if i := slices.Index(x.in, e.loop); i >= 0 {
		x.in = x.in[:i]
	}
	x.add(e)
}

// share is what a part did in the rounds of one loop.
type share struct {
	units []piece
	times int // how often it came to the loop
}

const noIndex = math.MinInt64

// piece is one round, or several.
type piece struct {
	tsc   uint64 // when it began
	time  int    // which time the part was in the loop
	index int64
	cost  uint64
	n     uint32
}

// open is a loop that the part is in.
type running struct {
	loop  int32
	since event
}

// between is what a thread did in loops between two moments.
func (x *rounds) between(begin, end uint64) map[int32]*share {
	from := sort.Search(len(x.log), func(i int) bool { return x.log[i].tsc > begin })
	shares := map[int32]*share{}
	start := event{tsc: begin}
	if from > 0 {
		start.work = x.log[from-1].work
	} else if x.lost {
		return nil
	}
	var in []running
	last := start
	for _, e := range x.log[from:] {
		if e.tsc > end {
			break
		}
		last = e
		if e.loop < 0 {
			continue
		}
		s := shares[e.loop]
		if s == nil {
			s = &share{}
			shares[e.loop] = s
			if e.kind != entered { // it was in the loop before
				s.times++
				in = append(in, running{e.loop, event{tsc: begin, work: start.work, loop: e.loop, index: noIndex}})
			}
		}
		i := slices.IndexFunc(in, func(r running) bool { return r.loop == e.loop })
		switch {
		case e.kind == entered || i < 0:
			s.times++
			in = append(in, running{e.loop, e})
		case e.kind == next:
			s.ends(in[i].since, e, in[i].since.skip+1)
			in[i].since = e
		default:
			s.ends(in[i].since, e, 1+in[i].since.skip-min(e.skip, in[i].since.skip))
			in = slices.Delete(in, i, i+1)
		}
	}
	for _, r := range in {
		shares[r.loop].ends(r.since, last, 1)
	}
	return shares
}

func (s *share) ends(from, to event, n uint32) {
	s.units = append(s.units, piece{from.tsc, s.times, from.index, to.work - from.work, n})
}

// forget what was before a moment.
func (x *rounds) forget(tsc uint64) {
	n := sort.Search(len(x.log), func(i int) bool { return x.log[i].tsc >= tsc })
	if n > 1 {
		x.log, x.lost = slices.Delete(x.log, 0, n-1), true // what was done by then is still needed
	}
}
