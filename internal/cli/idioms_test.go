package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
)

// How people write threads: each program in testdata/idioms has one idiom, one
// planted imbalance, and its fix under -DFIXED. What must be found is in its
// lines with EXPECT, as keys with values; at lines marked NONE is no section, and at
// lines marked SPENT at most one in which next to nothing was done:
//
//	instances=20  rows=P     of the section at the line marked SECTION; P is the number of threads
//	kind=barrier             of the section
//	cause=branch             which leader the first cause has, at the line marked PLANTED; a|b: either
//	gain=any                 the fix does not tell what is to gain
//	saving=0.67              what the fix saves, where counting both cannot tell
//	whole=0                  the gain in whole units
//	silent=yes               no cause in the control flow; so it is for FIXED, of all programs
//	wait=sleep               a wait of this kind is shown, at a line marked WAIT
//	waker=HOLD               and it is ended, most of it, at a line with this mark
//	scheduled=self           who does what is left to chance: a cause may be reported if that is said
//	percent=10               of the usual work, where idiomPercent is too little to tell it from what is around it
//	least=4  most=4          the threads that it can be run with
//	lib=FILE  count=none     a second file, which becomes a shared library; do not count it
//	openmp=yes               it is built with OpenMP, by the compiler's own runtime
//	teams=yes                it has libomp's teams, which have no more threads than there are cores unless that is told
//	flags=-pg                and with this flag
//	link=tbb                 and linked with a library of the system's
//	path=rounds          the critical path goes through the longest part of each instance, one after the other
//	cores=P                  its threads are kept together as on so many cores: chance has no hand in who does what
type idiom struct {
	name, file string
	lines      []string
	expect     map[string]string
}

const idiomDir = "testdata/idioms"

func idioms(t *testing.T) []idiom {
	t.Helper()
	files, err := filepath.Glob(idiomDir + "/*.c*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no idioms in %s: %v", idiomDir, err)
	}
	more, _ := filepath.Glob(idiomDir + "/*.F90")
	for _, pattern := range []string{"/go_*.go", "/r*_*.rs"} {
		others, _ := filepath.Glob(idiomDir + pattern)
		more = append(more, others...)
	}
	var all []idiom
	for _, f := range append(files, more...) {
		if strings.HasSuffix(f, ".lib.c") {
			continue
		}
		i, err := readIdiom(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, i)
	}
	return all
}

func readIdiom(file string) (idiom, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return idiom{}, err
	}
	base := filepath.Base(file)
	i := idiom{name: strings.TrimSuffix(base, filepath.Ext(base)), file: base, lines: strings.Split(string(text), "\n"), expect: map[string]string{}}
	for _, l := range i.lines {
		_, words, _ := strings.Cut(l, " * EXPECT ")
		for _, w := range strings.Fields(strings.TrimSuffix(words, "*/")) {
			k, v, _ := strings.Cut(w, "=")
			i.expect[k] = v
		}
	}
	if len(i.expect) == 0 || len(i.marked("SECTION")) == 0 || i.expect["silent"] == "" && len(i.marked("PLANTED")) == 0 {
		return i, fmt.Errorf("%s needs a line with EXPECT, one marked SECTION, and one marked PLANTED unless it is silent", file)
	}
	return i, nil
}

// marked are the lines with a mark.
func (i *idiom) marked(mark string) []int {
	var at []int
	for n, l := range i.lines {
		if strings.Contains(l, "/* "+mark+" */") {
			at = append(at, n+1)
		}
	}
	return at
}

// at tells whether a place is on a line with a mark.
func (i *idiom) at(p report.Place, mark string) bool {
	return filepath.Base(p.File) == i.file && slices.Contains(i.marked(mark), p.Line)
}

// number is an expected number: 20, P, P-1.
func number(word string, threads int) int {
	if rest, ok := strings.CutPrefix(word, "P"); ok {
		n, _ := strconv.Atoi(rest) // "" is 0
		return threads + n
	}
	n, err := strconv.Atoi(word)
	if err != nil {
		panic("EXPECT: no number: " + word)
	}
	return n
}

// idiomBench builds and profiles one idiom in one way.
type idiomBench struct {
	*idiom
	variant
	dir   string
	cores int // virtual ones; 0: none
}

