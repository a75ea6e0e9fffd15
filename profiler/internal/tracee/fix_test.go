package tracee

import (
	"strings"
	"testing"
)

func TestFix(t *testing.T) {
	const free, traced, filtered = "Name:\tx\nTracerPid:\t0\nSeccomp:\t0\n", "Name:\tx\nTracerPid:\t77\nSeccomp:\t0\n", "Name:\tx\nTracerPid:\t0\nSeccomp:\t2\n"
	for _, c := range []struct {
		scope, status string
		container     bool
		want          string
	}{
		{"3", free, false, "restart"},
		{"2", free, true, "sysctl kernel.yama.ptrace_scope=1"},
		{"1", traced, true, "being traced"},
		{"1", free, true, "--cap-add=SYS_PTRACE"},
		{"", filtered, false, "seccomp=unconfined"},
		{"0", free, false, "security policy"},
	} {
		if got := fix(c.scope, c.status, c.container); !strings.Contains(got, c.want) {
			t.Errorf("scope %q, container %v, %q: %q, want %q in it", c.scope, c.container, c.status, got, c.want)
		}
	}
}
