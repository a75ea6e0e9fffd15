package tracee

import (
	"os"
	"strings"
)

// forbiddenMend says what usually forbids tracing.
func forbiddenMend() string {
	if b, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil {
		if s := strings.TrimSpace(string(b)); s == "3" {
			return "kernel.yama.ptrace_scope is 3: set it to 1 and reboot"
		}
	}
	if b, err := os.ReadFile("/proc/self/status"); err == nil {
		s := string(b)
		if strings.Contains(s, "TracerPid:") && !strings.Contains(s, "TracerPid:\t0\n") {
			return "skewlens itself is being traced (strace -f, a debugger): run it without"
		}
		if strings.Contains(s, "Seccomp:\t2") {
			return "a seccomp filter is in force: in a container, add --cap-add SYS_PTRACE or --security-opt seccomp=unconfined"
		}
	}
	return "ask for the SYS_PTRACE capability"
}
