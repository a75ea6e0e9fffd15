package tracee

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// deeds is testdata/deeds.c, built once: static and at a fixed address, so that
// its symbols are addresses.
var deeds struct {
	once sync.Once
	path string
	syms map[string]uint64
}

func TestMain(m *testing.M) {
	code := m.Run()
	if deeds.path != "" {
		os.RemoveAll(filepath.Dir(deeds.path))
	}
	os.Exit(code)
}

func program(t *testing.T) string {
	t.Helper()
	proctest.Need(t, "gcc")
	deeds.once.Do(func() {
		prog := proctest.Build(t, "gcc", "-O1", "-static", "-no-pie", "-fno-pie", "-pthread", "testdata/deeds.c")
		dir, err := os.MkdirTemp("", "deeds")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "deeds") // the test that builds it ends before others need it
		if err := os.Rename(prog, path); err != nil {
			t.Fatal(err)
		}
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		syms, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		deeds.syms = map[string]uint64{"entry": f.Entry}
		for _, s := range syms {
			deeds.syms[s.Name] = s.Value
		}
		deeds.path = path
	})
	if deeds.path == "" {
		t.Skip("the program was not built")
	}
	return deeds.path
}

// start starts a deed, stopped before its first instruction.
func start(t *testing.T, what ...string) *Process {
	t.Helper()
	path := program(t)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	runtime.LockOSThread()
	p, err := Start(Command{Path: path, Args: append([]string{path}, what...), Env: []string{"A=b"}, Dir: t.TempDir(), Files: [3]uintptr{null.Fd(), null.Fd(), null.Fd()}})
	if errors.Is(err, ErrForbidden) {
		runtime.UnlockOSThread()
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Kill(p.Pid, unix.SIGKILL)
		for e, err := p.Wait(); err == nil; e, err = p.Wait() {
			p.Resume(e)
		}
		p.Close()
		runtime.UnlockOSThread()
	})
	return p
}

// until resumes a process up to an event of a kind; the events before it are returned too.
func until(t *testing.T, p *Process, kind EventKind) (e Event, before []Event) {
	t.Helper()
	for {
		e, err := p.Wait()
		if err != nil {
			t.Fatalf("waiting for an event of kind %d: %v", kind, err)
		}
		if e.Kind == kind {
			return e, before
		}
		before = append(before, e)
		check(t, p.Resume(e))
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ends resumes a process to its end, which must be exit code 7.
func ends(t *testing.T, p *Process) (all []Event) {
	t.Helper()
	for {
		e, before := until(t, p, Gone)
		all = append(append(all, before...), e)
		if e.Tid != p.Pid {
			continue
		}
		if code, signal := e.End(); code != 7 || signal != 0 {
			t.Errorf("ended with exit code %d, signal %v", code, signal)
		}
		if _, err := p.Wait(); err != unix.ECHILD || p.Threads() != 0 {
			t.Errorf("behind the end: %v, %d threads", err, p.Threads())
		}
		return all
	}
}

// TestStart: stopped at the first instruction, with its arguments, killed without a trace.
func TestStart(t *testing.T) {
	p := start(t, "exit")
	pc, err := p.PC(p.Pid)
	check(t, err)
	entry, err := p.Entry()
	check(t, err)
	if pc != entry || entry != deeds.syms["entry"] || p.Threads() != 1 {
		t.Errorf("at %#x, entry %#x, %d threads", pc, entry, p.Threads())
	}
	if _, err := p.Auxv(12345); err == nil {
		t.Error("an entry of the auxiliary vector that there is not")
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.Pid))
	if err != nil || string(env) != "A=b\x00" {
		t.Errorf("environment %q, %v", env, err)
	}
	p.Kill()
	if err := unix.Kill(p.Pid, 0); err != unix.ESRCH {
		t.Errorf("it is there after it was killed: %v", err)
	}
	if err := p.Read(make([]byte, 1), entry); err == nil {
		t.Error("its memory is there after it was killed")
	}
}

func TestStartFails(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dir := t.TempDir()
	_, err := Start(Command{Path: filepath.Join(dir, "missing"), Args: []string{"x"}})
	if err == nil || !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "missing") {
		t.Errorf("%v", err)
	}
}

