package tracee

import (
	"os"
	"strings"
)

// Fix says what usually forbids tracing here, and what to do about it.
func Fix() string {
	status, _ := os.ReadFile("/proc/self/status")
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return fix(strings.TrimSpace(string(scope)), string(status), inContainer())
}

func fix(scope, status string, container bool) string {
	switch {
	case scope == "3":
		return "ptrace_scope is 3, which only a restart changes: set kernel.yama.ptrace_scope=1 in /etc/sysctl.d and restart"
	case strings.Contains(status, "\nTracerPid:\t") && !strings.Contains(status, "\nTracerPid:\t0\n"):
		return "skewlens itself is being traced (strace -f, a debugger): run it without"
	case scope == "2":
		return "ptrace_scope is 2: sysctl kernel.yama.ptrace_scope=1 as root, or run as root"
	case container || strings.Contains(status, "\nSeccomp:\t2"): // containers filter system calls
		return "this is a container: start it with --cap-add=SYS_PTRACE --security-opt seccomp=unconfined"
	}
	return "a security policy (seccomp, SELinux, AppArmor) forbids it: run outside of it; with SELinux, setsebool deny_ptrace 0"
}

func inContainer() bool {
	for _, f := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(f); err == nil {
			return true
		}
	}
	return os.Getenv("container") != ""
}
