package section

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

var idleIn, idleOut = hookOf(record.Idle).Arrive, hookOf(record.Idle).Leave

// idles and goes: a thread comes to wait at an idle place, and is let go on.
func (s *script) idles(id profile.ThreadID, place uint64, work ...uint64) {
	s.passes(id, idleIn, place, 0, work...)
}

func (s *script) goes(id profile.ThreadID, place uint64) { s.passes(id, idleOut, place, 0) }

const forWork, forAll = 4, 2 // where workers wait, and where the first thread does

// crewOf makes a pool of workers that are idle.
func crewOf(n int) *script {
	s := newScript(1 << 20)
	threads(s, n)
	for id := 1; id <= n; id++ {
		s.idles(profile.ThreadID(id), forWork)
	}
	return s
}

// shift is a round in which workers do so much each, 0 for those that do nothing.
func (s *script) shift(work ...uint64) {
	s.idles(0, forAll)
	for k, n := range work {
		if n > 0 {
			s.goes(profile.ThreadID(k+1), forWork)
		}
	}
	for k, n := range work {
		if n > 0 {
			s.idles(profile.ThreadID(k+1), forWork, n)
		}
	}
	s.goes(0, forAll)
}

// TestPool: whoever waits until others have worked had them do that.
func TestPool(t *testing.T) {
	s := crewOf(3)
	for k := uint64(1); k <= 5; k++ {
		s.shift(10*k+1, 10*k+2, 10*k+3)
	}
	list := s.Finish()
	expect(t, list, "join 320 [[11 12 13] [21 22 23] [31 32 33] [41 42 43] [51 52 53]]")
	for i := range list[0].Instances {
		if w := list[0].Instances[i].Waiter; w != 1 {
			t.Errorf("round %d: thread %d, counted from 1, has waited", i, w)
		}
	}
}

// TestWaitsWithinRounds: code in which workers wait hundreds of times a round is watched no
// longer, whether it is known by then that they are a pool or not, and nothing of what they did
// is lost, nor are rounds.
func TestWaitsWithinRounds(t *testing.T) {
	const rows = 6
	for _, each := range []int{1, 200, 600, 2000} { // so often in a round
		s := crewOf(3)
		told := map[uint64]bool{}
		s.c.Gate = func(number uint64, of bool) { told[number] = of }
		want := "join 320 ["
		for range 12 {
			s.idles(0, forAll)
			for id := range profile.ThreadID(3) {
				s.goes(id+1, forWork)
			}
			for range each {
				for id := range profile.ThreadID(3) {
					s.idles(id+1, rows, 1)
					s.goes(id+1, rows)
				}
			}
			for id := range profile.ThreadID(3) {
				s.idles(id+1, forWork, 10*uint64(id))
			}
			s.goes(0, forAll)
			want += fmt.Sprintf("[%d %d %d] ", each, each+10, each+20)
		}
		expect(t, s.Finish(), strings.TrimSuffix(want, " ")+"]")
		if watched, often := told[rows], 3*12*each > idleTrial; watched == often || !told[forWork] {
			t.Errorf("%d times a round: watched %v, where they wait for work %v", each, watched, told[forWork])
		}
	}
}