func TestRun(t *testing.T) {
	p := start(t, "exit")
	check(t, p.Go())
	kinds := map[EventKind]int{}
	for _, e := range ends(t, p) {
		kinds[e.Kind]++
	}
	if kinds[Exiting] != 1 || kinds[Gone] != 1 || kinds[NewThread] != 0 {
		t.Errorf("events by kind: %v", kinds)
	}
}

func TestKilledBySignal(t *testing.T) {
	p := start(t, "abort")
	check(t, p.Go())
	e, before := until(t, p, Gone)
	if _, signal := e.End(); signal != unix.SIGABRT || !strings.Contains(e.err().Error(), "SIGABRT") {
		t.Errorf("ended by %v, %v", signal, e.err())
	}
	if !slices.ContainsFunc(before, func(e Event) bool { return e.Kind == Signal && e.Sig == unix.SIGABRT }) {
		t.Error("the signal was not told before")
	}
}

// TestRunTo stops at functions; the code is as it was.
func TestRunTo(t *testing.T) {
	p := start(t, "return")
	for _, name := range []string{"main", "answer"} {
		a := deeds.syms[name]
		var was, is [4]byte
		check(t, p.Read(was[:], a))
		check(t, p.RunTo(a))
		check(t, p.Read(is[:], a))
		if pc, err := p.PC(p.Pid); pc != a || err != nil || was != is {
			t.Errorf("at %#x, to stop at %s, %#x: %v; its code is % x, was % x", pc, name, a, err, is, was)
		}
	}
	check(t, p.Go())
	ends(t, p)
	if err := start(t, "exit").RunTo(deeds.syms["answer"]); err == nil || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("it ended before: %v", err)
	}
}

// TestReturn leaves a function that was not run: the exit code is its argument.
func TestReturn(t *testing.T) {
	p := start(t, "return")
	check(t, p.RunTo(deeds.syms["answer"]))
	check(t, p.Return(p.Pid))
	check(t, p.Go())
	e, _ := until(t, p, Gone)
	if code, _ := e.End(); code == 7 {
		t.Error("the function was run")
	}
}

