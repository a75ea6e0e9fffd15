// Package slack is about how much longer than they ask for the kernel lets threads of ours
// sleep, and programs that we start: each begins with what the thread has that starts it.
//
//	monitor of the Go runtime ─▶ Relax ─▶ sleeps longer ─┬─▶ threads that it makes, too
//	                                                     ✂ Own
//	                                  thread of ours that starts a program ─▶ the program
//
// The monitor looks after the runtime's other threads. Whenever one of them has come back
// from a system call that took long, it looks fifty times, every 20 µs, whether that is so
// again; and ours come back at every stop of the program that is profiled. That took an
// eighth of our CPU time, of the cores that the program runs on. What it looks for can wait
// for some milliseconds. The kernel lets only who may change the priority of others (root)
// say so; else all is as it was.
package slack

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// laxity is how much longer than it asked for the monitor may sleep, in nanoseconds.
const laxity = "4000000"

// Relax lets the monitor sleep longer.
var Relax = sync.OnceFunc(func() {
	if tid := monitor(); tid != "" {
		os.WriteFile(of(tid), []byte(laxity), 0) // refused: it looks as often as before
	}
})

// monitor is that thread: the first that the runtime makes, and the kernel lists threads as
// they were made. "": not known.
func monitor() string {
	d, _ := os.Open("/proc/self/task")
	defer d.Close()
	if tids, _ := d.Readdirnames(2); len(tids) == 2 { // of no file: none
		return tids[1]
	}
	return ""
}

// Own gives this thread what the process's first one has, which nobody made: the monitor
// may have made this one, or who did.
func Own() {
	if ns, err := os.ReadFile(of("self")); err == nil { // else the monitor sleeps as it did
		os.WriteFile(of(strconv.Itoa(syscall.Gettid())), ns, 0)
	}
}

func of(tid string) string { return filepath.Join("/proc", tid, "timerslack_ns") }
