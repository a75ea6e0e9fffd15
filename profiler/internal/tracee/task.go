package tracee

import (
	"bytes"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// Task is a thread of the target as the kernel shows it to anybody.
type Task struct{ stat, sched int }

// Task opens a thread's files. It is to be closed.
func (p *Process) Task(tid int) (*Task, error) {
	t := &Task{-1, -1}
	for name, fd := range map[string]*int{"stat": &t.stat, "schedstat": &t.sched} {
		path := fmt.Sprintf("/proc/%d/task/%d/%s", p.Pid, tid, name)
		var err error
		if *fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			t.Close()
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
	}
	return t, nil
}

// Close closes the files.
func (t *Task) Close() {
	for _, fd := range []*int{&t.stat, &t.sched} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
}

// Sleeps reports whether the thread neither runs nor waits for a processor, or
// for its tracer; also when it is gone.
func (t *Task) Sleeps() bool {
	var b [256]byte
	n, err := unix.Pread(t.stat, b[:], 0)
	at := bytes.LastIndexByte(b[:max(0, n)], ')') // its name may hold anything
	return err != nil || at < 0 || at+2 >= n || b[at+2] != 'R' && b[at+2] != 't'
}

// CPU is for how long the thread has run, in nanoseconds; 0 if it is gone.
func (t *Task) CPU() int64 {
	ran, _ := times(t.sched)
	return ran
}

// times reads from a thread's schedstat for how long it has run, and was ready to
// and had no processor.
func times(fd int) (ranNS, queuedNS int64) {
	var b [64]byte // os.ReadFile takes four times the system calls, at each thread's end
	n, _ := unix.Pread(fd, b[:], 0)
	first, rest, _ := bytes.Cut(b[:max(0, n)], []byte{' '})
	second, _, _ := bytes.Cut(rest, []byte{' '})
	ranNS, _ = strconv.ParseInt(string(first), 10, 64)
	queuedNS, _ = strconv.ParseInt(string(second), 10, 64)
	return ranNS, queuedNS
}
