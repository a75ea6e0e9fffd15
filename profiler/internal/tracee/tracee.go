// Package tracee runs a program under ptrace: starts it, reads and writes its
// memory and registers, lets it make system calls for us, and turns wait
// statuses into events.
//
//	Start ─▶ stopped at its first instruction
//	RunTo ─▶ stopped at an address (its entry point, after the loader)
//	Resume, Wait ─▶ Event … until Gone of the last thread
//
// The tracee is seized (PTRACE_SEIZE), not attached: only so can a stopped job
// stay stopped (PTRACE_LISTEN) and go on by SIGCONT as if nobody looked.
// PTRACE_O_EXITKILL ties its life to ours. ptrace belongs to an OS thread, so
// all methods must be called from the one that called Start, locked
// (runtime.LockOSThread); and waiting takes only that thread's children, so
// that other children of the process are left to whoever waits for them.
package tracee

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skewlens/skewlens/profiler/internal/slack"
)

// ErrForbidden: the system does not let us trace. The message says the fix.
var ErrForbidden = errors.New("ptrace is not permitted")

// Command is what to run.
type Command struct {
	Path  string
	Args  []string // with the program's name as the first
	Env   []string
	Dir   string
	Files [3]uintptr // stdin, stdout, stderr
}

// Process is a program under our hand.
type Process struct {
	Pid     int
	mem     *os.File
	status  *os.File
	pending []Event       // from stops that arrived while we waited for another
	back    []*Held       // signals that were put back
	actions *dispositions // what the current event's signal may do; nil: not read yet
	owed    map[int]bool  // threads whose step another event interrupted: its trap may come yet
	threads map[int]bool
	planted breakpoint
	alarm   *alarm
	still   chan struct{} // not nil: waits are interrupted until it is closed
}

const options = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC |
	unix.PTRACE_O_TRACEEXIT | unix.PTRACE_O_EXITKILL

// Start starts a program and stops it before its first instruction.
func Start(c Command) (*Process, error) {
	quiet()
	slack.Relax()
	slack.Own()
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Files: c.Files[:],
		Sys: &syscall.SysProcAttr{Ptrace: true, Pdeathsig: unix.SIGKILL}} // until PTRACE_O_EXITKILL does that
	pid, err := syscall.ForkExec(c.Path, c.Args, attr)
	if err != nil {
		if errors.Is(err, unix.EPERM) {
			return nil, fmt.Errorf("%w: %s", ErrForbidden, Fix())
		}
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	p := &Process{Pid: pid, threads: map[int]bool{pid: true}, owed: map[int]bool{}}
	if err := p.seize(); err != nil {
		p.Kill()
		return nil, fmt.Errorf("trace %s: %w", c.Path, err)
	}
	p.mem, err = os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("open the memory of %s: %w", c.Path, err)
	}
	p.status, err = os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("trace %s: %w", c.Path, err)
	}
	if _, err := p.Syscall(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0); err != nil {
		p.Kill()
		return nil, fmt.Errorf("trace %s: %w", c.Path, err)
	}
	runtime.KeepAlive(c.Files)
	return p, nil
}

// seize turns the tracing that the child asked for (PTRACE_TRACEME) into a
// seizure: let go of it stopped, take hold again, and continue it. The stop
// and SIGCONT are seen by nobody: the program has not run yet.
func (p *Process) seize() error {
	var ws unix.WaitStatus
	if _, err := wait4(p.Pid, &ws, unix.WALL); err != nil {
		return err
	}
	if !ws.Stopped() {
		return fmt.Errorf("it ended before its first instruction (%#x)", uint32(ws))
	}
	if err := ptrace(unix.PTRACE_DETACH, p.Pid, 0, uintptr(unix.SIGSTOP)); err != nil {
		return err
	}
	if _, err := wait4(p.Pid, &ws, unix.WUNTRACED); err != nil {
		return err
	}
	if err := ptrace(unix.PTRACE_SEIZE, p.Pid, 0, options); err != nil {
		return err
	}
	if err := unix.Kill(p.Pid, unix.SIGCONT); err != nil {
		return err
	}
	for {
		if _, err := wait4(p.Pid, &ws, unix.WALL); err != nil {
			return err
		}
		if !ws.Stopped() {
			return fmt.Errorf("it ended before its first instruction (%#x)", uint32(ws))
		}
		if ws.StopSignal() == unix.SIGCONT && ws.TrapCause() <= 0 && uint32(ws)>>16 == 0 {
			return nil // stays stopped here, with the SIGCONT swallowed
		}
		if err := ptrace(unix.PTRACE_CONT, p.Pid, 0, 0); err != nil {
			return err
		}
	}
}