// TestPoolOfTwo: one thread works for another, which does its share too: from
// where it wakes that one, or, where it finds that at work, from where it went on. What the
// other one does behind the end of a round, as who takes from a queue does, tells
// that it is none; and so does a dispatcher that has nothing to do but wait.
func TestPoolOfTwo(t *testing.T) {
	signal := hookOf("pthread_cond_signal").Arrive
	for _, c := range []struct {
		name      string
		own, late uint64
		want      []string
	}{
		{"shares", 90, 0, []string{"join 320 [[90 50] [90 50] [90 50] [90 50] [90 50] [90 50] [90 50] [90 50]]"}},
		{"waits", 1, 0, nil},
		{"hands over", 90, 20000, nil},
	} {
		s := crewOf(1)
		for k := range 8 {
			if k < 7 {
				s.at(0, signal, 5, 304, 2)
			}
			if k != 6 {
				s.goes(1, forWork)
			}
			if s.idles(0, forAll, c.own); k == 6 { // the other one comes back: it is decided while the dispatcher waits again
				s.idles(1, forWork, 50)
				s.goes(1, forWork)
			}
			if c.late == 0 && k != 5 {
				s.now += 20000
				s.idles(1, forWork, 50)
			}
			if s.goes(0, forAll); c.late > 0 && k != 5 {
				s.now += c.late
				s.idles(1, forWork, 50)
			}
		}
		s.dies(1)
		t.Log(c.name)
		expect(t, s.Finish(), c.want...)
	}
}

// TestPoolOfTwoRounds: what is undecided when the run ends is decided then, and
// who ends instead of coming back has worked too.
func TestPoolOfTwoRounds(t *testing.T) {
	s := crewOf(2)
	s.shift(11, 12)
	s.idles(0, forAll)
	s.goes(1, forWork)
	s.goes(2, forWork)
	s.idles(2, forWork, 22)
	s.goes(0, forAll)
	s.dies(1, 21)
	expect(t, s.Finish(), "join 320 [[11 12] [21 22]]")
}

// TestEndIsNoRound: who has let the first thread go on comes out of where it waits once
// more, to end; so does the first thread, to join it.
func TestEndIsNoRound(t *testing.T) {
	for _, c := range []struct {
		end  uint64 // what it does to end
		want string
	}{
		{3, "join 320 [[5001 5002] [6001 6002] [7001 7002]]"},
		{mostIdly, "join 320 [[5001 5002] [6001 6002] [7001 7002] [0 1000]]"},
	} {
		s := crewOf(2)
		for k := uint64(5); k <= 7; k++ {
			s.shift(1000*k+1, 1000*k+2)
		}
		s.goes(2, forWork)
		s.idles(0, forAll)
		s.goes(0, forAll)
		s.at(0, join, 1, 336)
		s.at(0, join, 2, 336)
		s.dies(2, c.end)
		s.dies(1)
		expect(t, s.Finish(), c.want, "join 336 [[0 0]]")
	}
}

// TestEndInRound: who ends in a round, before the first thread sees that it is
// over, is in that round and has nothing left for the join.
func TestEndInRound(t *testing.T) {
	s := crewOf(2)
	for range 3 {
		s.shift(11, 12)
	}
	s.idles(0, forAll)
	s.goes(1, forWork)
	s.goes(2, forWork)
	s.dies(1, 21)
	s.idles(2, forWork, 22)
	s.goes(0, forAll)
	s.at(0, join, 1, 336)
	s.at(0, join, 2, 336)
	s.goes(2, forWork)
	s.dies(2, 3)
	expect(t, s.Finish(), "join 320 [[11 12] [11 12] [11 12] [21 22]]", "join 336 [[0 3]]")
}

// TestThreadsOfOneRound: who creates threads for each round, lets them wait for work, and
// waits until they have done it and end, has no pool: all that they did is of their join, or
// of that wait where nobody joins them.
func TestThreadsOfOneRound(t *testing.T) {
	for _, joins := range []bool{true, false} {
		s := newScript(1 << 20)
		s.born(0, -1)
		want := ""
		for k := range profile.ThreadID(moreShifts + 2) {
			workers := []profile.ThreadID{2*k + 1, 2*k + 2}
			for _, w := range workers {
				s.creates(0, 64)
				s.born(w, 0)
				s.idles(w, forWork)
			}
			s.idles(0, forAll)
			for i, w := range workers {
				s.goes(w, forWork)
				s.idles(w, forWork, 5000+4000*uint64(i))
			}
			s.goes(0, forAll)
			for _, w := range workers {
				if joins {
					s.at(0, join, uint64(w), 336)
				}
				s.goes(w, forWork)
				s.dies(w, 7)
			}
			want += " [5007 9007]"
		}
		s.dies(0)
		site := map[bool]int{true: 336, false: 320}[joins]
		expect(t, s.Finish(), fmt.Sprintf("join %d [%s]", site, want[1:]))
	}
}