// compileGo builds an idiom in Go, in a module of its own: a package of somebody's
// that is not here stands in it.
func (b *idiomBench) compileGo(out string) error {
	dir := filepath.Join(b.dir, out+".go")
	if err := os.CopyFS(filepath.Join(dir, "errgroup"), os.DirFS(filepath.Join(idiomDir, "errgroup"))); err != nil {
		return err
	}
	for _, f := range []string{"idiom.go", b.file} {
		text, err := os.ReadFile(filepath.Join(idiomDir, f))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f), text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	mod := "module idiom\n\ngo 1.25\n\nrequire golang.org/x/sync v0.0.0\n\nreplace golang.org/x/sync => ./errgroup\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600); err != nil {
		return err
	}
	flags := ""
	if b.level == "-O0" {
		flags = "-N -l"
	}
	lib, err := b.compileLibrary(out)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-ldflags=-X main.variant="+out, "-gcflags="+flags, "-o", filepath.Join(b.dir, out), ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_CFLAGS="+b.level+" -g", "CGO_LDFLAGS="+strings.Join(lib, " "))
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, bytes.TrimSpace(text))
	}
	return nil
}

// idiomPercent of the usual work is less than a tenth of a second.
const idiomPercent = 2

// measure profiles a program, and returns what it printed too.
func (b *idiomBench) measure(out string) (*report.Report, string, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, "", err
	}
	defer null.Close()
	stdout, err := os.Create(filepath.Join(b.dir, out+".out"))
	if err != nil {
		return nil, "", err
	}
	defer stdout.Close()
	percent := cmp.Or(b.expect["percent"], strconv.Itoa(idiomPercent))
	if n := b.expect["cores"]; n != "" {
		b.cores = number(n, b.threads)
	}
	c := profiler.Config{
		Path: filepath.Join(b.dir, out), Args: []string{strconv.Itoa(b.threads), percent},
		Dir: b.dir, Stdin: null, Stdout: stdout, Stderr: os.Stderr, Cores: b.cores,
	}
	if none := b.expect["count"]; none != "" {
		c.Libraries = []string{none}
	}
	// Long enough for the busiest machine: only what hangs is ended.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p, err := profiler.Run(ctx, c)
	if err != nil {
		return nil, "", err
	}
	if p.Run.Signal != "" || p.Run.ExitCode != 0 {
		return nil, "", fmt.Errorf("%s ended with status %d %s", out, p.Run.ExitCode, p.Run.Signal)
	}
	r, err := report.New(p, report.Options{})
	if err != nil {
		return nil, "", err
	}
	text, err := os.ReadFile(stdout.Name())
	return r, string(text), err
}

// try builds, runs and judges: what is not as it should be.
func (b *idiomBench) try(t *testing.T) []string {
	names, flags, built := []string{"planted", "fixed"}, []string{"-DPLANTED", "-DFIXED"}, make(chan error, 2)
	for k := range names {
		go func() { built <- b.compile(names[k], flags[k]) }()
	}
	if err := errors.Join(<-built, <-built); err != nil {
		t.Fatal(err)
	}
	var reports []*report.Report
	var printed []string
	for _, n := range names {
		r, text, err := b.measure(n)
		if err != nil {
			return []string{n + ": " + err.Error()}
		}
		reports, printed = append(reports, r), append(printed, text)
	}
	j := judge{b: b}
	if printed[0] != printed[1] || !strings.HasPrefix(printed[0], "checksum ") {
		j.say("checksums %q and %q", printed[0], printed[1])
	}
	j.planted(reports[0], reports[1])
	j.fixed(reports[1])
	return j.wrong
}

// TestIdioms holds what is known to fail against knownFailures, in both directions.
func TestIdioms(t *testing.T) {
	realBench(t, 1) // skips where nothing can be profiled
	all := idioms(t)
	for n := range all {
		i := &all[n]
		for _, v := range i.of(n) {
			t.Run(i.name+"/"+v.String(), func(t *testing.T) {
				b := &idiomBench{idiom: i, variant: v, dir: t.TempDir()}
				i.builds(t, v)
				if i.expect["teams"] != "" {
					t.Setenv("KMP_TEAMS_THREAD_LIMIT", strconv.Itoa(v.threads))
					t.Setenv("OMP_NUM_THREADS", strconv.Itoa(v.threads))
				}
				wrong, known := strings.Join(b.try(t), "\n"), i.known(v)
				switch {
				case wrong == "" && known != nil && !known.chance:
					t.Errorf("it passes: take it off the list of known failures (%s)", known.reason)
				case wrong != "" && known != nil:
					t.Logf("known (%s):\n%s", known.reason, wrong)
				case wrong != "":
					t.Error(wrong)
				}
			})
		}
	}
}