func wait4(pid int, ws *unix.WaitStatus, flags int) (int, error) {
	for {
		n, err := unix.Wait4(pid, ws, flags, nil)
		if err != unix.EINTR {
			return n, err
		}
	}
}

func ptrace(req, pid int, addr, data uintptr) error {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(req), uintptr(pid), addr, data, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// Close lets go of the process's memory.
func (p *Process) Close() {
	p.NoAlarm()
	if p.still != nil {
		close(p.still)
		p.still = nil
	}
	if p.mem != nil {
		p.mem.Close()
	}
	if p.status != nil {
		p.status.Close()
	}
}

// Kill ends the process and reaps it: the end of the first thread is reported
// only when all others are gone, each of which stops once more before.
func (p *Process) Kill() {
	unix.Kill(p.Pid, unix.SIGKILL)
	for _, e := range p.pending {
		p.letDie(e)
	}
	for {
		e, err := p.wait(-1)
		if err != nil || e.Kind == Gone && e.Tid == p.Pid {
			break
		}
		p.letDie(e)
	}
	p.Close()
}

// letDie lets a thread that was killed go on to its end; a child lives on.
func (p *Process) letDie(e Event) {
	switch e.Kind {
	case NewChild:
		p.Detach(e.Tid)
	case Gone:
	default:
		ptrace(unix.PTRACE_CONT, e.Tid, 0, 0)
	}
}

// Read fills b from the process's memory.
func (p *Process) Read(b []byte, addr uint64) error {
	if n, err := p.mem.ReadAt(b, int64(addr)); n < len(b) {
		if err == io.EOF { // there is no memory any more
			err = unix.ESRCH
		}
		return fmt.Errorf("read %d bytes at %#x of process %d: %w", len(b), addr, p.Pid, err)
	}
	return nil
}

// Write writes b into the process's memory, read-only pages included.
func (p *Process) Write(b []byte, addr uint64) error {
	if n, err := p.mem.WriteAt(b, int64(addr)); n < len(b) {
		return fmt.Errorf("write %d bytes at %#x of process %d: %w", len(b), addr, p.Pid, err)
	}
	return nil
}

// Poke writes into the memory of another process that is stopped, a child.
func Poke(pid int, b []byte, addr uint64) error {
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(b, int64(addr))
	return err
}

// peek reads the memory of another process that is stopped, a child.
func peek(pid int, b []byte, addr uint64) error {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.ReadAt(b, int64(addr))
	return err
}

// Return lets a stopped thread return from a function at whose first
// instruction it stands.
func (p *Process) Return(tid int) error {
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	to, err := p.Word(r.Rsp)
	if err != nil {
		return err
	}
	r.Rip, r.Rsp = to, r.Rsp+8
	return unix.PtraceSetRegs(tid, &r)
}

// Ticked lets a stopped thread go on behind an rdtsc, as if that had read a number.
func (p *Process) Ticked(tid int, n uint64) error {
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	r.Rax, r.Rdx, r.Rip = n&0xffffffff, n>>32, r.Rip+2
	return unix.PtraceSetRegs(tid, &r)
}

// Word reads 64 bits.
func (p *Process) Word(addr uint64) (uint64, error) {
	var b [8]byte
	err := p.Read(b[:], addr)
	return binary.LittleEndian.Uint64(b[:]), err
}

// WriteWord writes a 64-bit word of the target's memory.
func (p *Process) WriteWord(v, addr uint64) error {
	return p.Write(binary.LittleEndian.AppendUint64(nil, v), addr)
}

// Keys of the auxiliary vector.
const (
	auxEntry    = 9
	auxPlatform = 15 // address of a short string
	auxHWCap2   = 26
)

// Entry is the run-time address of the program's entry point.
func (p *Process) Entry() (uint64, error) { return p.Auxv(auxEntry) }

// Auxv returns an entry of the auxiliary vector.
func (p *Process) Auxv(key uint64) (uint64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", p.Pid))
	if err != nil {
		return 0, err
	}
	for ; len(b) >= 16; b = b[16:] {
		if binary.LittleEndian.Uint64(b) == key {
			return binary.LittleEndian.Uint64(b[8:]), nil
		}
	}
	return 0, fmt.Errorf("auxiliary vector of process %d: no entry %d", p.Pid, key)
}

// Mapping is a line of the process's memory map.
type Mapping struct {
	Lo, Hi, Offset uint64
	Exec           bool
	Path           string // of a mapped file
}

// Mappings returns what is mapped, by address.
func (p *Process) Mappings() ([]Mapping, error) {
	b, err := p.maps()
	if err != nil {
		return nil, err
	}
	var ms []Mapping
	for l := range strings.SplitSeq(string(b), "\n") {
		w := strings.Fields(l)
		if len(w) < 5 {
			continue
		}
		m := Mapping{Exec: strings.Contains(w[1], "x")}
		lo, hi, _ := strings.Cut(w[0], "-")
		for _, x := range []struct {
			word string
			to   *uint64
		}{{lo, &m.Lo}, {hi, &m.Hi}, {w[2], &m.Offset}} {
			if *x.to, err = strconv.ParseUint(x.word, 16, 64); err != nil {
				return nil, fmt.Errorf("read what process %d has mapped: %w", p.Pid, err)
			}
		}
		if i := strings.IndexByte(l, '/'); i >= 0 {
			m.Path = l[i:]
		}
		ms = append(ms, m)
	}
	return ms, nil
}

// maps is the list of mappings. The first thread has none any more once it has ended, which
// the others may survive.
func (p *Process) maps() ([]byte, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.Pid))
	for tid := range p.threads {
		if len(b) > 0 {
			break
		}
		b, err = os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/maps", p.Pid, tid))
	}
	if err == nil && len(b) == 0 {
		err = fmt.Errorf("read what process %d has mapped: it has ended", p.Pid)
	}
	return b, err
}