// TestPoolOfFutures: the first thread waits for each result by itself, and not
// for those that are there; who had the last one works on a moment.
func TestPoolOfFutures(t *testing.T) {
	await := hookOf(futureWaits[0]).Arrive
	signal := hookOf("pthread_cond_signal").Arrive
	s := crewOf(2)
	for range 7 {
		s.at(0, signal, 5, 304)
		s.goes(1, forWork)
		s.at(0, signal, 5, 304)
		s.goes(2, forWork)
		s.at(0, await, 6, 320)
		s.idles(1, forWork, 5)
		s.at(0, await, 7, 320)
		s.at(0, signal, 5, 304) // for the next round
		s.idles(2, forWork, 9)
	}
	expect(t, s.Finish(), "join 320 [[5 9] [5 9] [5 9] [5 9] [5 9] [5 9] [5 9]]")
}

// TestPoolOfFuturesThatAreThere: where all results are there when the first thread
// looks, and nobody waited for what it handed out, its calls tell the rounds apart.
// Who began behind its last look works for the next one.
func TestPoolOfFuturesThatAreThere(t *testing.T) {
	s := crewOf(2)
	const handsOut = 5
	s.c.Wakes = func(d []record.Delta) (n uint64) {
		for _, x := range d {
			if x.Counter == handsOut {
				n += x.N
			}
		}
		return n
	}
	in, out := hookOf(record.Await).Arrive, hookOf(record.Await).Leave
	looks := func(work ...uint64) {
		s.passes(0, in, 7, 0, work...)
		s.passes(0, out, 7, 0)
	}
	want := ""
	for k := range uint64(7) {
		s.goes(1, forWork)
		s.idles(1, forWork, 5+k)
		s.goes(2, forWork)
		s.idles(2, forWork, 9)
		looks(0, 0, 0, 0, 0, 2) // for the first time since it has handed out
		looks(1)
		s.goes(2, forWork) // it looks again: so this is of the same round
		looks(1)
		s.idles(2, forWork, 1)
		looks(1)
		want += fmt.Sprintf(" [%d 10]", 5+k)
	}
	expect(t, s.Finish(), "join 1120 ["+want[1:]+"]")
}

// TestWokenForNothing: who was woken for nothing waits on, or meets others at
// work; else somebody came too late to find any, and some had not to come at all.
func TestWokenForNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*script)
		want string
	}{
		{"waits on", func(s *script) {
			s.goes(0, forAll)
			s.idles(0, forAll, 3)
			s.idles(1, forWork, 11)
		}, "[11 12 13]"},
		{"somebody works on", func(s *script) {
			s.goes(0, forAll)
			s.now += 1e6
			s.idles(1, forWork, 11)
			s.idles(0, forAll, 5000)
		}, "[11 12 13]"},
		{"nothing was left for some", func(s *script) {
			s.goes(0, forAll)
			s.idles(1, forWork)
			s.idles(0, forAll, 5000)
		}, "[0 0 0] [0 12 13]"},
	} {
		s := crewOf(3)
		for range 3 {
			s.shift(11, 12, 13)
		}
		s.idles(0, forAll)
		s.goes(1, forWork)
		c.run(s)
		for id := profile.ThreadID(2); id <= 3; id++ {
			s.goes(id, forWork)
			s.idles(id, forWork, 10+uint64(id))
		}
		s.goes(0, forAll)
		s.shift(11, 12, 13)
		t.Log(c.name)
		expect(t, s.Finish(), "join 320 [[11 12 13] [11 12 13] [11 12 13] "+c.want+" [11 12 13]]")
	}
}