func TestMemory(t *testing.T) {
	p := start(t, "memory")
	var b [4]byte
	check(t, p.Read(b[:], deeds.syms["text"]))
	w, err := p.Word(deeds.syms["word"])
	if string(b[:]) != "what" || w != 5 || err != nil {
		t.Errorf("read %q, %d, %v", b, w, err)
	}
	check(t, p.Write([]byte("WHAT"), deeds.syms["text"]))
	check(t, p.WriteWord(6, deeds.syms["word"]))
	check(t, p.Write([]byte{0xc3}, deeds.syms["answer"])) // code, which the program cannot write
	check(t, Poke(p.Pid, []byte{0x90}, deeds.syms["answer"]))
	for what, err := range map[string]error{"read": p.Read(b[:], 16), "write": p.Write(b[:], 16)} {
		if want := fmt.Sprintf("%s 4 bytes at 0x10 of process %d", what, p.Pid); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	check(t, p.Go())
	ends(t, p)
}

func TestMappings(t *testing.T) {
	p := start(t, "exit")
	ms, err := p.Mappings()
	check(t, err)
	main := deeds.syms["main"]
	found := slices.ContainsFunc(ms, func(m Mapping) bool { return m.Exec && m.Path == deeds.path && m.Lo <= main && main < m.Hi })
	if !found || !slices.IsSortedFunc(ms, func(a, b Mapping) int { return cmp.Compare(a.Lo, b.Lo) }) {
		t.Errorf("main, at %#x, is not in %+v", main, ms)
	}
}

// TestRegisters sets and reads what can be.
func TestRegisters(t *testing.T) {
	p := start(t, "return")
	check(t, p.RunTo(deeds.syms["answer"]))
	check(t, p.SetGS(p.Pid, 0x1234000))
	if gs, err := p.GS(p.Pid); gs != 0x1234000 || err != nil {
		t.Errorf("GS at %#x, %v", gs, err)
	}
	regs, err := p.DwarfRegs(p.Pid)
	if err != nil || regs[16] != deeds.syms["answer"] || regs[5] != 6 { // rip, rdi
		t.Errorf("rip %#x, rdi %d, %v", regs[16], regs[5], err)
	}
	if pc, restarts, err := p.Where(p.Pid); pc != regs[16] || restarts || err != nil {
		t.Errorf("at %#x, restarts %v, %v", pc, restarts, err)
	}
	ran, queued := p.Times(p.Pid)
	if none, never := p.Times(1 << 30); ran <= 0 || queued < 0 || none != 0 || never != 0 {
		t.Errorf("CPU time %d, %d; of no thread %d, %d", ran, queued, none, never)
	}
	for _, err := range []error{p.SetGS(1<<30, 0), p.SetPC(1<<30, 0), p.Return(1 << 30)} {
		if err == nil {
			t.Error("a thread that there is not is set")
		}
	}
}

// TestSyscall makes system calls in the program's name; it notices nothing.
func TestSyscall(t *testing.T) {
	p := start(t, "return")
	check(t, p.RunTo(deeds.syms["answer"]))
	before, err := p.DwarfRegs(p.Pid)
	check(t, err)
	if pid, err := p.Syscall(unix.SYS_GETPID); int(pid) != p.Pid || err != nil {
		t.Errorf("getpid is %d, %v, of process %d", pid, err, p.Pid)
	}
	a, err := p.Syscall(unix.SYS_MMAP, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, ^uint64(0), 0)
	check(t, err)
	check(t, p.WriteWord(99, a))
	if w, err := p.Word(a); w != 99 || err != nil {
		t.Errorf("new memory holds %d, %v", w, err)
	}
	if _, err := p.Syscall(unix.SYS_CLOSE, 12345); !errors.Is(err, unix.EBADF) || !strings.Contains(err.Error(), fmt.Sprint(p.Pid)) {
		t.Errorf("close of a file that is not open: %v", err)
	}
	if after, err := p.DwarfRegs(p.Pid); after != before || err != nil {
		t.Errorf("registers %#x, were %#x", after, before)
	}
	// A signal that comes meanwhile comes afterwards.
	check(t, unix.Kill(p.Pid, unix.SIGCHLD))
	if pid, err := p.Syscall(unix.SYS_GETPID); int(pid) != p.Pid || err != nil {
		t.Errorf("getpid is %d, %v", pid, err)
	}
	check(t, p.Go())
	ends(t, p)
}

// TestTrap stops at an int3 of the program's own, and passes it.
func TestTrap(t *testing.T) {
	p := start(t, "trap")
	check(t, p.Go())
	e, _ := until(t, p, Trap)
	pc, _, err := p.Where(e.Tid)
	if a := deeds.syms["trap"]; err != nil || pc < a || pc > a+8 {
		t.Errorf("trapped at %#x, trap is at %#x: %v", pc, a, err)
	}
	check(t, p.Resume(e))
	ends(t, p)
}

// TestSetPC goes round an instruction that must not be executed.
func TestSetPC(t *testing.T) {
	p := start(t, "illegal")
	check(t, p.Go())
	e, _ := until(t, p, Signal)
	if pc, err := p.PC(e.Tid); e.Sig != unix.SIGILL || !p.Fault(e) || pc != deeds.syms["illegal"] || err != nil {
		t.Errorf("signal %v at %#x, %v", e.Sig, pc, err)
	}
	check(t, p.MoveFault(e, deeds.syms["illegal"], deeds.syms["behind"]))
	var info siginfo
	if err := info.get(e.Tid); err != nil || *info.addr() != deeds.syms["behind"] {
		t.Errorf("the signal tells %#x, %v", *info.addr(), err)
	}
	check(t, p.Resume(Event{Kind: Other, Tid: e.Tid}))
	ends(t, p)
}
