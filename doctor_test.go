package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDoctor(t *testing.T) {
	out, stderr, status := skewlens("doctor")
	for _, want := range []string{"system: linux on amd64", "CPU: ", "ptrace: a child can", "hardware counters: ", "C compiler: "} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor does not say %q", want)
		}
	}
	// Whether this machine allows ptrace is not for the test to say, only that
	// line and status agree.
	if able := strings.Contains(out, "✓ ptrace"); able != (status == 0) || stderr != "" {
		t.Errorf("status %d, %q, with\n%s", status, stderr, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "✗") && (i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "  → ")) {
			t.Errorf("no mend for %q", l)
		}
	}
}

func TestDoctorLooksAtPrograms(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, _, _ := skewlens("doctor", self); !strings.Contains(out, "a program for X86_64, 64-bit") {
		t.Errorf("doctor of this test:\n%s", out)
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, _, status := skewlens("doctor", script); status != exitFailed || !strings.Contains(out, "not a script that starts it") {
		t.Errorf("doctor of a script: status %d\n%s", status, out)
	}
}

func TestPtraceMend(t *testing.T) {
	for _, c := range []struct {
		scope     int
		container bool
		want      string
	}{{3, false, "restart"}, {2, true, "sysctl kernel.yama.ptrace_scope=1"}, {1, true, "--cap-add=SYS_PTRACE"}, {0, false, "security policy"}, {-1, true, "seccomp=unconfined"}} {
		if got := ptraceMend(c.scope, c.container); !strings.Contains(got, c.want) {
			t.Errorf("scope %d, container %v: %q, want %q in it", c.scope, c.container, got, c.want)
		}
	}
}
