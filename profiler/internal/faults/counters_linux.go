package faults

import (
	"golang.org/x/sys/unix"
)

// kind says which of a processor's counters wrote a sample.
type kind int

const (
	begins kind = iota // of any fault
	minors             // ends of minor ones
	majors             // ends of major ones
	kinds  = iota
)

// interval is odd, and no multiple of what is usual: faults come in pairs where a
// page is read, then written.
const interval = 17

var counters = [kinds]struct{ of, interval uint64 }{
	begins: {unix.PERF_COUNT_SW_PAGE_FAULTS, interval},
	minors: {unix.PERF_COUNT_SW_PAGE_FAULTS_MIN, interval},
	majors: {unix.PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1},
}

// everybody is who a processor's counters count for.
const everybody = -1

// open opens one of a processor's counters, with those of a leader, and says by
// which number its samples are known: of all processes, or of one and the threads that
// it will create.
func (k kind) open(pid, cpu, leader int) (fd int, id uint64, err error) {
	const stackPointer = 1 << 7 // PERF_REG_X86_SP
	c := counters[k]
	a := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Size: unix.PERF_ATTR_SIZE_VER5, Config: c.of, Sample: c.interval,
		Sample_type: unix.PERF_SAMPLE_IDENTIFIER | unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_ADDR,
		Bits:        unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv | unix.PerfBitUseClockID | unix.PerfBitWatermark,
		Wakeup:      ringSize / 2, Clockid: unix.CLOCK_MONOTONIC,
	}
	if k != begins { // which is written while the fault is timed: no more than is needed
		a.Sample_type |= unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_REGS_USER | unix.PERF_SAMPLE_STACK_USER
		a.Sample_regs_user, a.Sample_stack_user = stackPointer, 8
	}
	if pid != everybody {
		a.Bits |= unix.PerfBitInherit
	}
	if leader < 0 {
		a.Bits |= unix.PerfBitDisabled // until all are there
	}
	if fd, err = unix.PerfEventOpen(&a, pid, cpu, leader, unix.PERF_FLAG_FD_CLOEXEC); err != nil {
		return fd, 0, err
	}
	if err = unix.SetNonblock(fd, true); err == nil { // or nothing polls it
		err = control(fd, unix.PERF_EVENT_IOC_ID, &id)
	}
	if err != nil {
		unix.Close(fd)
	}
	return fd, id, err
}
