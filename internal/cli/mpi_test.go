package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/internal/doctor"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/text"
)

// mpiBench builds programs with one of Debian's implementations of MPI, and profiles
// their ranks, more than there are cores as a rule.
type mpiBench struct {
	impl string // as Debian's alternatives call it: openmpi, mpich
	dir  string
	env  []string
}

func newMPIBench(t *testing.T, impl string) *mpiBench {
	t.Helper()
	wanted(t, "mpicc."+impl, "mpicxx."+impl, "mpifort."+impl, "mpirun."+impl)
	b := &mpiBench{impl: impl, dir: t.TempDir(), env: append(os.Environ(), "SKEWLENS_TEST_AS_COMMAND=1", "XDG_CACHE_HOME="+t.TempDir(), "OMP_WAIT_POLICY=passive",
		// Open MPI: as root, and on this machine alone.
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_btl=self,vader", "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_mpi_yield_when_idle=1",
		"OMPI_MCA_hwloc_base_binding_policy=none",
		// Who is ended has a second to write its profile down, or is killed: too little on a busy machine.
		"OMPI_MCA_odls_base_sigkill_timeout=5")}
	return b
}

// wanted skips a test where a program that it needs is missing, or programs cannot be
// profiled.
func wanted(t *testing.T, programs ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs many processes")
	}
	var err error
	for _, p := range programs {
		if _, e := exec.LookPath(p); e != nil && err == nil {
			err = fmt.Errorf("%s is missing", p)
		}
	}
	if err == nil {
		err = doctor.TryTrace()
	}
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
}

// build builds one of testdata/mpi, or its balanced twin.
func (b *mpiBench) build(t *testing.T, file string, flags ...string) string {
	t.Helper()
	src, err := filepath.Abs(filepath.Join("testdata", "mpi", file))
	if err != nil {
		t.Fatal(err)
	}
	compiler := map[string]string{".c": "mpicc.", ".cc": "mpicxx.", ".f90": "mpifort.", ".F": "mpifort."}[filepath.Ext(file)] + b.impl
	out := filepath.Join(b.dir, strings.TrimSuffix(file, filepath.Ext(file))+strings.Join(flags, ""))
	if strings.HasPrefix(compiler, "mpifort") {
		flags = append(flags, "-cpp")
	}
	if strings.HasPrefix(file, "hybrid") {
		flags = append(flags, "-fopenmp")
	}
	b.run(t, append(append([]string{compiler, "-O2", "-g"}, flags...), src, "-o", out)...)
	return out
}

// run runs a command, which must succeed, and returns what it printed.
func (b *mpiBench) run(t *testing.T, command ...string) string {
	t.Helper()
	out, err := b.try(t, command...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	return out
}

func (b *mpiBench) try(t *testing.T, command ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // ranks that wait for each other for ever
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = b.dir, b.env
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, said.String())
	}
	return out.String(), err
}

// launch is how n ranks are started.
func (b *mpiBench) launch(n int) []string {
	return []string{"mpirun." + b.impl, "-n", fmt.Sprint(n)}
}

