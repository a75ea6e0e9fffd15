package tracee

import (
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Who waits for a thread's event cannot wait for a moment in time, too, but by
// a signal that interrupts the wait. Go's own handlers have the kernel go on
// with it, so this one has a handler that does nothing.

// alarmSignal is a real-time signal that nobody else uses.
const alarmSignal = unix.Signal(63)

// handler is the addresses of one, and of what it returns to.
func handler() (enter, leave uintptr)

var install = sync.OnceValue(func() bool {
	enter, leave := handler()
	const restorer, onStack = 0x04000000, 0x08000000
	action := struct {
		handler  uintptr
		flags    uint64
		restorer uintptr
		mask     uint64
	}{enter, restorer | onStack, leave, 0}
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(alarmSignal), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	return e == 0
})

// alarm interrupts waits.
type alarm struct {
	rings atomic.Bool // since the last Rang
	off   chan struct{}
}

// Alarm has Wait return an event of kind Rang each time that so much time has
// passed. It reports false where that cannot be.
func (p *Process) Alarm(every time.Duration) bool {
	if p.alarm != nil {
		return true
	}
	if !install() {
		return false
	}
	a := &alarm{}
	a.off = interrupt(every, func() { a.rings.Store(true) })
	p.alarm = a
	return true
}

// interrupt interrupts whatever this thread waits for, each time that so much time has
// passed, after it has called first, until off is closed. The handler is installed.
func interrupt(every time.Duration, first func()) (off chan struct{}) {
	off = make(chan struct{})
	pid, tid := os.Getpid(), unix.Gettid()
	go func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-off:
				return
			case <-t.C: // again, if the last one came just before the wait
				first()
				unix.Tgkill(pid, tid, alarmSignal)
			}
		}
	}()
	return off
}

// NoAlarm takes it back.
func (p *Process) NoAlarm() {
	if p.alarm != nil {
		close(p.alarm.off)
		p.alarm = nil
	}
}

// rang reports whether time has passed.
func (p *Process) rang() bool { return p.alarm != nil && p.alarm.rings.Swap(false) }

// rings is rang, and leaves it to that to tell.
func (p *Process) rings() bool { return p.alarm != nil && p.alarm.rings.Load() }