// Threads is the number of threads that are alive.
func (p *Process) Threads() int { return len(p.threads) }

// Times reads the CPU time that a stopped or dying thread has used, and for how long it
// was ready to run and had no processor.
func (p *Process) Times(tid int) (ranNS, queuedNS int64) {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/task/%d/schedstat", p.Pid, tid), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, 0
	}
	defer unix.Close(fd)
	return times(fd)
}

// SetGS points a stopped thread's GS at an address.
func (p *Process) SetGS(tid int, base uint64) error {
	const at = 22 * 8 // gs_base in struct user
	if err := ptrace(unix.PTRACE_POKEUSR, tid, at, uintptr(base)); err != nil {
		return fmt.Errorf("set GS of thread %d: %w", tid, err)
	}
	return nil
}

// GS reads a stopped thread's GS base.
func (p *Process) GS(tid int) (uint64, error) {
	var r unix.PtraceRegs
	err := unix.PtraceGetRegs(tid, &r)
	return r.Gs_base, err
}

// DwarfRegs reads a stopped thread's registers, by their DWARF numbers.
func (p *Process) DwarfRegs(tid int) ([17]uint64, error) {
	regs, _, err := p.DwarfRegsGS(tid)
	return regs, err
}

// DwarfRegsGS is DwarfRegs and GS, read at once.
func (p *Process) DwarfRegsGS(tid int) (regs [17]uint64, gs uint64, err error) {
	var r unix.PtraceRegs
	err = unix.PtraceGetRegs(tid, &r)
	return [17]uint64{r.Rax, r.Rdx, r.Rcx, r.Rbx, r.Rsi, r.Rdi, r.Rbp, r.Rsp, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15, r.Rip}, r.Gs_base, err
}

// Ending reports whether a thread that is about to end does so with all others.
func (p *Process) Ending(tid int) bool {
	var r unix.PtraceRegs
	return unix.PtraceGetRegs(tid, &r) != nil || r.Orig_rax != unix.SYS_EXIT
}

// FS reads a stopped thread's FS base, which is its pthread_t; 0: it cannot be read.
func (p *Process) FS(tid int) uint64 {
	var r unix.PtraceRegs
	if unix.PtraceGetRegs(tid, &r) != nil {
		return 0
	}
	return r.Fs_base
}

// SP reads a stopped thread's stack pointer; 0 where that cannot be done.
func (p *Process) SP(tid int) uint64 {
	var r unix.PtraceRegs
	if unix.PtraceGetRegs(tid, &r) != nil {
		return 0
	}
	return r.Rsp
}

// PC reads a stopped thread's instruction pointer.
func (p *Process) PC(tid int) (uint64, error) {
	var r unix.PtraceRegs
	err := unix.PtraceGetRegs(tid, &r)
	return r.Rip, err
}