// ownProgram is the test's own executable, as a command.
func ownProgram(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// profile profiles ranks, and reports on them.
func (b *mpiBench) profile(t *testing.T, launch []string, program ...string) (r *report.Report, printed string) {
	t.Helper()
	dir := filepath.Join(b.dir, "ranks")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	printed = b.run(t, slices.Concat(launch, []string{ownProgram(t), "profile", "--save", dir + "/", "--"}, program)...)
	return reportOn(t, dir), printed
}

func reportOn(t *testing.T, dir string) *report.Report {
	t.Helper()
	p, err := loadRanks(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.New(p, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mpiLines are those of a program of testdata/mpi that have a mark.
func mpiLines(t *testing.T, file, mark string) []int {
	t.Helper()
	return markedLines(t, filepath.Join("mpi", file), mark)
}

// markedLines are those of a source in testdata with a mark, in C or Fortran.
func markedLines(t *testing.T, file, mark string) (list []int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range strings.Split(string(b), "\n") {
		if strings.Contains(l, "/* "+mark+" */") || strings.HasSuffix(l, "! "+mark) {
			list = append(list, i+1)
		}
	}
	return list
}

// section is the one at a mark.
func mpiSection(t *testing.T, r *report.Report, file, mark string) *report.Section {
	t.Helper()
	for i := range r.Sections {
		if s := &r.Sections[i]; s.Location != nil && slices.Contains(mpiLines(t, file, mark), s.Location.Line) {
			return s
		}
	}
	t.Fatalf("no section at line %v of %s:\n%s", mpiLines(t, file, mark), file, shown(r))
	return nil
}

func shown(r *report.Report) string {
	var b bytes.Buffer
	if err := text.Write(&b, r, text.Options{}); err != nil {
		return err.Error()
	}
	return b.String()
}

// planted are the programs, and with how many ranks each is run by which implementation.
var planted = []struct {
	file           string
	openmpi, mpich int
	twin           string // which of the two the balanced one is run by
}{
	{"domain.c", 4, 8, "mpich"},
	{"rootoutput.c", 2, 4, "openmpi"},
	{"partition.cc", 8, 2, "mpich"},
	{"latesender.c", 4, 4, "openmpi"},
	{"waitorder.c", 4, 4, ""},
	{"hybrid.c", 2, 4, "mpich"},
	{"rows.c", 8, 4, "openmpi"},
	{"stencil.f90", 4, 2, "openmpi"},
	{"stencil_f08.f90", 2, 4, "mpich"},
	{"legacy.F", 4, 8, "openmpi"},
}

// TestPlantedInRanks: of programs in C, C++ and Fortran, with Open MPI and MPICH, the
// planted line comes first, in the section at the program's own call; their output is
// what it is without a profiler; and balanced twins are silent.
func TestPlantedInRanks(t *testing.T) {
	for _, impl := range []string{"openmpi", "mpich"} {
		t.Run(impl, func(t *testing.T) {
			b := newMPIBench(t, impl)
			for _, x := range planted {
				n := x.openmpi
				if impl == "mpich" {
					n = x.mpich
				}
				t.Run(x.file, func(t *testing.T) {
					program := b.build(t, x.file)
					r, printed := b.profile(t, b.launch(n), program)
					if plain := b.run(t, append(b.launch(n), program)...); printed != plain {
						t.Errorf("it printed %q, without a profiler %q", printed, plain)
					}
					checkPlantedRanks(t, r, x.file, n)
					if x.twin == impl {
						r, _ := b.profile(t, b.launch(n), b.build(t, x.file, "-DFIXED"))
						checkBalancedRanks(t, r)
					}
				})
			}
		})
	}
}

func checkPlantedRanks(t *testing.T, r *report.Report, file string, n int) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Log(shown(r))
		}
	}()
	if r.Run.Ranks != n || r.Ranks == nil || len(r.Ranks.Rows) != n {
		t.Errorf("%d ranks, want %d", r.Run.Ranks, n)
	}
	s := mpiSection(t, r, file, "SECTION")
	if s.Kind != "mpi" {
		t.Errorf("the section is of kind %s", s.Kind)
	}
	if file == "waitorder.c" {
		if c := causeOf(s, "message"); c == nil || !slices.Contains(mpiLines(t, file, "WAIT"), c.Location.Line) {
			t.Error("to wait for all others first is no cause")
		}
		return
	}
	if len(s.Causes) == 0 || s.Causes[0].Leader == "" || !slices.Contains(mpiLines(t, file, "PLANTED"), s.Causes[0].Location.Line) {
		t.Errorf("line %v is not the first cause", mpiLines(t, file, "PLANTED"))
	} else if !strings.Contains(s.Causes[0].Message, "rank ") || strings.Contains(s.Causes[0].Message, "thread") {
		t.Errorf("it is said of threads: %s", s.Causes[0].Message)
	}
	switch file {
	case "latesender.c":
		i := slices.IndexFunc(s.Waits, func(w report.Wait) bool {
			return w.Kind == "message" && slices.Contains(mpiLines(t, file, "WAIT"), w.Location.Line)
		})
		if i < 0 || s.Waits[i].Partner == nil || s.Waits[i].Partner.Rank == nil || *s.Waits[i].Partner.Rank != 0 || s.Waits[i].Partner.Late != "send" {
			t.Errorf("that rank 0 sends late is not known: %+v", s.Waits)
		}
	case "rows.c":
		if want := 10 * n / 2; s.Instances != want {
			t.Errorf("%d instances in rows of two, want %d", s.Instances, want)
		}
	case "hybrid.c":
		in := mpiSection(t, r, file, "REGION")
		if len(in.Causes) == 0 || !slices.Contains(mpiLines(t, file, "INNER"), in.Causes[0].Location.Line) {
			t.Errorf("within ranks line %v is not the first cause", mpiLines(t, file, "INNER"))
		}
		if r.Run.Threads != 3 || r.Ranks.Between.Share <= r.Ranks.Within.Share && n > 2 || r.Ranks.Within.Share < 0.05 {
			t.Errorf("%d threads a rank, lost between and within: %+v, %+v", r.Run.Threads, r.Ranks.Between, r.Ranks.Within)
		}
	}
}

func causeOf(s *report.Section, kind string) *report.Cause {
	for i := range s.Causes {
		if s.Causes[i].Kind == kind {
			return &s.Causes[i]
		}
	}
	return nil
}

func checkBalancedRanks(t *testing.T, r *report.Report) {
	t.Helper()
	for i := range r.Sections {
		if s := &r.Sections[i]; !s.Balanced && !s.Negligible {
			t.Errorf("section %s of the balanced twin has imbalance %s:\n%s", s.ID, imbalance(s), shown(r))
		}
	}
}
