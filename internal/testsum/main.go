// Testsum reads what `go test -json` writes, shows what failed and why, and
// ends with one line of counts: the tests that ran, subtests included. Its
// status is 1 when anything failed.
//
//	go test -json -cover ./... ─▶ summary ─┬─▶ packages, failures, counts
//	           a list of exceptions ─▶ judge ─▶ packages that their own tests reach too little of
//
//	go test -json ./... | testsum
//	go test -json -cover ./... | testsum -cover exceptions.txt
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strings"
)

func main() {
	list := flag.String("cover", "", "fail packages of little coverage, but for the exceptions in `FILE`")
	flag.Parse()
	failed, err := run(os.Stdin, os.Stdout, *list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

// run sums up; list names the file of exceptions, "": coverage does not matter.
func run(in io.Reader, out io.Writer, list string) (failed bool, err error) {
	s, err := read(in)
	if err != nil {
		return false, err
	}
	if list != "" {
		f, err := os.Open(list)
		if err != nil {
			return false, err
		}
		defer f.Close()
		exceptions, err := readExceptions(f)
		if err != nil {
			return false, fmt.Errorf("%s: %w", list, err)
		}
		s.judge(exceptions)
	}
	s.write(out)
	return s.failed > 0, nil
}

// event is one line of go test -json.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

type summary struct {
	passed, failed, skipped int
	output                  map[string][]string // by package and test
	bad                     []string            // what failed, as keys of output
	why                     []string            // reasons for skipping
	packages                []string
	failures, skips         map[string]int      // failed and skipped tests by package
	running                 map[string][]string // tests that have begun and not ended, by package
	ran                     map[string]bool
	covered                 map[string]float64 // percent of statements, by package
	notes                   []string
}

func key(pkg, test string) string { return strings.TrimSuffix(pkg+" "+test, " ") }

func read(r io.Reader) (*summary, error) {
	s := &summary{output: map[string][]string{}, failures: map[string]int{}, skips: map[string]int{}, running: map[string][]string{}, ran: map[string]bool{}, covered: map[string]float64{}}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var e event
		if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("a line is not from go test -json: %w: %.80q", err, sc.Text())
		}
		s.add(e)
	}
	sort.Strings(s.packages)
	return s, sc.Err()
}

func (s *summary) add(e event) {
	if e.Package == "" {
		e.Package = e.ImportPath
	}
	k := key(e.Package, e.Test)
	switch e.Action {
	case "output", "build-output":
		s.output[k] = append(s.output[k], e.Output)
	case "build-fail": // its package fails too, with a line of its own
		s.bad = append(s.bad, k)
	case "run":
		s.running[e.Package] = append(s.running[e.Package], k)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(e, k)
		} else {
			s.endTest(e, k)
		}
	}
}

func (s *summary) endTest(e event, k string) {
	s.running[e.Package] = slices.DeleteFunc(s.running[e.Package], func(r string) bool { return r == k })
	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		s.failures[e.Package]++
		s.bad = append(s.bad, k)
	case "skip":
		s.skipped++
		s.skips[e.Package]++
		s.why = append(s.why, k+": "+reason(s.output[k]))
	}
}

func (s *summary) endPackage(e event, k string) {
	if e.Action == "fail" && s.failures[e.Package] == 0 { // did not build, or died outside of its tests
		s.failed++
		s.bad = append(append(s.bad, s.running[e.Package]...), k) // what it died in: a test that hangs ends so, too
	}
	s.ran[short(e.Package)] = true
	line := fmt.Sprintf("%-4s %-50s %6.1f s", e.Action, e.Package, e.Elapsed)
	if percent, ok := coverage(s.output[k]); ok && e.Action == "pass" {
		s.covered[e.Package] = percent
		line += fmt.Sprintf("  %5.1f %%", percent)
	}
	if e.Action != "skip" {
		s.packages = append(s.packages, line)
	}
}

// reason is what a test said when it skipped itself.
func reason(output []string) string {
	for _, o := range output {
		if o = strings.TrimSpace(o); o != "" && !strings.HasPrefix(o, "===") && !strings.HasPrefix(o, "---") {
			return o
		}
	}
	return "no reason given"
}

// shorten keeps the first lines, where the cause mostly is.
func shorten(lines []string) string {
	const most = 80
	if n := len(lines); n > most {
		lines = append(lines[:most:most], fmt.Sprintf("    … and %d lines more\n", n-most))
	}
	return strings.Join(lines, "")
}

func (s *summary) write(w io.Writer) {
	for _, p := range s.packages {
		fmt.Fprintln(w, p)
	}
	for _, k := range s.why {
		fmt.Fprintln(w, "skip", k)
	}
	for _, n := range s.notes {
		fmt.Fprintln(w, n)
	}
	for _, k := range s.bad {
		fmt.Fprintf(w, "\nFAIL %s\n%s", k, shorten(s.output[k]))
	}
	for _, k := range s.bad { // once more where one looks first: at the end
		fmt.Fprintln(w, "failed:", k)
	}
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
}
