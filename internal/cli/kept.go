package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// A launcher that has lost one rank kills all others, at once: then nothing would be
// known of a run of which much has been seen. So what it starts is only a process that
// waits for another one, in a process group of its own, which profiles. When the first
// is gone, the second ends the program, saves what there is, and ends. The session stays
// the launcher's: the kernel deals cores out by sessions (autogroups), and ranks that
// share cores yield them to each other while they wait, which they can within one only.
//
//	mpirun ── skewlens profile, kept ─pipe─▶ skewlens profile ── program
//	   └─ SIGKILL ─▶ ✗                         └─ the pipe has ended: so does the run

// keptBy is the variable that names the descriptor of the pipe.
const keptBy = "SKEWLENS_KEPT_BY"

// keeps reports whether this process is to wait for another one that profiles.
func (o *profileFlags) keeps() bool {
	return o.ranks != "" && o.rank.Launcher != "" && !o.kept
}

// keep starts that one, hands on signals, and ends as it does.
func keep() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	// Descriptors keep their numbers: launchers name some in the environment.
	if _, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(pipe[0]), syscall.F_SETFD, 0); e != 0 {
		return fmt.Errorf("make a pipe: %w", e)
	}
	// Where the launcher dies without a word, so do the ranks.
	runtime.LockOSThread()
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	cmd := &exec.Cmd{Path: self, Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Env: append(os.Environ(), keptBy+"="+strconv.Itoa(pipe[0])), SysProcAttr: groupOfItsOwn()}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", self, err)
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	syscall.Close(pipe[0])
	err = cmd.Wait()
	syscall.Close(pipe[1])
	if status := cmd.ProcessState.ExitCode(); status > 0 {
		return &exitError{status: status}
	}
	if err != nil {
		return fmt.Errorf("the profiler of this rank was ended: %w", err)
	}
	return nil
}

// groupOfItsOwn keeps what is meant for the launcher's group from a process. A group that
// is not in the foreground may not use the session's terminal (others, as the one that
// mpirun reads a rank's output by, it may): where that is in use, the process gets a
// session as well.
func groupOfItsOwn() *syscall.SysProcAttr {
	if own := sessionTerminal(); own != 0 {
		for fd := range 3 {
			var st syscall.Stat_t
			if syscall.Fstat(fd, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFCHR && st.Rdev == own {
				return &syscall.SysProcAttr{Setsid: true}
			}
		}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

// sessionTerminal is the device of the terminal that the session has; 0: it has none.
func sessionTerminal() uint64 {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	rest := string(stat[bytes.LastIndexByte(stat, ')')+1:]) // behind the name: state, parent, group, session, terminal
	if f := strings.Fields(rest); len(f) > 4 {
		n, _ := strconv.ParseUint(f[4], 10, 64)
		return n
	}
	return 0
}

// keptBy is ctx until the process is gone that waits for this one, if there is any.
func (o *profileFlags) keptBy(ctx context.Context) context.Context {
	value, is := os.LookupEnv(keptBy)
	if o.kept = is; !is {
		return ctx
	}
	os.Unsetenv(keptBy) // it is none of the program's
	fd, err := strconv.Atoi(value)
	if err != nil {
		return ctx
	}
	syscall.CloseOnExec(fd)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		f := os.NewFile(uintptr(fd), "pipe")
		_, _ = f.Read(make([]byte, 1))
		cancel()
	}()
	return ctx
}
