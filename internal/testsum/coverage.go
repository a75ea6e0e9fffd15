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

// readExceptions reads a line for each package that may stay below the least:
// its name, below the module's path, and why. Lines that begin with # are
// comments.
func readExceptions(r io.Reader) (map[string]bool, error) {
	all := map[string]bool{}
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		w := strings.Fields(line)
		if len(w) < 2 {
			return nil, fmt.Errorf("line %d: want a package, and why: %q", n, line)
		}
		if all[w[0]] {
			return nil, fmt.Errorf("line %d: %s is there already", n, w[0])
		}
		all[w[0]] = true
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
// and for each exception that does not exist.
func (s *summary) judge(exceptions map[string]bool) {
	for _, pkg := range slices.Sorted(maps.Keys(s.covered)) {
		switch percent, name := s.covered[pkg], short(pkg); {
		case percent < least && s.skips[pkg] > 0:
			s.notes = append(s.notes, fmt.Sprintf("coverage of %s is not judged: %d of its tests were skipped", name, s.skips[pkg]))
		case percent < least && !exceptions[name]:
			s.fail("coverage of "+name, fmt.Sprintf("    its own tests reach %.1f %% of its statements, want %d %%\n", percent, least))
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