// TestWhereWorkersWaitIsNoMeeting: all workers of a pool come to where they wait
// before any goes on, also before the first round.
func TestWhereWorkersWaitIsNoMeeting(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 3)
	all := func(do func(id profile.ThreadID)) {
		for id := profile.ThreadID(1); id <= 3; id++ {
			do(id)
		}
	}
	wait := func(id profile.ThreadID, work ...uint64) {
		s.idles(id, forWork, work...)
		s.enters(id, 0)
	}
	all(func(id profile.ThreadID) { wait(id) })
	for range 6 {
		s.idles(0, forAll)
		all(func(id profile.ThreadID) { s.leaves(id); s.goes(id, forWork) })
		all(func(id profile.ThreadID) { wait(id, 7) })
		s.goes(0, forAll)
	}
	for _, x := range s.Finish() {
		if x.Kind != profile.Join || len(x.Instances) != 6 {
			t.Error(x.Kind, work(x))
		}
	}
}

// TestPoolOfTasks: workers take as much as there is; who has nothing to do has a
// part of nothing.
func TestPoolOfTasks(t *testing.T) {
	s := crewOf(3)
	for k := range uint64(7) {
		work := []uint64{5, 6, 7}
		work[k%3] = 0
		s.shift(work...)
	}
	expect(t, s.Finish(), "join 320 [[0 6 7] [5 0 7] [5 6 0] [0 6 7] [5 0 7] [5 6 0] [0 6 7]]")
}

// TestPoolOfTasksInTurn: the parts of a worker are added up.
func TestPoolOfTasksInTurn(t *testing.T) {
	s := crewOf(2)
	for range 3 {
		s.idles(0, forAll)
		s.goes(1, forWork)
		s.goes(2, forWork)
		for range 3 {
			s.idles(1, forWork, 4)
			s.goes(1, forWork)
		}
		s.idles(1, forWork, 1)
		s.idles(2, forWork, 20)
		s.goes(0, forAll)
	}
	expect(t, s.Finish(), "join 320 [[13 20] [13 20] [13 20]]")
}

// TestPoolOfEarlyWork: there is work before the workers first look, so they do some
// before they wait.
func TestPoolOfEarlyWork(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	s.idles(1, forWork, 9)
	s.idles(2, forWork, 7)
	for range 4 {
		s.shift(9, 7)
	}
	expect(t, s.Finish(), "join 320 [[9 7] [9 7] [9 7] [9 7]]")
}

// TestNoPool: workers that do not work in rounds.
func TestNoPool(t *testing.T) {
	for name, run := range map[string]func(*script){
		"in turn": func(s *script) {
			for k := range 30 {
				work := make([]uint64, 2)
				work[k%2] = 9
				s.shift(work...)
			}
		},
		"one": func(s *script) {
			for range 30 {
				s.shift(9, 0)
			}
		},
		"where the first thread waits too": func(s *script) {
			for k := range 30 {
				s.shift(9, 7)
				if k == 2 {
					s.goes(2, forWork)
					s.idles(2, forAll, 3)
					s.goes(2, forAll)
					s.idles(2, forWork, 3)
				}
			}
		},
		"while others work on": func(s *script) {
			s.goes(1, forWork)
			for range 30 {
				s.now += 1e6
				s.goes(2, forWork)
				s.idles(0, forAll)
				s.idles(1, forWork, 9)
				s.goes(0, forAll)
				s.goes(1, forWork)
				s.now += 1e6
				s.idles(2, forWork, 9)
			}
		},
	} {
		s := crewOf(2)
		run(s)
		for _, x := range s.Finish() {
			if x.Kind == profile.Join {
				t.Error(name, fmt.Sprint(x))
			}
		}
	}
}

