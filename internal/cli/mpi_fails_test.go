package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/skewlens/skewlens/report"
)

func hasWarning(r *report.Report, code, says string) bool {
	return slices.ContainsFunc(r.Warnings, func(w report.Warning) bool { return w.Code == code && strings.Contains(w.Message, says) })
}

// TestRanksThatDie: where one rank dies and the launcher kills the others, what all of
// them did until then is reported, nothing of them is left, and the launcher's exit
// status is what it would be.
func TestRanksThatDie(t *testing.T) {
	for _, impl := range []string{"openmpi", "mpich"} {
		t.Run(impl, func(t *testing.T) {
			b := newMPIBench(t, impl)
			program := b.build(t, "dies.c")
			for _, how := range []string{"kill", "exit", "abort"} {
				t.Run(how, func(t *testing.T) {
					dir := filepath.Join(b.dir, how)
					_, plain := b.try(t, append(b.launch(4), program, how)...)
					_, err := b.try(t, append(b.launch(4), ownProgram(t), "profile", "--save", dir+"/", "--", program, how)...)
					if status(err) != status(plain) && how == "abort" { // else it is that of whoever is heard of first
						t.Errorf("exit status %d, without a profiler %d: %v", status(err), status(plain), err)
					}
					r := reportOn(t, dir)
					if r.Run.Ranks != 4 {
						t.Fatalf("%d ranks:\n%s", r.Run.Ranks, shown(r))
					}
					s := mpiSection(t, r, "dies.c", "SECTION")
					if s.Instances < 10 || len(s.Causes) == 0 || s.Causes[0].Location.Line != mpiLines(t, "dies.c", "PLANTED")[0] {
						t.Errorf("%d instances:\n%s", s.Instances, shown(r))
					}
					if !hasWarning(r, "ended-ranks", "SIG") {
						t.Errorf("nobody was ended: %v", r.Warnings)
					}
					if entries, err := os.ReadDir(dir); err != nil || len(entries) != 4 {
						t.Errorf("left are %v (%v)", entries, err)
					}
				})
			}
		})
	}
}

func status(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	return 0
}

// TestArgumentsOfMPI: calls with many arguments, and those that make something, do what
// they do without a profiler, however the program is linked.
func TestArgumentsOfMPI(t *testing.T) {
	for impl, flags := range map[string][]string{"openmpi": {"-no-pie"}, "mpich": {"-fno-plt"}} {
		b := newMPIBench(t, impl)
		program := b.build(t, "arguments.c", flags...)
		r, printed := b.profile(t, b.launch(4), program, filepath.Join(b.dir, "file"))
		if printed != "all is right\n" || r.Run.Ranks != 4 {
			t.Errorf("%s: it printed %q; %d ranks", impl, printed, r.Run.Ranks)
		}
		if slices.ContainsFunc(r.Warnings, func(w report.Warning) bool { return w.Code == "mpi-communicators" }) {
			t.Errorf("%s: communicators are not known: %v", impl, r.Warnings)
		}
	}
}

// TestRanksThatAreMissing: a node's folder is missing, on another one the disk was full:
// the rest is reported, and what is missing is said.
func TestRanksThatAreMissing(t *testing.T) {
	b := newMPIBench(t, "mpich")
	if os.Geteuid() != 0 {
		t.Skip("a small disk is made by root")
	}
	program := b.build(t, "dies.c")
	dir := filepath.Join(b.dir, "nodes")
	full := filepath.Join(dir, "3")
	if err := os.MkdirAll(full, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", full, "tmpfs", 0, "size=4k"); err != nil {
		t.Skipf("mount a small disk: %v", err)
	}
	defer syscall.Unmount(full, 0)
	script := fmt.Sprintf("exec %s profile --save %s/$PMI_RANK/ -- %s", ownProgram(t), dir, program)
	if _, err := b.try(t, append(b.launch(4), "sh", "-c", script)...); status(err) != exitFailed || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("a full disk is not said: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "1")); err != nil {
		t.Fatal(err)
	}
	r := reportOn(t, dir)
	if r.Run.Ranks != 2 || !hasWarning(r, "missing-ranks", "ranks 1 and 3 of 4") {
		t.Errorf("what is missing is not said:\n%s", shown(r))
	}
	if s := mpiSection(t, r, "dies.c", "SECTION"); len(s.Causes) == 0 || len(s.Threads) != 2 {
		t.Errorf("the rest is not compared:\n%s", shown(r))
	}
}

// TestRanksWithoutFiles: what is wrong with a directory is said in one line.
func TestRanksWithoutFiles(t *testing.T) {
	dir := t.TempDir()
	for _, at := range []string{dir, filepath.Join(dir, "none")} {
		if _, err := load(at); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), at) {
			t.Errorf("error %v", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "rank-0000.a.skewlens"), []byte("skewlens profile 1\nx"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(dir); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
}
