package native

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/section"
)

// units knows the loops whose rounds are told, by number, and how many of these
// are left out: where rounds are short, to tell each would cost more than they do.
type units struct {
	in   *injection
	work func([]record.Delta) uint64
	all  []unit
	told int // of all loops
}

// unit is a loop and the module that it is in.
type unit struct {
	relocate.Unit
	m      *module
	skip   uint32 // passes that are left out between two that are told
	told   int    // of all threads, since that has changed
	inside int    // of these, in rounds of other loops
	work   uint64 // instructions between them
}

// To tell a round takes about a microsecond.
const (
	period     = 256     // rounds of a loop that are told before it is looked whether that is too many
	shortRound = 200_000 // instructions between two that are told, of which that is a fiftieth
	mostSkip   = 1 << 20
)

// mostExactly are the rounds of all loops from which on short ones are left out soon.
const mostExactly = 50_000

// exactly is how many rounds of a loop are told, however short they are: fewer, the
// shorter they are.
func (us *units) exactly(mean uint64) int {
	switch {
	case mean < shortRound/100 || us.told > mostExactly:
		return period
	case mean < shortRound/10:
		return 4000
	}
	return 20_000
}

func newUnits(in *injection, work func([]record.Delta) uint64) *units {
	us := &units{in: in, work: work}
	for _, m := range in.modules {
		for _, u := range m.spec.Units() {
			us.all = append(us.all, unit{Unit: u, m: m})
		}
	}
	return us
}

// on reports whether rounds are told.
func (us *units) on() bool { return len(us.all) > 0 }

// join tells a new thread what it need not tell; alone is the only one so far.
func (us *units) join(a *threadarea.Area, alone bool) {
	if !us.on() {
		return
	}
	for n := range us.all {
		if skip := us.all[n].skip; skip > 0 {
			a.SkipUnits(int32(n), skip)
		}
	}
	a.TellUnits(!alone)
}

// rounding is a loop that a thread goes round in.
type rounding struct {
	loop  int32
	times int
	meets bool // the thread meets others in it: it deals nothing out
}

// passed looks at a record of a thread, and reports that more rounds of a loop are to
// be left out from now on.
func (us *units) passed(t *thread, rec *record.Record) (loop int32, more bool) {
	if !us.on() {
		return 0, false
	}
	if !section.IsUnit(rec.Kind) {
		for i := range t.rounds {
			t.rounds[i].meets = true
		}
		return 0, false
	}
	n := int32(rec.Arg3)
	if n < 0 || int(n) >= len(us.all) {
		return 0, false
	}
	u := &us.all[n]
	if us.goesRound(t, n) {
		u.inside++
	}
	us.told++
	u.told++
	u.work += us.work(rec.Delta)
	if u.told%period > 0 {
		return 0, false
	}
	mean := u.work / uint64(u.told)
	switch {
	case mean >= shortRound || u.skip >= mostSkip:
		return 0, false
	case u.skip == 0 && 2*u.inside < u.told && u.told < us.exactly(mean):
		return 0, false
	}
	u.skip = 2*u.skip + 1
	u.told, u.inside, u.work = 0, 0, 0
	return n, true
}

// goesRound notes that a thread has come to a loop, or has left it, and reports whether
// that is in rounds of another one.
func (us *units) goesRound(t *thread, n int32) (inside bool) {
	i := slices.IndexFunc(t.rounds, func(r rounding) bool { return r.loop == n })
	if i < 0 {
		i = len(t.rounds)
		t.rounds = append(t.rounds, rounding{loop: n})
	}
	t.rounds = t.rounds[:i+1]
	t.rounds[i].times++
	return slices.ContainsFunc(t.rounds[:i], func(r rounding) bool { return r.times > 2 && !r.meets })
}

// skip has threads leave out what is no longer told of a loop.
func (ts *threads) skip(loop int32) {
	if gs := ts.goroutines; gs != nil { // also those that nobody has taken yet
		for _, t := range gs.byBase {
			t.area.SkipUnits(loop, ts.units.all[loop].skip)
		}
		return
	}
	for _, t := range ts.byTid {
		if !t.dead && t.area != nil {
			t.area.SkipUnits(loop, ts.units.all[loop].skip)
		}
	}
}

// loop tells what is known of a loop.
func (us *units) loop(n int32) section.Loop {
	u := us.all[n]
	x := section.Loop{Index: u.Index}
	g := u.m.spec.Program.Graph(u.Func, nil)
	for _, l := range g.Loops {
		if l.Head.Start == u.Head {
			x.At = profile.Addr(lastJump(l) + u.m.base)
		}
	}
	takes := cfg.NewDealer(u.m.spec.Program).Deals(g)
	for i, b := range g.Blocks {
		if takes[i] {
			l := b.Loop
			for l != nil && !relocate.Deals(l) {
				l = l.Parent
			}
			x.Takes = x.Takes || l != nil && l.Head.Start == u.Head
		}
	}
	return x
}

// lastJump is the jump by which a loop begins its next round, which is of the
// line that says so.
func lastJump(l *cfg.Loop) (at uint64) {
	for _, e := range l.Head.Pred {
		if e.From != nil && l.Has(e.From) {
			at = max(at, e.From.Last().Addr)
		}
	}
	return at
}
