package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	module = "github.com/skewlens/skewlens"
	// least is how much of a package its own tests must reach, in percent of its
	// statements.
	least = 85
)

// exception lets a package stay below the least.
type exception struct {
	kind string // live: for ever; todo: until it is not below any more
	why  string
}

// readExceptions reads a line for each: package, below the module's path; kind;
// why. Lines that begin with # are comments.
func readExceptions(r io.Reader) (map[string]exception, error) {
	all := map[string]exception{}
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		w := strings.Fields(line)
		if len(w) < 3 || w[1] != "live" && w[1] != "todo" {
			return nil, fmt.Errorf("line %d: want a package, live or todo, and why: %q", n, line)
		}
		if _, twice := all[w[0]]; twice {
			return nil, fmt.Errorf("line %d: %s is there already", n, w[0])
		}
		all[w[0]] = exception{w[1], strings.Join(w[2:], " ")}
	}
	return all, sc.Err()
}

var coverageLine = regexp.MustCompile(`(?m)(?:^|\t)coverage: ([0-9.]+)% of statements`)

// coverage is what a package's output says of it, in percent.
func coverage(output []string) (percent float64, ok bool) {
	m := coverageLine.FindStringSubmatch(strings.Join(output, ""))
	if m == nil { // no statements, or it was not asked for
		return 0, false
	}
	percent, err := strconv.ParseFloat(m[1], 64)
	return percent, err == nil
}

// short is the name of a package in the list of exceptions.
func short(pkg string) string {
	if pkg == module {
		return "."
	}
	return strings.TrimPrefix(pkg, module+"/")
}

// judge adds a failure for each package below the least that is no exception,
// and for each exception that is none any more.
func (s *summary) judge(exceptions map[string]exception) {
	for _, pkg := range slices.Sorted(maps.Keys(s.covered)) {
		percent, name := s.covered[pkg], short(pkg)
		e, excepted := exceptions[name]
		switch {
		case percent < least && s.skips[pkg] > 0:
			s.notes = append(s.notes, fmt.Sprintf("coverage of %s is not judged: %d of its tests were skipped", name, s.skips[pkg]))
		case percent < least && !excepted:
			s.fail("coverage of "+name, fmt.Sprintf("    its own tests reach %.1f %% of its statements, want %d %%\n", percent, least))
		case percent >= least && e.kind == "todo":
			s.fail("coverage of "+name, fmt.Sprintf("    %.1f %%: it is no exception any more, take it out of the list\n", percent))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(exceptions)) {
		if !s.ran[name] {
			s.fail("coverage of "+name, "    it is in the list of exceptions, but there is no such package\n")
		}
	}
}

// fail counts a failure that is no test's.
func (s *summary) fail(what, why string) {
	s.failed++
	s.bad = append(s.bad, what)
	s.output[what] = []string{why}
}
