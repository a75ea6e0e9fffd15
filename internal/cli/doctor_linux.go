package cli

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/skewlens/skewlens/profiler"
)

func checkSystem() finding {
	release := "unknown"
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		release = strings.TrimSpace(string(b))
	}
	return finding{
		ok:     runtime.GOOS == "linux" && runtime.GOARCH == "amd64",
		text:   fmt.Sprintf("system: %s on %s, kernel %s, %d cores", runtime.GOOS, runtime.GOARCH, release, runtime.NumCPU()),
		mend:   "the native backend is for Linux on x86-64",
		needed: true,
	}
}

// cpuinfo is the first processor of /proc/cpuinfo.
func cpuinfo() map[string]string {
	info := map[string]string{}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return info
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan() && sc.Text() != ""; {
		if k, v, ok := strings.Cut(sc.Text(), ":"); ok {
			info[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return info
}

func cpuHas(flags ...string) bool {
	has := " " + cpuinfo()["flags"] + " "
	for _, f := range flags {
		if !strings.Contains(has, " "+f+" ") {
			return false
		}
	}
	return true
}

func checkCPU() finding {
	model := cpuinfo()["model name"]
	if model == "" {
		model = "unknown"
	}
	return finding{ok: true, text: "CPU: " + model}
}

// hwcap2FSGSBase in AT_HWCAP2: the kernel lets programs set GS themselves.
const (
	atHWCap2       = 26
	hwcap2FSGSBase = 1 << 1
)

func checkFSGSBase() finding {
	f := finding{text: "FSGSBASE: programs may set GS (needed for Go programs only)", mend: "use Linux 5.9 or newer on a CPU with fsgsbase, without nofsgsbase on the kernel's command line"}
	aux, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		f.text += ": " + err.Error()
		return f
	}
	for ; len(aux) >= 16; aux = aux[16:] {
		if binary.NativeEndian.Uint64(aux) == atHWCap2 {
			f.ok = binary.NativeEndian.Uint64(aux[8:])&hwcap2FSGSBase != 0
		}
	}
	return f
}

func checkTSC() finding {
	return finding{
		ok:   cpuHas("constant_tsc", "nonstop_tsc"),
		text: "time stamp counter: constant and never stops",
		mend: "waiting times may be wrong here; executed instructions, and so the imbalance, are exact all the same",
	}
}

// checkPtrace traces a child that does nothing, as the native backend traces
// its target.
func checkPtrace() finding {
	f := finding{text: "ptrace: a child can be traced", needed: true}
	err := tryPtrace()
	if f.ok = err == nil; f.ok {
		return f
	}
	f.text = fmt.Sprintf("ptrace: a child cannot be traced: %v", err)
	f.mend = profiler.TraceFix()
	return f
}

func tryPtrace() error {
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
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(cmd.Process.Pid, &regs); err != nil {
		return fmt.Errorf("read registers: %w", err)
	}
	if err := syscall.PtraceSetRegs(cmd.Process.Pid, &regs); err != nil {
		return fmt.Errorf("write registers: %w", err)
	}
	word := make([]byte, 8)
	if _, err := syscall.PtracePeekText(cmd.Process.Pid, uintptr(regs.PC()), word); err != nil {
		return fmt.Errorf("read memory: %w", err)
	}
	if _, err := syscall.PtracePokeText(cmd.Process.Pid, uintptr(regs.PC()), word); err != nil {
		return fmt.Errorf("write memory: %w", err)
	}
	return nil
}

func checkParanoid() finding {
	const file = "/proc/sys/kernel/perf_event_paranoid"
	b, err := os.ReadFile(file)
	if err != nil {
		return finding{text: "perf events: this kernel has none", mend: "not needed for the native backend"}
	}
	level := strings.TrimSpace(string(b))
	n, err := strconv.Atoi(level)
	return finding{
		ok:   err == nil && (n <= 2 || os.Geteuid() == 0),
		text: "perf events: perf_event_paranoid is " + level,
		mend: "only for --backend perf, which is still to come: sysctl kernel.perf_event_paranoid=2 as root",
	}
}

func checkPMU() finding {
	if err := tryCycles(); err != nil {
		return finding{
			text: fmt.Sprintf("hardware counters: none (%v): software events only", err),
			mend: "nothing is wrong: the native backend needs none; virtual machines rarely have them",
		}
	}
	return finding{ok: true, text: "hardware counters: cycles can be counted"}
}
