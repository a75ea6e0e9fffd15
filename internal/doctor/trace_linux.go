package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/skewlens/skewlens/profiler"
)

// tracing is what came of TryTrace.
func tracing(err error) Finding {
	if err == nil {
		return Finding{OK: true, Text: "ptrace: a child can be traced", Needed: true}
	}
	return Finding{Text: fmt.Sprintf("ptrace: a child cannot be traced: %v", err), Fix: profiler.TraceFix(), Needed: true}
}

// TryTrace traces a child that does nothing, as the native backend traces its
// target: its registers and its memory are read and written.
func TryTrace() error {
	runtime.LockOSThread() // all of ptrace must come from one thread
	defer runtime.UnlockOSThread()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "version")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WALL, nil); err != nil {
		return fmt.Errorf("wait for the child: %w", err)
	}
	if !status.Stopped() {
		return fmt.Errorf("the child did not stop (status %#x)", uint32(status))
	}
	return tryChild(cmd.Process.Pid)
}

// tryChild reads and writes a child that stands still.
func tryChild(pid int) error {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
		return fmt.Errorf("read registers: %w", err)
	}
	if err := syscall.PtraceSetRegs(pid, &regs); err != nil {
		return fmt.Errorf("write registers: %w", err)
	}
	word := make([]byte, 8)
	if _, err := syscall.PtracePeekText(pid, uintptr(regs.PC()), word); err != nil {
		return fmt.Errorf("read memory: %w", err)
	}
	if _, err := syscall.PtracePokeText(pid, uintptr(regs.PC()), word); err != nil {
		return fmt.Errorf("write memory: %w", err)
	}
	return nil
}
