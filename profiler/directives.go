package profiler

import (
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
)

// What a line of the source says of OpenMP, as far as it tells where threads meet:
//
//	#pragma omp for schedule(static)   a loop, which ends in a barrier
//	!$omp single                       a single, which ends in none: that is said
//	…                                  at its end
//	!$omp end single nowait

// pragma is what a line of the source says of OpenMP.
var pragma = pattern.New(`(?i)^\s*(?:#\s*pragma\s+|_Pragma\s*\(\s*"|[!c*]\$)omp\s+(.*)`)

// says is the construct of a line that ends in a barrier of its own, whether it says
// that there is a barrier here, and whether it says anything that ends the search.
func says(line string) (c construct, barrier, region bool) {
	m := pragma().FindStringSubmatch(line)
	if m == nil {
		return noConstruct, false, false
	}
	words, _, _ := strings.Cut(m[1], "(")
	f := strings.FieldsFunc(strings.ToLower(words), func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
	switch has := func(w string) bool { return slices.Contains(f, w) }; {
	case len(f) == 0 || f[0] == "end" || strings.HasPrefix(f[0], "cancel"): // cancel for, cancellation point for
	case has("barrier"):
		return noConstruct, true, false
	case has("parallel") && has("sections"): // who takes which is decided there; none of its barriers ends there
		return ofSections, false, true
	case has("parallel"):
		return noConstruct, false, true
	case has("for"), has("do"), has("loop"), has("workshare"):
		return ofLoop, false, false
	case has("sections"):
		return ofSections, false, false
	case has("single"):
		return ofSingle, false, false
	case f[0] == "scope":
		return ofScope, false, false
	}
	return noConstruct, false, false
}

// continued is a line with those that continue it.
func continued(text []string, line int) string {
	all := text[line-1]
	for at := line; at < len(text) && (strings.HasSuffix(text[at-1], "\\") || strings.HasSuffix(text[at-1], "&")); at++ {
		all += " " + text[at]
	}
	return all
}

// beginsHere reports whether a construct begins on a line, whether its end waits or not.
func beginsHere(text []string, line int, of construct) bool {
	c, _, _ := says(continued(text, line))
	return c == of
}

// saysAt is says of a line, with those that continue it: who does not wait ends in no
// barrier. Fortran says so at the construct's end.
func saysAt(text []string, line int) (c construct, barrier, region bool) {
	all := continued(text, line)
	c, barrier, region = says(all)
	if c == noConstruct {
		return c, barrier, region
	}
	if strings.Contains(all, "nowait") {
		return noWait, false, false
	}
	if !strings.Contains(all, "$") {
		return c, barrier, region
	}
	for _, next := range text[line:] {
		if m := pragma().FindStringSubmatch(next); m != nil {
			if words := strings.ToLower(m[1]); strings.HasPrefix(words, "end") && strings.Contains(words, "nowait") {
				return noWait, false, false
			}
			break
		}
	}
	return c, barrier, region
}
