package doctor

import (
	"encoding/binary"
	"errors"
	"fmt"
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
	perfExcludeKernel = 1 << 5
	perfExcludeHV     = 1 << 6
)

// tryCycles counts the cycles of a short loop: that a counter opens does not
// mean that it counts.
func tryCycles() error {
	attr := perfAttr{Type: perfHardware, Config: perfCycles, Flags: perfExcludeKernel | perfExcludeHV}
	attr.Size = uint32(unsafe.Sizeof(attr))
	self, anyCPU, noGroup := uintptr(0), ^uintptr(0), ^uintptr(0)
	fd, _, errno := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&attr)), self, anyCPU, noGroup, 0, 0)
	if errno != 0 {
		return fmt.Errorf("perf_event_open: %w", errno)
	}
	defer syscall.Close(int(fd))
	for range 1000 {
		syscall.Getppid()
	}
	var b [8]byte
	if _, err := syscall.Read(int(fd), b[:]); err != nil {
		return fmt.Errorf("read the counter: %w", err)
	}
	if binary.NativeEndian.Uint64(b[:]) == 0 {
		return errors.New("the counter stands still")
	}
	return nil
}
