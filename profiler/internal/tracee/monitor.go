package tracee

import (
	"os"
	"path/filepath"
	"sync"
)

// The Go runtime has a thread that looks after the others: its monitor. Whenever one of
// them has come back from a system call that took long, it looks fifty times, every 20 µs,
// whether that is so again; and ours come back at every stop of the program. That took an
// eighth of our CPU time, of the cores that the program runs on. What it looks for can wait
// for some milliseconds, so the kernel is told that it may let it sleep longer. It lets only
// who may change the priority of others (root) say so; else all is as it was.

// laxity is how much longer than it asked for the monitor may sleep, in nanoseconds.
const laxity = "4000000"

var relax = sync.OnceFunc(func() {
	if tid := monitor(); tid != "" {
		os.WriteFile(slackOf(tid), []byte(laxity), 0) // refused: it looks as often as before
	}
})

// monitor is that thread: the first that the runtime makes, and the kernel lists threads as
// they were made. "": not known.
func monitor() string {
	d, err := os.Open("/proc/self/task")
	if err != nil {
		return ""
	}
	defer d.Close()
	if tids, _ := d.Readdirnames(2); len(tids) == 2 {
		return tids[1]
	}
	return ""
}

func slackOf(tid string) string { return filepath.Join("/proc", tid, "timerslack_ns") }