// TestPoolOfWhoIsFree: on few cores some take what others were woken for. It is a
// pool all the same, if all are back each time; not if only one works at a time.
func TestPoolOfWhoIsFree(t *testing.T) {
	s := crewOf(5)
	want := ""
	for k := range 10 {
		work := make([]uint64, 5)
		work[k%5], work[(k+2)%5] = 10, 20
		s.shift(work...)
		want += fmt.Sprint(" ", work)
	}
	expect(t, s.Finish(), "join 320 ["+want[1:]+"]")
	s = crewOf(5)
	for k := range 10 {
		work := make([]uint64, 5)
		work[k%5] = 10
		s.shift(work...)
	}
	expect(t, s.Finish())
}

// TestPoolOfWhoIsFreeTakenBack: it is none where somebody is often still at work
// when the first thread goes on. What they did is of their join then.
func TestPoolOfWhoIsFreeTakenBack(t *testing.T) {
	s := crewOf(5)
	for k := range 40 {
		work := make([]uint64, 5)
		work[k%5], work[(k+2)%5] = 10, 20
		if k < 12 {
			s.shift(work...)
			continue
		}
		s.idles(0, forAll)
		s.goes(1, forWork)
		s.goes(2, forWork)
		s.idles(2, forWork, 20)
		s.goes(0, forAll)
		s.now += 20000
		s.idles(1, forWork, 10)
	}
	for id := profile.ThreadID(1); id <= 5; id++ {
		s.dies(id)
		s.at(0, join, 0, 640)
	}
	expect(t, s.Finish(), "join 640 [[350 630 80 80 60]]")
}

// TestAtOnce: who finds work when it first looks has done that in the first round, though it
// was not seen to go on, alone or with all others; of who did little before, or too much for one, that is not believed.
func TestAtOnce(t *testing.T) {
	const later = " [21 22 23] [31 32 33] [41 42 43] [51 52 53] [61 62 63] [71 72 73]]"
	for _, c := range []struct {
		before []uint64 // that they first wait
		want   string
	}{
		{[]uint64{0, 0, 23}, "join 320 [[11 12 23]" + later},
		{[]uint64{0, 0, 2}, "join 320 [[11 12 0]" + later},
		{[]uint64{0, 0, 123}, "join 320 [[11 12 0]" + later},
		{[]uint64{21, 22, 23}, "join 320 [[21 22 23]" + later},
		{[]uint64{2, 22, 23}, "join 320 [" + later[1:]},
		{[]uint64{121, 22, 23}, "join 320 [" + later[1:]},
	} {
		s := newScript(1 << 20)
		threads(s, 3)
		none := []profile.ThreadID{}
		for k, n := range c.before {
			if id := profile.ThreadID(k + 1); n == 0 {
				none = append(none, id)
				s.idles(id, forWork)
			}
		}
		s.idles(0, forAll)
		for _, id := range none {
			s.goes(id, forWork)
		}
		for _, id := range none {
			s.idles(id, forWork, 10+uint64(id))
		}
		for k, n := range c.before {
			if n > 0 {
				s.idles(profile.ThreadID(k+1), forWork, n)
			}
		}
		s.goes(0, forAll)
		for k := uint64(2); k <= 7; k++ {
			s.shift(10*k+1, 10*k+2, 10*k+3)
		}
		expect(t, s.Finish(), c.want)
	}
}

