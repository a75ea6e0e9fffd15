package faults

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Fault is some page faults of a thread at one instruction.
type Fault struct {
	Begin, End int64  // from the first to the last, in ns of CLOCK_MONOTONIC
	NS         int64  // how long they took together; 0: not known
	N          int    // how many
	Addr       uint64 // what the first one touched
	PC, SP     uint64 // the instruction, and the stack pointer there
	Top        uint64 // the word that SP points at
	major      bool
}

// Of a thread nobody asks for, so many samples are kept one by one; then they are
// added to one of the last few at the same instruction, if there is one.
const many, few = 4096, 16

// Watch is the page faults of one process.
type Watch struct {
	pid uint32

	mu      sync.Mutex
	rings   []*ring
	later   []sample // read, but others from before them may not be
	threads map[int][]Fault
	usual   map[where]usual // also of all instructions together, as of none
	lost    uint64
	closed  bool
}

// Open begins to watch a process.
func Open(pid int) (*Watch, error) {
	cpus, err := online(os.ReadFile)
	if err != nil {
		return nil, err
	}
	return open(pid, []int{everybody}, cpus)
}

// most processors have counters of one process's own: each of its threads has them all.
const most = 16

// OpenOwn begins to watch a process by counters of its own: those threads of it, and all
// that they will create.
func OpenOwn(pid int, tids []int) (*Watch, error) {
	cpus, err := allowed(pid)
	if err != nil {
		return nil, err
	}
	if len(cpus) > most {
		return nil, fmt.Errorf("it may run on %d processors", len(cpus))
	}
	return open(pid, tids, cpus)
}

// allowed are the processors that a thread may run on.
func allowed(tid int) (cpus []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(tid, &set); err != nil {
		return nil, err
	}
	for cpu := range 1024 { // of a CPUSet
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

func open(pid int, of, cpus []int) (*Watch, error) {
	w := &Watch{pid: uint32(pid), threads: map[int][]Fault{}, usual: map[where]usual{}}
	for _, who := range of {
		for _, cpu := range cpus {
			r, err := openRing(who, cpu)
			if err != nil {
				w.Close()
				return nil, fmt.Errorf("watch page faults on processor %d: %w", cpu, err)
			}
			w.rings = append(w.rings, r)
		}
	}
	for _, r := range w.rings {
		c, err := r.file.SyscallConn()
		if err != nil {
			w.Close()
			return nil, err
		}
		go c.Read(func(uintptr) (done bool) { w.Collect(); return false }) // until it is closed
	}
	return w, nil
}

// Close ends the watch.
func (w *Watch) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	for _, r := range w.rings {
		r.close()
	}
}

// Take returns a thread's faults until now that were not taken yet, in their order.
func (w *Watch) Take(tid int) []Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	fs := w.threads[tid]
	delete(w.threads, tid)
	for i := range fs {
		f := &fs[i]
		u, ok := w.usual[where{f.PC, f.major}]
		if !ok {
			u = w.usual[where{major: f.major}]
		}
		f.NS = int64(f.N) * u.mean()
	}
	return fs
}

// Lost is how many samples found no room.
func (w *Watch) Lost() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// Collect takes what there is of all threads from the rings.
func (w *Watch) Collect() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	horizon := Now() // what another ring has from before is there
	for _, r := range w.rings {
		w.lost += r.read(func(s sample) {
			if s.pid == w.pid && s.kind != begins { // the ring has seen to these
				w.later = append(w.later, s)
			}
		})
		if r.apart >= 2 {
			r.restart()
		}
	}
	slices.SortStableFunc(w.later, func(a, b sample) int { return cmp.Compare(a.at, b.at) })
	n := 0
	for ; n < len(w.later) && w.later[n].at < horizon; n++ {
		w.add(&w.later[n])
	}
	w.later = slices.Delete(w.later, 0, n)
}

// add counts a sample of an end.
func (w *Watch) add(s *sample) {
	f := Fault{Begin: s.at - s.ns, N: int(counters[s.kind].interval), major: s.kind == majors}
	k := where{s.pc, f.major}
	if u := w.usual[k]; s.ns > 0 && (f.major || u.plausible(s.ns)) {
		all := where{major: f.major}
		w.usual[k], w.usual[all] = u.and(s.ns), w.usual[all].and(s.ns)
	}
	w.append(s, f)
}

// append adds a fault to its thread's.
func (w *Watch) append(s *sample, f Fault) {
	f.End, f.Addr, f.PC, f.SP, f.Top = s.at, s.addr, s.pc, s.sp, s.top
	fs := w.threads[int(s.tid)]
	if n := len(fs); n >= many {
		for i := n - 1; i >= n-few; i-- {
			if x := &fs[i]; x.PC == f.PC && x.major == f.major {
				x.End, x.N = f.End, x.N+f.N
				return
			}
		}
		if n >= few*many {
			w.lost++
			return
		}
	}
	w.threads[int(s.tid)] = append(fs, f)
}

// where are faults of one kind, at one instruction.
type where struct {
	pc    uint64
	major bool
}

// usual is how long so many faults took that were timed.
type usual struct{ n, ns int64 }

func (u usual) and(ns int64) usual { return usual{u.n + 1, u.ns + ns} }

func (u usual) mean() int64 { return u.ns / max(1, u.n) }

// plausible reports whether a fault took no longer than others do: in one that took
// half a millisecond and ten times as long, the thread has lost its core.
func (u usual) plausible(ns int64) bool {
	const slice, much, enough = 500_000, 10, 8
	return ns <= slice || u.n < enough || ns <= much*u.mean()
}

// Now is CLOCK_MONOTONIC in ns.
func Now() int64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}
