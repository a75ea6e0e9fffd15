package perf

import "golang.org/x/sys/unix"

// Counter is something that is counted of each thread, wherever it happened.
type Counter struct {
	Name   string // as profile.Event has it
	of     uint32
	config uint64
	kernel bool // it happens in the kernel only
}

// What the kernel counts itself, on any machine: TaskClock is CPU time in nanoseconds.
var software = []Counter{
	{Name: "task-clock", of: unix.PERF_TYPE_SOFTWARE, config: unix.PERF_COUNT_SW_TASK_CLOCK},
	{Name: "page-faults", of: unix.PERF_TYPE_SOFTWARE, config: unix.PERF_COUNT_SW_PAGE_FAULTS},
	{Name: "context-switches", of: unix.PERF_TYPE_SOFTWARE, config: unix.PERF_COUNT_SW_CONTEXT_SWITCHES, kernel: true},
	{Name: "migrations", of: unix.PERF_TYPE_SOFTWARE, config: unix.PERF_COUNT_SW_CPU_MIGRATIONS, kernel: true},
}

// What processors count, of the program's own code. misses is the one of which
// instructions can be told.
var (
	hardware = []Counter{
		{Name: "cycles", of: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_CPU_CYCLES},
		{Name: "instructions", of: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_INSTRUCTIONS},
	}
	references = Counter{Name: "cache-references", of: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_CACHE_REFERENCES}
	misses     = Counter{Name: "cache-misses", of: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_CACHE_MISSES}
)

// MissPeriod is how many misses one that is sampled stands for: a prime, so that no
// loop's round is a multiple of it.
const MissPeriod = 2003

// attribute is how a counter is opened, as a member of a group.
func (c *Counter) attribute() unix.PerfEventAttr {
	a := unix.PerfEventAttr{Type: c.of, Config: c.config, Size: unix.PERF_ATTR_SIZE_VER5, Read_format: readFormat}
	if !c.kernel {
		a.Bits = unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
	}
	return a
}

const (
	readFormat = unix.PERF_FORMAT_GROUP | unix.PERF_FORMAT_ID | unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING

	// What samples bear: see decode.
	markBears = unix.PERF_SAMPLE_IDENTIFIER | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_READ
	missBears = unix.PERF_SAMPLE_IDENTIFIER | unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_TIME
)

// mark is how the leader of a group is opened: a breakpoint on eight bytes that are
// written, each time with a sample of the group.
func mark(at uint64) unix.PerfEventAttr {
	const onWrite, eightBytes = 2, 8 // HW_BREAKPOINT_W, HW_BREAKPOINT_LEN_8
	return unix.PerfEventAttr{
		Type: unix.PERF_TYPE_BREAKPOINT, Size: unix.PERF_ATTR_SIZE_VER5, Sample: 1, Sample_type: markBears, Read_format: readFormat,
		Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv | unix.PerfBitWatermark, Wakeup: wakeAt,
		Bp_type: onWrite, Ext1: at, Ext2: eightBytes,
	}
}

// placed is how misses are sampled, as precisely as by a level from 1 to 3.
func placed(precise int) unix.PerfEventAttr {
	a := misses.attribute()
	a.Sample, a.Sample_type, a.Wakeup = MissPeriod, missBears, wakeAt
	a.Bits |= unix.PerfBitWatermark
	if precise&1 != 0 {
		a.Bits |= unix.PerfBitPreciseIPBit1
	}
	if precise&2 != 0 {
		a.Bits |= unix.PerfBitPreciseIPBit2
	}
	return a
}
