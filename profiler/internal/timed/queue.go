package timed

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"
)

// When is looked: each time a run has become a fifth longer, so no more than that is
// lost of a thread that ends. Oftener would disturb what is measured: where all cores
// are the program's, a look takes one of them for a moment, and 50 looks in 0.2 s were
// 4 % of it.
const (
	longer    = 5
	firstLook = 10 * time.Millisecond
	lastLook  = 250 * time.Millisecond
)

// waited is what is known of a process, its threads and its children.
type waited struct {
	cpu, queue time.Duration
	left       bool
}

// looks reads schedstat of a process's threads until it has ended.
type looks struct {
	pid     int
	threads map[int]waited // by thread
	gone    waited         // of threads whose number another one has got
	born    map[int]bool   // the processes that it has started, and they
	stop    chan struct{}
	stopped chan struct{}
}

func watch(pid int) *looks {
	l := &looks{pid: pid, threads: map[int]waited{}, born: map[int]bool{}, stop: make(chan struct{}), stopped: make(chan struct{})}
	go func() {
		defer close(l.stopped)
		for begun := time.Now(); ; {
			select {
			case <-l.stop:
				return
			case <-time.After(min(max(time.Since(begun)/longer, firstLook), lastLook)):
				l.look(pid)
			}
		}
	}()
	return l
}

// Watch looks how long the threads of a process wait for cores, until end is called.
// That says so, and how much CPU time those threads had used by then.
func Watch(pid int) (end func() (cpu, queue time.Duration)) {
	l := watch(pid)
	return func() (cpu, queue time.Duration) {
		w := l.end()
		return w.cpu, w.queue
	}
}

// end looks once more, for the last time at the process itself, which has ended
// and was not reaped yet, and adds up.
func (l *looks) end() waited {
	close(l.stop)
	<-l.stopped
	l.look(l.pid)
	sum := l.gone
	for child := range l.born {
		sum.left = sum.left || Runs(child)
	}
	for _, t := range l.threads {
		sum.cpu += t.cpu
		sum.queue += t.queue
	}
	return sum
}

// look reads what a process's threads and their children have waited so far.
func (l *looks) look(pid int) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	d, err := os.Open(dir)
	if err != nil {
		return // it is gone
	}
	threads, _ := d.Readdirnames(-1)
	d.Close()
	for _, name := range threads {
		tid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if b, err := os.ReadFile(dir + "/" + name + "/schedstat"); err == nil {
			l.note(tid, b)
		}
		b, _ := os.ReadFile(dir + "/" + name + "/children")
		for f := range bytes.FieldsSeq(b) {
			if child, err := strconv.Atoi(string(f)); err == nil {
				l.born[child] = true
				l.look(child)
			}
		}
	}
}

// Descendants are the processes that a process has started, and they.
func Descendants(pid int) []int {
	l := &looks{threads: map[int]waited{}, born: map[int]bool{}}
	l.look(pid)
	return slices.Sorted(maps.Keys(l.born))
}

// Runs reports whether a process has not ended.
func Runs(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, ok := bytes.Cut(b, []byte(") ")) // behind its name
	return err == nil && ok && state[0] != 'Z' && state[0] != 'X'
}

// note takes a line of schedstat: ns on a core, ns waiting for one, how often.
func (l *looks) note(tid int, line []byte) {
	var now waited
	if n, err := fmt.Sscan(string(line), &now.cpu, &now.queue); n != 2 || err != nil {
		return
	}
	if was := l.threads[tid]; now.cpu < was.cpu {
		l.gone.cpu += was.cpu
		l.gone.queue += was.queue
	}
	l.threads[tid] = now
}
