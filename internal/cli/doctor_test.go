package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDoctor(t *testing.T) {
	out, stderr, status := skewlens("doctor")
	for _, want := range []string{"system: linux on amd64", "CPU: ", "ptrace: a child can", "--backend perf: ", "C compiler: "} {
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
			t.Errorf("no fix for %q", l)
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
