package perf

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Thread is what is counted of one.
type Thread struct {
	groups []group // of the software, and of the hardware if there is any
	missID uint64  // of the samples of misses; 0: there are none
	missFD int

	among int // so many were opened, with it

	file *os.File // of the first event, whose ring it is
	mu   sync.Mutex
	ring *ring
	gone bool
	in   []sample // taken from the ring, and not asked for yet
	lost bool
}

// group is counters that are read at the same moment: their descriptors and numbers, those
// of the mark first.
type group struct {
	fds    []int
	ids    []uint64
	before reading
}

// Counted is what was counted of a thread between two records.
type Counted struct {
	N      []uint64       // by Set.Counters
	Misses map[uint64]int // at instructions: how many samples, each of MissPeriod
	Scaled bool           // there was not hardware for all all the time
}

// Open begins to count a thread, which is stopped: from record to record, of which each
// writes the word at an address once.
func (s *Set) Open(tid int, at uint64) (*Thread, error) {
	s.opened++
	t := &Thread{missFD: -1, among: s.opened}
	err := t.open(s, tid, at)
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("count what thread %d does: %w", tid, err)
	}
	if c, err := t.file.SyscallConn(); err == nil {
		go c.Read(func(uintptr) (done bool) { t.collect(); return false }) // until it is closed
	}
	return t, nil
}

func (t *Thread) open(s *Set, tid int, at uint64) (err error) {
	for _, of := range [][]Counter{s.Counters[:s.software], s.Counters[s.software:]} {
		if len(of) == 0 {
			continue
		}
		t.groups = append(t.groups, group{})
		g := &t.groups[len(t.groups)-1]
		attr := mark(at)
		if err = g.add(&attr, tid); err != nil {
			return err
		}
		for i := range of {
			attr := of[i].attribute()
			if err = g.add(&attr, tid); err != nil {
				return fmt.Errorf("%s: %w", of[i].Name, err)
			}
		}
		g.before.value = make([]uint64, len(of))
		if err = t.into(g.fds[0]); err != nil {
			return err
		}
	}
	if s.precise > 0 {
		attr := placed(s.precise)
		if t.missFD, err = open(&attr, tid, -1); err == nil {
			t.missID, err = identify(t.missFD)
		}
		if err == nil {
			err = t.into(t.missFD)
		}
	}
	return err
}

// open is the system call; tests have others in its stead.
var open = func(a *unix.PerfEventAttr, tid, leader int) (int, error) {
	return unix.PerfEventOpen(a, tid, -1, leader, unix.PERF_FLAG_FD_CLOEXEC)
}

// add opens an event of a group.
func (g *group) add(a *unix.PerfEventAttr, tid int) error {
	leader := -1
	if len(g.fds) > 0 {
		leader = g.fds[0]
	}
	fd, err := open(a, tid, leader)
	if err != nil {
		return err
	}
	g.fds = append(g.fds, fd)
	id, err := identify(fd)
	g.ids = append(g.ids, id)
	return err
}

// into lets an event write into the thread's ring; the first one brings it.
func (t *Thread) into(fd int) (err error) {
	if t.ring != nil {
		return unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, t.groups[0].fds[0])
	}
	if t.ring, err = mapRing(fd, t.among); err == nil {
		err = unix.SetNonblock(fd, true) // or nothing polls it
	}
	if err == nil {
		t.file = os.NewFile(uintptr(fd), "counters of a thread")
	}
	return err
}

// collect takes what is in the ring.
func (t *Thread) collect() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return
	}
	t.ring.read(func(kind uint32, body []byte) {
		if s, ok := t.decode(kind, body); ok {
			t.in = append(t.in, s)
		}
	})
}

// Next is what was counted up to the next record, which is there. It is false where that
// is not known, nor what comes after it.
func (t *Thread) Next() (c Counted, ok bool) {
	t.mu.Lock()
	missing := !t.complete()
	t.mu.Unlock()
	if missing {
		t.collect()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.next(t.complete())
}

// End is what was counted since the last record of a thread that has come to its end.
func (t *Thread) End() (c Counted, ok bool) {
	t.collect()
	t.mu.Lock()
	defer t.mu.Unlock()
	for k := range t.groups {
		g := &t.groups[k]
		b := make([]byte, 24+16*len(g.ids))
		n, err := unix.Read(g.fds[0], b)
		now, ok := decodeReading(b[:max(0, n)], g.ids)
		if err != nil || !ok {
			t.lost = true
			break
		}
		t.in = append(t.in, sample{kind: markOf + kind(k), reading: now})
	}
	return t.next(len(t.in) > 0)
}

// Close lets go of it.
func (t *Thread) Close() {
	t.mu.Lock()
	t.gone = true
	t.mu.Unlock()
	if t.file != nil {
		t.file.Close() // waits until nobody reads
		t.groups[0].fds[0] = -1
	}
	for _, g := range t.groups {
		for _, fd := range g.fds {
			if fd >= 0 {
				unix.Close(fd)
			}
		}
	}
	if t.missFD >= 0 {
		unix.Close(t.missFD)
	}
	if t.ring != nil {
		t.ring.close()
	}
}
