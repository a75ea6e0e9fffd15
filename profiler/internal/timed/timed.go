// Package timed runs a program as it is and says how long it took: on a wall
// clock, in CPU time of all its threads and children, and waiting for cores.
//
//	Job ─▶ fork from one thread ─▶ the program ─────▶ ended, not yet reaped ─▶ reaped
//	        │ its cores and perf     │ now and then       │                      │
//	        │ events are inherited   ▼                    ▼                      ▼
//	        └ Before              run queues (schedstat of each thread)      CPU time (wait4)
//
// Nothing is put into the program, and it is not traced. CPU time is the kernel's
// own account, of threads that have ended and of children that were waited for.
// What a thread waited for cores is gone when the thread is, so it is read now and
// then while it runs: what it waited after the last look is lost. The same file has
// the thread's CPU time, so it is known of how much of the program's CPU time the
// waiting is known (Result.Seen).
package timed

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skewlens/skewlens/profiler/internal/slack"
)

// Job is a program to be run once.
type Job struct {
	Path   string // of the file
	Words  []string
	Env    []string
	Dir    string
	Files  [3]uintptr
	Cores  []int            // which it may use; nil: all that this process may
	Turns  bool             // its threads shall take long turns where they are more than its cores
	Before func() func(int) // called in the thread that starts the program, which inherits what it opens; what it returns, once the program runs
	Limit  time.Duration    // it is killed when it has run so long; 0: never
	Began  func(pid int)    // called when the program runs
	Ended  func()           // called when it has ended, while its pid is still its own
}

// Result is how it went.
type Result struct {
	Wall, CPU, Queue time.Duration
	Seen             float64 // part of CPU whose threads' waiting is in Queue
	Exit             int
	Signal           syscall.Signal // that ended it; 0: none
	Left             bool           // something that it started still runs
	Late             bool           // it was killed, having run to its limit
}

// Run runs a job to its end. Should this process end before, the program is killed.
func Run(j Job) (r Result, err error) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// What a thread has, the child inherits; and when the thread ends, the
		// child is killed. So one thread does it all, and then ends, too: it is
		// still locked, and its cores are not those of the others.
		runtime.LockOSThread()
		if len(j.Cores) == 0 && j.Before == nil {
			defer runtime.UnlockOSThread()
		}
		r, err = run(j)
	}()
	<-ended
	return r, err
}

func run(j Job) (Result, error) {
	if err := pin(j.Cores); err != nil {
		return Result{}, err
	}
	if j.Turns {
		takeTurns(0)
	}
	begun := func(int) {}
	if j.Before != nil {
		begun = j.Before()
	}
	slack.Own()
	start := time.Now()
	pid, err := syscall.ForkExec(j.Path, j.Words, &syscall.ProcAttr{
		Dir: j.Dir, Env: j.Env, Files: j.Files[:],
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return Result{}, startError(j.Words[0], err)
	}
	begun(pid)
	if j.Began != nil {
		j.Began(pid)
	}
	looks := watch(pid)
	inTime := limited(pid, j.Limit)
	err = await(pid)
	r := Result{Wall: time.Since(start), Late: !inTime()}
	if j.Ended != nil {
		j.Ended()
	}
	seen := looks.end()
	if err != nil {
		return r, fmt.Errorf("wait for %s: %w", j.Words[0], err)
	}
	var status unix.WaitStatus
	var used unix.Rusage
	for {
		if _, err = unix.Wait4(pid, &status, 0, &used); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return r, fmt.Errorf("wait for %s: %w", j.Words[0], err)
	}
	r.CPU = time.Duration(used.Utime.Nano() + used.Stime.Nano())
	r.Queue, r.Left = seen.queue, seen.left
	r.Seen = 1
	if r.CPU > 0 {
		r.Seen = min(1, float64(seen.cpu)/float64(r.CPU))
	}
	r.Exit = status.ExitStatus()
	if status.Signaled() {
		r.Signal, r.Exit = status.Signal(), 0
	}
	return r, nil
}

// limited kills a process, and what it has started, when it has run for so long, if that is
// limited. What it returns ends that, and reports whether the process ended by itself.
func limited(pid int, limit time.Duration) func() bool {
	if limit == 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(limit, func() {
		for _, p := range append(Descendants(pid), pid) {
			syscall.Kill(p, syscall.SIGKILL)
		}
	}).Stop
}

// await waits until a process has ended, and leaves it to be read.
func await(pid int) error {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return err
		}
	}
}

func startError(name string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("run %s: neither a program nor a script that begins with #!: name the interpreter, as in sh %s", name, name)
	case errors.Is(err, syscall.ENOENT):
		return fmt.Errorf("run %s: %w: what its first line, or its program header, names as interpreter is not there", name, err)
	}
	return fmt.Errorf("run %s: %w", name, err)
}

// pin keeps this thread, and what it starts, on some cores.
func pin(cores []int) error {
	if len(cores) == 0 {
		return nil
	}
	return pinned(0, cores)
}

// pinned keeps a thread on some cores; 0: this one.
func pinned(tid int, cores []int) error {
	var set unix.CPUSet
	for _, c := range cores {
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(tid, &set); err != nil {
		return fmt.Errorf("keep the program on cores %v: %w: do without --pin", cores, err)
	}
	return nil
}

// turn is how long a thread may have a core while others wait for it. What it then has to
// fetch into a cache again takes less than a hundredth of that; threads that spin while
// they wait for each other waste a turn each time.
const turn = 20 * time.Millisecond

// Turns lets a process that has one thread, and all that this starts, take turns on one
// core of those that this process may use.
func Turns(pid int) error {
	cores, _, err := Cores()
	if err == nil {
		err = pinned(pid, cores[:1])
	}
	takeTurns(pid)
	return err
}

// takeTurns lets a thread (0: this one), and what it starts, keep a core for long when it
// has one, and not lose it to one that wakes up. Kernels before 6.12 know only the latter.
func takeTurns(tid int) {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH, Runtime: uint64(turn)}
	if unix.SchedSetAttr(tid, &a, 0) != nil {
		a.Runtime = 0
		_ = unix.SchedSetAttr(tid, &a, 0) // else turns are shorter, and what a cache has lost meanwhile is more
	}
}

// Cores are those that this process may use, one of each physical core first:
// two hardware threads of a core share what it has. whole is how many physical
// ones they are.
func Cores() (cores []int, whole int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, 0, fmt.Errorf("ask which cores may be used: %w", err)
	}
	var second []int
	met := map[string]bool{}
	for c := range 8 * len(set) * 8 {
		if !set.IsSet(c) {
			continue
		}
		b, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", c))
		if err == nil && met[string(b)] {
			second = append(second, c)
			continue
		}
		met[string(b)] = true
		cores = append(cores, c)
	}
	return append(cores, second...), len(cores), nil
}
