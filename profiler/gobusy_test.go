package profiler_test

import (
	"fmt"
	"testing"
)

// crowdedProgram has eight threads of Go's on one core, whose goroutines do the same, and
// says how much CPU time that took.
const crowdedProgram = `package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

//go:noinline
func work() (x uint64) {
	for k := range uint64(6000000) {
		x = x*6364136223846793005 + k
	}
	return x
}

func cpu() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

func main() {
	runtime.GOMAXPROCS(8)
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, t := range tasks {
		tid, _ := strconv.Atoi(t.Name())
		for core := range 1024 { // the first one that it may have
			var set [16]uint64
			set[core/64] = 1 << (core % 64)
			if _, _, err := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(tid), 128, uintptr(unsafe.Pointer(&set))); err == 0 {
				break
			}
		}
	}
	sums, before := [8]uint64{}, cpu()
	for range 6 {
		var all sync.WaitGroup
		for id := range sums {
			all.Add(1)
			go func() {
				defer all.Done()
				sums[id] += work()
			}()
		}
		all.Wait()
	}
	fmt.Println(cpu() - before)
}
`

// TestGoBusy: threads that wait for a core do not work at their goroutines; nor the first
// time, when nobody has looked at their clocks before.
func TestGoBusy(t *testing.T) {
	p, out := runSaying(t, buildGo(t, goModule(t, crowdedProgram)))
	var took int64
	if _, err := fmt.Fscan(out, &took); err != nil {
		t.Fatal(err)
	}
	if len(p.Sections) != 1 || len(p.Sections[0].Instances) != 6 {
		t.Fatalf("%d sections: %+v", len(p.Sections), p.Sections)
	}
	busy := int64(0)
	for _, in := range p.Sections[0].Instances {
		for i := range in.Parts {
			busy += in.Parts[i].BusyNS
		}
	}
	if busy < took/2 || busy > took*5/4 {
		t.Errorf("busy for %d ns, in %d ns of CPU time", busy, took)
	}
}
