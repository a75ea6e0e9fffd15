package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
)

// How people write threads: each program in testdata/idioms has one idiom, one
// planted imbalance, and its mend under -DFIXED. What must be found is in its
// lines with EXPECT, as keys with values:
//
//	instances=20  rows=P     of the section at the line marked SECTION; P is the number of threads
//	kind=barrier             of the section
//	cause=branch             which leader the first cause has, at the line marked PLANTED; a|b: either
//	gain=any                 the mend does not tell what is to gain
//	saving=0.67              what the mend saves, where counting both cannot tell
//	whole=0                  the gain in whole units
//	silent=yes               no cause in the control flow; so it is for FIXED, of all programs
//	wait=sleep               a wait of this kind is shown, at a line marked WAIT
//	scheduled=self           who does what is left to chance: a cause may be reported if that is said
//	least=4  most=4          the threads that it can be run with
//	lib=FILE  count=lib      a second file, which becomes a shared library; count it too
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
	var all []idiom
	for _, f := range files {
		base := filepath.Base(f)
		if strings.HasSuffix(base, ".lib.c") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		i := idiom{name: strings.TrimSuffix(base, filepath.Ext(base)), file: base, lines: strings.Split(string(text), "\n"), expect: map[string]string{}}
		for _, l := range i.lines {
			if _, words, ok := strings.Cut(l, " * EXPECT "); ok {
				for _, w := range strings.Fields(strings.TrimSuffix(words, "*/")) {
					k, v, _ := strings.Cut(w, "=")
					i.expect[k] = v
				}
			}
		}
		if len(i.expect) == 0 {
			t.Fatalf("%s has no line with EXPECT", f)
		}
		all = append(all, i)
	}
	return all
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

// variant is how a program is built and run.
type variant struct {
	compiler, level string
	threads         int
}

func (v variant) String() string { return fmt.Sprintf("%s%s-%d", v.compiler, v.level, v.threads) }

// variants are all ways to build and run.
func variants() []variant {
	var all []variant
	for _, threads := range []int{8, 4, 16, 2} {
		for _, level := range []string{"-O2", "-O0", "-O3"} {
			for _, c := range []string{"gcc", "clang"} {
				all = append(all, variant{c, level, threads})
			}
		}
	}
	return all
}

