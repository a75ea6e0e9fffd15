package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
)

// TestRanksStayInTheirSession: ranks that share cores yield them to each other while
// they wait, which the kernel lets them within one session only.
func TestRanksStayInTheirSession(t *testing.T) {
	b := newMPIBench(t, "openmpi")
	program := b.build(t, "session.c")
	plain := b.run(t, append(b.launch(3), program)...)
	if _, printed := b.profile(t, b.launch(3), program); printed != plain || strings.Count(plain, "\n") != 3 {
		t.Errorf("sessions of ranks are %q, without a profiler %q", printed, plain)
	}
}

// second is what the second rank saved of the last run.
func (b *mpiBench) second(t *testing.T) *profile.Profile {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(b.dir, "ranks", "rank-0001*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	p, err := load(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestOneRankAlone: the file of one rank of several is reported as what it is.
func TestOneRankAlone(t *testing.T) {
	b := newMPIBench(t, "mpich")
	program := b.build(t, "domain.c")
	b.profile(t, b.launch(2), program)
	r, err := report.New(b.second(t), report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !hasWarning(r, "one-rank", "rank 1 of 2 alone") || strings.Contains(shown(r), "mpi · ") {
		t.Errorf("one rank alone:\n%s", shown(r))
	}
}

// TestPageFaultsOfARank: ranks watch their own page faults only, those of the thread that
// was there first among them.
func TestPageFaultsOfARank(t *testing.T) {
	b := newMPIBench(t, "openmpi")
	if !watchesProcessors() {
		t.Skip("page faults may not be watched here")
	}
	src, err := filepath.Abs("testdata/idioms/page_faults.c")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(b.dir, "page_faults")
	b.run(t, "cc", "-O2", "-g", "-pthread", src, "-o", program)
	b.profile(t, b.launch(2), program, "4")
	n := 0
	for _, s := range b.second(t).Sections {
		for i := range s.Instances {
			for _, q := range s.Instances[i].Parts {
				for _, w := range q.Waits {
					if w.Kind == profile.WaitFault {
						n += w.N
					}
				}
			}
		}
	}
	if want := 2 * 5 * 2048; n < want*9/10 || n > want*11/10 {
		t.Errorf("%d page faults, want about %d: each page is read, then written", n, want)
	}
}

// TestOneFileForAllRanks: ranks that would write the same file are told so, before
// anything runs.
func TestOneFileForAllRanks(t *testing.T) {
	b := newMPIBench(t, "openmpi")
	program := b.build(t, "session.c")
	file := filepath.Join(b.dir, "all.skewlens")
	out, err := b.try(t, append(b.launch(2), ownProgram(t), "profile", "--save", file, "--", program)...)
	if err == nil || !strings.Contains(err.Error(), "2 ranks would write the same file; name a directory: --save "+file+"/") || out != "" {
		t.Errorf("%q, %v", out, err)
	}
}
