package doctor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"syscall"
	"unsafe"
)

// perfAttr is the first version of struct perf_event_attr, which every kernel
// still accepts.
type perfAttr struct {
	Type, Size                     uint32
	Config, Period, Sample, Format uint64
	Flags                          uint64
	Wakeup, BreakType              uint32
	BreakAddr                      uint64
}

const (
	perfHardware      = 0 // PERF_TYPE_HARDWARE
	perfCycles        = 0 // PERF_COUNT_HW_CPU_CYCLES
	perfInstructions  = 1 // PERF_COUNT_HW_INSTRUCTIONS
	perfTimes         = 3 // PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING
	perfExcludeKernel = 1 << 5
	perfExcludeHV     = 1 << 6
)

// counted is how many of an event this thread makes while do runs.
func counted(event uint64, do func()) (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	attr := perfAttr{Type: perfHardware, Config: event, Format: perfTimes, Flags: perfExcludeKernel | perfExcludeHV}
	attr.Size = uint32(unsafe.Sizeof(attr))
	self, anyCPU, noGroup := uintptr(0), ^uintptr(0), ^uintptr(0)
	fd, _, errno := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&attr)), self, anyCPU, noGroup, 0, 0)
	if errno != 0 {
		return 0, fmt.Errorf("perf_event_open: %w", errno)
	}
	defer syscall.Close(int(fd))
	before, err := readCounter(int(fd))
	if err != nil {
		return 0, err
	}
	do()
	after, err := readCounter(int(fd))
	if err != nil {
		return 0, err
	}
	return between(before, after)
}

// readCounter reads a count, for how long it was wanted, and for how long of that there was
// hardware to count it.
func readCounter(fd int) (v [3]uint64, err error) {
	var b [24]byte
	n, err := syscall.Read(fd, b[:])
	if err == nil && n < len(b) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return v, fmt.Errorf("read the counter: %w", err)
	}
	for i := range v {
		v[i] = binary.NativeEndian.Uint64(b[8*i:])
	}
	return v, nil
}

// between is what was counted between two readings, as if there had been hardware all the time.
func between(before, after [3]uint64) (float64, error) {
	n, wanted, had := after[0]-before[0], after[1]-before[1], after[2]-before[2]
	if had == 0 {
		return 0, errors.New("others have all of them")
	}
	return float64(n) * float64(wanted) / float64(had), nil
}