// of are the ways that this test runs an idiom: one in turn, or all.
func (i *idiom) of(n int) []variant {
	all := variants()
	if os.Getenv("SKEWLENS_FULL") == "" {
		all = all[n*5%len(all):][:1] // 5 has no divisor in common with their number
	}
	for k := range all {
		if least := i.expect["least"]; least != "" {
			all[k].threads = max(all[k].threads, number(least, 0))
		}
		if most := i.expect["most"]; most != "" {
			all[k].threads = min(all[k].threads, number(most, 0))
		}
	}
	slices.SortStableFunc(all, func(a, b variant) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(all)
}

// idiomBench builds and profiles one idiom in one way.
type idiomBench struct {
	*idiom
	variant
	dir string
}

func (b *idiomBench) compile(out string, flags ...string) error {
	words := []string{b.compiler, b.level, "-g", "-pthread"}
	if filepath.Ext(b.file) == ".cc" {
		words[0] = map[string]string{"gcc": "g++", "clang": "clang++"}[b.compiler]
		words = append(words, "-std=c++20")
	}
	words = append(append(words, flags...), filepath.Join(idiomDir, b.file), "-o", filepath.Join(b.dir, out))
	if lib := b.expect["lib"]; lib != "" {
		so := filepath.Join(b.dir, "lib"+out+".so")
		if err := runCompiler(b.compiler, b.level, "-g", "-shared", "-fPIC", filepath.Join(idiomDir, lib), "-o", so); err != nil {
			return err
		}
		words = append(words, so, "-Wl,-rpath,"+b.dir)
	}
	return runCompiler(words...)
}

func runCompiler(words ...string) error {
	cmd := exec.Command(words[0], words[1:]...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, bytes.TrimSpace(text))
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
	c := profiler.Config{
		Path: filepath.Join(b.dir, out), Args: []string{strconv.Itoa(b.threads), strconv.Itoa(idiomPercent)},
		Dir: b.dir, Stdin: null, Stdout: stdout, Stderr: os.Stderr,
	}
	if b.expect["count"] == "lib" {
		c.Libraries = []string{"lib" + out}
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
	names, flags, built := []string{"planted", "mended"}, []string{"-DPLANTED", "-DFIXED"}, make(chan error, 2)
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
	j.mended(reports[1])
	return j.wrong
}

// judge collects what is not as it should be.
type judge struct {
	b     *idiomBench
	wrong []string
}

func (j *judge) say(format string, args ...any) {
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

// sectionAt is the section that ends at a mark, nil where there is none.
func (j *judge) sectionAt(r *report.Report, mark string) *report.Section {
	var found *report.Section
	for k := range r.Sections {
		s := &r.Sections[k]
		if s.Location == nil || !j.b.at(s.Location.Place, mark) {
			continue
		}
		if found != nil && !s.Negligible {
			j.say("two sections, %s and %s, where one should be", found.ID, s.ID)
		}
		if found == nil || s.Critical > found.Critical {
			found = s
		}
	}
	return found
}

func (j *judge) planted(before, after *report.Report) {
	was, is := j.sectionAt(before, "SECTION"), j.sectionAt(after, "SECTION")
	if was == nil {
		j.say("no section at line %v, but %s", j.b.marked("SECTION"), summary(before))
	} else {
		j.shape(was)
		if j.b.expect["silent"] == "" {
			j.cause(was, is)
		}
	}
	for _, line := range j.b.marked("BALANCED") {
		if s := j.sectionAt(before, "BALANCED"); s == nil {
			j.say("no section at line %d", line)
		} else if !s.Balanced {
			j.say("section %s is balanced, but said to have imbalance %s", s.ID, imbalance(s))
		}
	}
	if j.b.expect["silent"] != "" {
		j.silent("planted", before)
	}
	if kind := j.b.expect["wait"]; kind != "" {
		j.waits(before, kind)
	}
}

// shape is what a section is apart from its causes.
func (j *judge) shape(s *report.Section) {
	if n := j.b.expect["instances"]; n != "" && s.Instances != number(n, j.b.threads) {
		j.say("%d instances, want %s", s.Instances, n)
	}
	if n := j.b.expect["rows"]; n != "" && len(s.Threads) != number(n, j.b.threads) {
		j.say("%d rows, want %s", len(s.Threads), n)
	}
	if k := j.b.expect["kind"]; k != "" && s.Kind != k {
		j.say("kind %s, want %s", s.Kind, k)
	}
}

func (j *judge) cause(was, is *report.Section) {
	if len(was.Causes) == 0 {
		j.say("imbalance %s, no cause", imbalance(was))
		return
	}
	c, place := &was.Causes[0], false
	for _, n := range j.b.marked("PLANTED") {
		// A start is a function, which begins on the planted line or just below it.
		place = place || c.Leader == "start" && strings.Contains(j.b.lines[n-1], c.Location.Function+"(")
	}
	if !place && !j.b.at(c.Location.Place, "PLANTED") {
		j.say("first cause %s %s of %d, want line %v", c.Leader, c.Location.Short(), len(was.Causes), j.b.marked("PLANTED"))
	}
	if kinds := j.b.expect["cause"]; kinds != "" && !slices.Contains(strings.Split(kinds, "|"), c.Leader) {
		j.say("leader %s, want %s", c.Leader, kinds)
	}
	if j.b.expect["gain"] == "any" {
		return
	}
	if is == nil {
		j.say("no section in the mended program, so the saving is not known")
		return
	}
	saved := 1 - float64(is.Critical)/float64(was.Critical)
	if known := j.b.expect["saving"]; known != "" {
		saved, _ = strconv.ParseFloat(known, 64)
	}
	if c.Gain == nil || math.Abs(c.Gain.Fraction-saved) > 0.10 {
		j.say("gain %s (%d causes: %s), the mend saves %.2f", fraction(c.Gain), len(was.Causes), fraction(was.JointGain), saved)
	}
	if w := j.b.expect["whole"]; w != "" {
		want, _ := strconv.ParseFloat(w, 64)
		if c.Gain == nil || c.Gain.WholeUnits == nil || math.Abs(*c.Gain.WholeUnits-want) > 0.05 {
			j.say("gain %s, want %s in whole units", fraction(c.Gain), w)
		}
	}
}

// mended programs must have no cause.
func (j *judge) mended(r *report.Report) {
	if j.sectionAt(r, "SECTION") == nil {
		j.say("mended: no section at line %v", j.b.marked("SECTION"))
	}
	j.silent("mended", r)
}

// silent: no cause in the control flow, or it is said that chance has dealt the work.
func (j *judge) silent(which string, r *report.Report) {
	for k := range r.Sections {
		s := &r.Sections[k]
		chance := slices.ContainsFunc(s.Warnings, func(w report.Warning) bool {
			return w.Code == "self-scheduled" || w.Code == "more-threads-than-cores"
		})
		if s.Negligible || chance && j.b.expect["scheduled"] == "self" {
			continue
		}
		for _, c := range s.Causes {
			if c.Kind == "control-flow" {
				j.say("%s: imbalance %s at %s, cause %s", which, imbalance(s), s.ID, c.Location.Short())
				break
			}
		}
	}
}

// waits: one of a kind is shown, at its line. It is looked for in the contract.
func (j *judge) waits(r *report.Report, kind string) {
	var text bytes.Buffer
	var read struct {
		Sections []struct {
			Waits []struct {
				Kind     string
				Location report.Place
			}
		}
	}
	if err := errors.Join(report.WriteJSON(&text, r), json.Unmarshal(text.Bytes(), &read)); err != nil {
		j.say("%v", err)
	}
	for _, s := range read.Sections {
		for _, w := range s.Waits {
			if w.Kind == kind && j.b.at(w.Location, "WAIT") {
				return
			}
		}
	}
	j.say("no wait by %s is shown", kind)
}

func fraction(g *report.Gain) string {
	switch {
	case g == nil:
		return "unknown"
	case g.WholeUnits == nil:
		return fmt.Sprintf("%.2f", g.Fraction)
	}
	return fmt.Sprintf("%.2f (%.2f in whole units)", g.Fraction, *g.WholeUnits)
}

// summary is what was found instead.
func summary(r *report.Report) string {
	out := []string{}
	for k := range r.Sections {
		s := &r.Sections[k]
		if s.Negligible {
			continue
		}
		text := fmt.Sprintf("%s %s (%d instances, %d rows, imbalance %s", s.Kind, s.ID, s.Instances, len(s.Threads), imbalance(s))
		if len(s.Causes) > 0 {
			text += ", " + s.Causes[0].Leader + " " + s.Causes[0].Location.Short()
		}
		out = append(out, text+")")
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
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
				if _, err := exec.LookPath(v.compiler); err != nil {
					t.Skipf("no %s: the idioms are built with gcc and with clang", v.compiler)
				}
				wrong := b.try(t)
				switch reason, known := i.knownToFail(v); {
				case known && len(wrong) == 0:
					t.Errorf("it passes: take it off the list of known failures (%s)", reason)
				case known:
					t.Logf("known (%s):\n%s", reason, strings.Join(wrong, "\n"))
				case len(wrong) > 0:
					t.Error(strings.Join(wrong, "\n"))
				}
			})
		}
	}
}

// knownToFail tells why an idiom fails in this variant.
func (i *idiom) knownToFail(v variant) (reason string, known bool) {
	for _, k := range knownFailures {
		if k.idiom == i.name && regexp.MustCompile(k.in).MatchString(v.String()) {
			return k.reason, true
		}
	}
	return "", false
}

// Every known failure is of an idiom that there is.
func TestKnownFailuresExist(t *testing.T) {
	all := idioms(t)
	for _, k := range knownFailures {
		if !slices.ContainsFunc(all, func(i idiom) bool { return i.name == k.idiom }) {
			t.Errorf("%s: no such idiom", k.idiom)
		}
	}
}

// knownFailures must shrink. Where an idiom fails in some variants only, they
// are given by an expression that matches as in "gcc-O2-8".
var knownFailures = []struct{ idiom, in, reason string }{}