// TestPoolOnALoadedMachine: who is back late, having waited for a core, has worked
// in the round all the same; not so who worked on, by its CPU clock.
func TestPoolOnALoadedMachine(t *testing.T) {
	const late = 300000
	for _, c := range []struct {
		on   int64 // ns of work behind the end
		want []string
	}{
		{0, []string{"join 320 [[10 10 10 10 0] [0 10 10 10 10] [10 0 10 10 10] [10 10 0 10 10] [10 10 10 0 10] [10 10 10 10 0]]"}},
		{late, nil},
	} {
		s := crewOf(5)
		clock := int64(1000)
		passes := func(id int, kind uint32, after int64, work ...record.Delta) {
			clock += after
			s.Record(profile.ThreadID(id), record.Record{Kind: kind, TSC: s.tick(), Arg3: forWork, Site: 160 * forWork, CPUNS: clock, Delta: work})
		}
		for k := range 6 {
			var back []int
			s.idles(0, forAll)
			for w := range 5 {
				if (w+1)%5 != k%5 {
					passes(w+1, idleOut, 0)
					back = append(back, w+1)
				}
			}
			for i, w := range back {
				if i == 2 && k%2 > 0 {
					s.goes(0, forAll)
					s.now += late
					clock += c.on
				}
				passes(w, idleIn, 5, record.Delta{N: 10})
			}
			if k%2 == 0 {
				s.goes(0, forAll)
			}
		}
		s.dies(1)
		expect(t, s.Finish(), c.want...)
	}
}

// TestPoolOfManyTasks: threads that take thousands of tasks a round come by the only code in
// which they idle each time, and wait there once; rounds go on to be seen.
func TestPoolOfManyTasks(t *testing.T) {
	const each, rounds = 1500, 10
	s := crewOf(3)
	s.c.Gate = func(number uint64, of bool) {
		if !of {
			t.Errorf("code %d is watched no longer", number)
		}
	}
	for range rounds {
		s.idles(0, forAll)
		for range each {
			for id := range profile.ThreadID(3) {
				s.goes(id+1, forWork)
				s.now += 1000
				s.idles(id+1, forWork, 1)
			}
		}
		s.goes(0, forAll)
	}
	if got := s.Finish(); len(got) != 1 || len(got[0].Instances) != rounds {
		t.Errorf("got %v", got)
	}
}

// TestPoolOnFewCores: one thread mostly does all before another one is on a core. Rounds in
// which two work tell that nobody works on behind their ends; rounds of one tell nothing.
func TestPoolOnFewCores(t *testing.T) {
	for _, c := range []struct{ each, want int }{{3, 60}, {1000, 0}} { // two work in one round of so many
		s := crewOf(4)
		for k := range 60 {
			work := make([]uint64, 4)
			work[k%4] = 10
			if k%c.each == c.each-1 {
				work[(k+1)%4] = 5
			}
			s.shift(work...)
		}
		got := 0
		for _, sec := range s.Finish() {
			got += len(sec.Instances)
		}
		if got != c.want {
			t.Errorf("two in one of %d rounds: %d rounds, want %d", c.each, got, c.want)
		}
	}
}

// TestPoolOrBarrier: threads whose first work was there before they were meet where they wait
// for more, or work in rounds for who hands it out. What they do is reported once.
func TestPoolOrBarrier(t *testing.T) {
	for _, late := range []bool{false, true} { // one has yet to come when the next round begins
		s := newScript(1 << 20)
		threads(s, 3)
		total := uint64(0)
		for k := range uint64(8) {
			s.idles(0, forAll)
			for id := range profile.ThreadID(3) {
				work := 10*k + uint64(id) + 1000
				total += work
				s.idles(id+1, forWork, work)
				if !late || id != profile.ThreadID(k%3) {
					s.Record(id+1, record.Record{Kind: condWait, TSC: s.tick(), Arg1: 9, Site: 160, Chain: []uint64{160, 170}})
				}
			}
			s.goes(0, forAll)
			s.Record(0, record.Record{Kind: condBroadcast, TSC: s.tick(), Arg1: 9, Site: 480, Chain: []uint64{480, 490}})
			for id := range profile.ThreadID(3) {
				s.goes(id+1, forWork)
			}
		}
		got := uint64(0)
		for _, sec := range s.Finish() {
			for _, in := range sec.Instances {
				for _, p := range in.Parts {
					for _, n := range p.Counts.N {
						got += uint64(n)
					}
				}
			}
		}
		if got > total || got < total*3/4 {
			t.Errorf("late %v: parts have %d of %d", late, got, total)
		}
	}
}
