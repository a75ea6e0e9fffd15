package cpuclock

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Period is the CPU time between two samples. It is a prime number of nanoseconds,
// so that it does not keep step with what the program does.
const Period = 2_000_003 * time.Nanosecond

// stackBytes of each sample are kept: the frames of library functions are small.
const stackBytes = 1024

// registers that are kept: rax to rsp, the instruction pointer, r8 to r15, in the
// kernel's numbers; and the number that DWARF has for each.
const registers = 0x1ff | 0xff<<16

var dwarf = [17]int{0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15}

// attributes of an event that wakes up with the exec of what inherits it.
func attributes(kernel bool) *unix.PerfEventAttr {
	a := &unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Size: unix.PERF_ATTR_SIZE_VER5, Config: unix.PERF_COUNT_SW_TASK_CLOCK, Sample: uint64(Period),
		Sample_type: unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_REGS_USER | unix.PERF_SAMPLE_STACK_USER,
		Bits: unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitEnableOnExec | unix.PerfBitExcludeHv | unix.PerfBitMmap | unix.PerfBitMmap2 |
			unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask | unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitWatermark,
		Wakeup: ringSize / 2, Clockid: unix.CLOCK_MONOTONIC, Sample_regs_user: registers, Sample_stack_user: stackBytes,
	}
	if !kernel {
		a.Bits |= unix.PerfBitExcludeKernel
	}
	return a
}

// open opens an event of this thread on a processor. kernel: also in the kernel.
func open(cpu int, kernel bool) (fd int, err error) {
	return unix.PerfEventOpen(attributes(kernel), 0, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// errRing: the user has locked as much memory as is allowed.
var errRing = errors.New("no memory for what the kernel writes: raise ulimit -l, or kernel.perf_event_mlock_kb as root")

// forbidden says why events cannot be opened, and the fix.
func forbidden(err error) error {
	if !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("sample the CPU clock: %w", err)
	}
	b, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	level := strings.TrimSpace(string(b))
	return fmt.Errorf("sample the CPU clock: %w (kernel.perf_event_paranoid is %s): sysctl kernel.perf_event_paranoid=2 as root; in a container, also allow perf_event_open", err, level)
}

// now is the clock that samples bear, in ns.
func now() uint64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return uint64(t.Nano())
}

// processors that are online, or may come to be, are those that the kernel can have
// an event on.
func processors() []int {
	b, _ := os.ReadFile("/sys/devices/system/cpu/online")
	var cpus []int
	for piece := range strings.SplitSeq(strings.TrimSpace(string(b)), ",") {
		var lo, hi int
		if n, _ := fmt.Sscanf(piece, "%d-%d", &lo, &hi); n == 1 {
			hi = lo
		} else if n == 0 {
			continue
		}
		for c := lo; c <= hi; c++ {
			cpus = append(cpus, c)
		}
	}
	return cpus
}
