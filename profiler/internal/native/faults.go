package native

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/faults"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/unwind"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// pageFaults are the target's, where they may be watched. They are waits for
// memory, though of the kind that keeps a core busy.
type pageFaults struct {
	beside bool          // others watch theirs at the same time
	watch  *faults.Watch // nil: they are not known
	tsc    uint64        // when it began,
	ns     int64         // by both clocks
	// See touched:
	own    map[uint64]touch           // by instruction
	called map[[2]uint64]profile.Addr // by that and what lay on the stack
}

// open begins to watch a program that is about to have a second thread: who is
// alone keeps nobody waiting.
func (f *pageFaults) open(pid int, tids ...int) {
	watch := faults.Open
	if f.beside {
		watch = func(pid int) (*faults.Watch, error) { return faults.OpenOwn(pid, tids) }
	}
	if w, err := watch(pid); err == nil {
		f.watch, f.own, f.called = w, map[uint64]touch{}, map[[2]uint64]profile.Addr{}
		f.tsc, f.ns = bothClocks()
	}
}

// bothClocks reads them at one moment: of several, the one that took least.
func bothClocks() (tsc uint64, ns int64) {
	for best, n := ^uint64(0), 0; n < 8; n++ {
		begin, at := rdtsc(), faults.Now()
		if took := rdtsc() - begin; took < best {
			best, tsc, ns = took, begin+took/2, at
		}
	}
	return tsc, ns
}

func (f *pageFaults) close() {
	if f.watch != nil {
		f.watch.Close()
	}
}

// collect makes known what has happened until now.
func (f *pageFaults) collect() {
	if f.watch != nil {
		f.watch.Collect()
	}
}

// stamp is the time stamp of a moment.
func (f *pageFaults) stamp(ns int64, rate tickRate) uint64 {
	return f.tsc + uint64(int64(float64(ns-f.ns)/float64(rate)))
}

// soon is how long there may be nothing between samples of page faults that are
// one: each stands for some faults, which take about as long. Whose part one belongs
// to where threads meet is no better known.
const soon = 100 * time.Microsecond

// faulted are a thread's page faults since this was asked last, in their order.
func (ts *threads) faulted(t *thread) (all []record.Record) {
	f := &ts.faults
	if f.watch == nil {
		return nil
	}
	taken := f.watch.Take(t.tid)
	if len(taken) == 0 {
		return nil
	}
	rate := ts.rate
	if tsc, ns := bothClocks(); ns-f.ns > int64(10*time.Millisecond) { // the two run apart otherwise, by microseconds a second
		rate = tickRate(float64(ns-f.ns) / float64(tsc-f.tsc))
	}
	near := rate.ticks(soon)
	for _, x := range taken {
		if ts.in.holds(x.Addr) || ts.in.cacheOf(x.Addr) != nil {
			continue // our own
		}
		begin := f.stamp(x.Begin, rate)
		if begin < t.begin { // of who had this number before
			continue
		}
		w := &record.Wait{Kind: profile.WaitFault, Site: ts.touched(&x), Begin: begin, NS: x.NS, N: x.N}
		end := f.stamp(x.End, rate)
		if n := len(all); n > 0 && all[n-1].Wait.Site == w.Site && begin < all[n-1].TSC+near {
			last := &all[n-1]
			last.TSC, last.Wait.NS, last.Wait.N = end, last.Wait.NS+w.NS, last.Wait.N+w.N
			continue
		}
		all = append(all, record.Record{TSC: end, Wait: w})
	}
	return all
}

// touched is the user's instruction that a page fault is of: that which touched the
// page, or which called the function that did and keeps nothing on the stack
// (memset, memcpy). Where the user's is not known, it is the program's.
func (ts *threads) touched(x *faults.Fault) profile.Addr {
	f := &ts.faults
	own, known := f.own[x.PC]
	if !known {
		if a, counted := ts.in.addr(ts.in.original(x.PC, true)); counted {
			own = touch{profile.Addr(a), ts.waits.own(profile.Addr(a))}
		}
		f.own[x.PC] = own
	}
	if own.user { // what lies on its stack does not matter
		return own.at
	}
	k := [2]uint64{x.PC, x.Top}
	a, known := f.called[k]
	if !known {
		if a = ts.caller(x); a == 0 || own.at != 0 && !ts.waits.own(a) {
			a = own.at
		}
		f.called[k] = a
	}
	return a
}

// touch is an instruction of the program; 0: it is in none of its modules.
type touch struct {
	at   profile.Addr
	user bool // it is in the user's own code
}

// caller is the call of the function that touched a page, if its return address is
// what the stack ends in, and it was made in the program; 0: that is not known.
func (ts *threads) caller(x *faults.Fault) profile.Addr {
	var regs unwind.Regs
	regs[unwind.PC], regs[dwarfNumber[x86.RSP]] = ts.in.original(x.PC, true), x.SP
	mem, stacks := &unwind.Piece{Regs: regs, Words: binary.LittleEndian.AppendUint64(nil, x.Top)}, ts.waits.stacks
	stack, _ := stacks.walk(func() ([]unwind.Frame, bool) { return stacks.unwinder.StackIn(mem, regs) })
	if len(stack) < 2 || !stack[1].Called {
		return 0
	}
	if _, ok := ts.in.addr(stack[1].PC - 1); !ok {
		return 0
	}
	return ts.calls.at(stack[1].PC).addr
}

// doubt is the warning where the kernel had no room for all.
func (f *pageFaults) doubt() []profile.Warning {
	if f.watch == nil || f.watch.Lost() == 0 {
		return nil
	}
	return []profile.Warning{{Code: "waits", Message: fmt.Sprintf("page faults came so fast that %d notes of them found no room: more time was waited for memory than is said", f.watch.Lost())}}
}
