package section

import (
	"fmt"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Goroutines that wait for a sync.Mutex or an RWMutex. No system call shows that, as it
// does of threads: the runtime lets other goroutines run meanwhile. So the functions are
// recorded by which locks wait, where they have to, and let one of those who do go on:
//
//	goroutine 1   ─ Lock ──────────────── Unlock: semrelease ─
//	goroutine 2   ───── Lock: semacquire ·················▷ ──
//
// Whose lock it is the words tell that they wait on, as those of futexes do (wakes.go).

// goLocks are the waits for locks that are under way.
type goLocks struct {
	t     *Tracker
	at    map[*thread]lockWait
	calls map[profile.Addr]bool // of the library's, that were recorded
	heard int                   // records
}

// lockWait is a goroutine's wait since a moment, when it had worked for so long.
type lockWait struct {
	object, since uint64
	clock         int64
	site          profile.Addr
}

func locks(t *Tracker) rule {
	l := &goLocks{t: t, at: map[*thread]lockWait{}, calls: map[profile.Addr]bool{}}
	if t != nil {
		t.locks = l
	}
	return rule{calls: []call{
		{names: []string{"sync.runtime_SemacquireMutex", "internal/sync.runtime_SemacquireMutex", "sync.runtime_SemacquireRWMutex", "sync.runtime_SemacquireRWMutexR"},
			arrive: l.waits, leave: l.got, waits: true, locks: true, brief: true},
		// As if it waited, too: a wake that is only recorded where somebody has begun to wait
		// since the one before would not be where two do.
		{names: []string{"sync.runtime_Semrelease", "internal/sync.runtime_Semrelease"}, arrive: l.wakes, waits: true, brief: true},
	}}
}

func (l *goLocks) waits(x *thread, r record.Record) {
	l.at[x] = lockWait{r.Arg1, r.TSC, x.clock, l.hears(r)}
}

// hears notes that there was another record, and returns the call by which the program's
// own code came to the lock.
func (l *goLocks) hears(r record.Record) profile.Addr {
	l.heard++
	l.calls[profile.Addr(r.Site)] = true
	return l.t.out.own(&r)
}

func (l *goLocks) got(x *thread, r record.Record) {
	at, known := l.at[x]
	delete(l.at, x)
	ns := int64(float64(r.TSC-at.since)*l.t.c.NSPerTick) - (x.clock - at.clock)
	if !known || at.since < x.beginTSC || ns < shortest {
		return
	}
	x.keep(wait{Wait: profile.Wait{Kind: profile.WaitLock, Site: at.site, NS: ns, N: 1}, begin: at.since, end: r.TSC})
	l.t.words.waited(x, &record.Wait{Begin: at.since, Object: at.object}, r.TSC)
}

func (l *goLocks) wakes(x *thread, r record.Record) {
	l.t.words.woke(x, &record.Wait{Begin: r.TSC, Object: r.Arg1, Wakes: 1, Site: l.hears(r)}, r.TSC)
}

// mostLocks is how many waits for locks, and ends of such, are recorded: with more of them
// to look at each would take longer than the program does.
const mostLocks = 1 << 16

// tired: no more is to be recorded of a call.
func (l *goLocks) tired(call profile.Addr) bool { return l.heard >= mostLocks && l.calls[call] }

func (l *goLocks) doubts() []profile.Warning {
	if l.heard < mostLocks {
		return nil
	}
	return []profile.Warning{{Code: "waits", Message: fmt.Sprintf("goroutines waited for locks so often that only the first %d times are measured", mostLocks/2)}}
}
