package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// thread is one thread as seen in the order of time.
type thread struct {
	id        profile.ThreadID
	parent    *thread          // nil: unknown, gone, or the first
	maker     profile.ThreadID // that; −1: unknown, or the first
	place     profile.ThreadID // the first thread that stood where it stands
	stream    *stream
	alive     bool
	joining   bool     // waits for another thread to end
	receives  bool     // of a goroutine: something that may be work
	coroutine bool     // likewise: it takes turns with the one that made it
	sent      sent     // likewise: what it has sent since it last made another one
	group     uint64   // likewise: that it is done with, not waited for so far; 0: none
	also      []uint64 // likewise: others
	filed     bool     // likewise: it was part of an instance,
	inside    bool     // or will be, as what it did is inside of a recursion
	handle    uint64   // by which others join it; 0: not known
	called    bool     // for its end, by whoever created it
	awaited   *group   // that it last waited for by futures
	end       *arrival // its last part, when it has ended; nil: of no use any more
	start     profile.Addr
	goid      uint64       // the runtime's number, in the order of making, mostly; 0: a thread
	goAt      profile.Addr // by a go statement; 0: not known, or a thread
	nextStart profile.Addr // of the thread it is about to create,
	nextMade  callSite     // and the call that does
	made      callSite     // by which it was created

	acc      []record.Delta // since it last began
	waits    []wait         // likewise
	begin    profile.Addr
	beginTSC uint64
	cpu      int64 // its CPU clock when it began; −1: unknown
	clock    int64 // at its last record; −1: unknown
	last     uint64
	cuts     int     // how often its part began anew
	met      int     // how often it has come to where it meets others, but for those that it joins
	lacks    *undone // what a gate has ended, since its part last began otherwise; nil: nothing

	rounds rounds         // of loops that may deal work out
	seen   []sighting     // while it lived
	worked uint64         // instructions in its life, once that has ended
	life   []record.Delta // all of that, where it may be of use

	came      []*epoch // where it has waited
	meeting   int      // the last that it came to
	metParent bool     // it has shared one with the thread that created it

	joinSite profile.Addr // of its last call that joined a thread
	tied
	creates moment // when it was about to create the next one
	born    uint64

	// Of the groups that it created and joined since it last began: what it did
	// before, and what it had to wait for.
	before    *arrival
	inner     []record.Delta
	innerBusy int64
	spent     []spent // of goroutines, what it had to wait for otherwise
}

func newThread(id profile.ThreadID, parent *thread, tsc uint64) *thread {
	one := &struct { // there may be very many
		thread
		stream
	}{thread: thread{id: id, parent: parent, place: id, alive: true, beginTSC: tsc, last: tsc, born: tsc}}
	x := &one.thread
	x.stream = &one.stream
	x.stream.owner = x
	return x
}

// taken: a goroutine is of an instance.
func (x *thread) taken() bool { return x.filed || x.inside }

// arrive describes the part that ends with a record.
func (x *thread) arrive(r record.Record) arrival {
	a := arrival{t: x, tsc: r.TSC, site: profile.Addr(r.Site), chain: r.Chain, delta: slices.Clip(x.acc), waits: x.waits, begin: x.begin, beginTSC: x.beginTSC, cpu: x.clock, lacks: x.lacks}
	if x.cpu >= 0 && x.clock >= 0 {
		a.busyNS, a.timed = max(0, x.clock-x.cpu), true
	}
	return a
}

// tick sets a thread's CPU clock at a record. Where it was not read, the last
// record was so short ago that the thread cannot have been off its core.
func (x *thread) tick(r *record.Record, nsPerTick float64) {
	if r.CPUNS > 0 {
		x.clock = r.CPUNS
	} else if x.clock >= 0 {
		x.clock += int64(float64(r.TSC-x.last) * nsPerTick)
	}
	x.last = r.TSC
}

// restart begins a part anew: what was done before belongs to no section.
func (x *thread) restart(site profile.Addr, tsc uint64) {
	x.acc, x.waits, x.begin, x.beginTSC, x.cpu = nil, nil, site, tsc, x.clock
	x.lacks = nil
	x.cuts++
}

// cutInside is cut where the thread has a part in a group around it, which goes on.
func (x *thread) cutInside(a arrival, tsc uint64) {
	before, inner, busy, met := x.before, x.inner, x.innerBusy, x.met
	x.cut(a, tsc)
	x.before, x.inner, x.innerBusy, x.met = before, inner, busy, met
}

// cut ends a thread's part at an arrival and begins the next one.
func (x *thread) cut(a arrival, tsc uint64) {
	x.acc = record.Sub(x.acc, a.delta)
	x.begin, x.beginTSC, x.cpu = a.site, max(a.tsc, tsc), a.cpu
	x.keepWaits()
	x.before, x.inner, x.innerBusy = nil, nil, 0
	x.lacks = nil
	x.cuts++
	x.met++
}
