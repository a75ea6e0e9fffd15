package profiler

import (
	"path"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/profile"
)

// Where gfortran's selects stand. It gives the tests of a select construct the place of the
// construct's last statement, line and column, so that nothing in the line table tells them
// from that statement:
//
//	select case (kind)     line 25
//	case (0)
//	  call few()           line 27
//	case default
//	  call many()          line 29, and so have the tests
//	end select
//
// But they lead to lines before their own, as that statement does not, and the source tells
// where the construct begins. The line stays what it is where the source cannot be read, or
// is younger than the program.

// placeSelects gives such tests the line of their select.
func placeSelects(p *profile.Profile, read func(file string) []string) {
	near := 0
	at := func(a profile.Addr) *profile.Location {
		var known bool
		if near, known = p.LocationNear(a, near); !known {
			return nil
		}
		return &p.Locations[near]
	}
	text := map[string][]string{}
	to := map[*profile.Location]int{}
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		if e.From < 0 || e.To < 0 || e.Kind.IsCall() || e.Kind == profile.Jump || p.Graph.Blocks[e.From].Virtual {
			continue
		}
		l := at(p.Graph.Blocks[e.From].Last)
		if l == nil || !inFortran(l.File) {
			continue
		}
		arm, known := frameOfSame(l, at(p.Graph.Blocks[e.To].Start))
		if !known || arm.File != l.File || arm.Line >= l.Line || arm.Line <= 0 {
			continue
		}
		lines, seen := text[l.File]
		if !seen {
			lines = read(l.File)
			text[l.File] = lines
		}
		if n := selectAround(lines, l.Line); n > 0 && n < arm.Line {
			to[l] = n
		}
	}
	for l, n := range to {
		l.Line, l.Column = n, 0
	}
}

// frameOfSame is the line of what stands where a branch leads in the function that the branch is
// in: what was inlined there has further ones.
func frameOfSame(l, to *profile.Location) (f profile.Frame, known bool) {
	if to == nil {
		return f, false
	}
	own, there := l.Frames(), to.Frames()
	if len(there) < len(own) {
		return f, false
	}
	return there[len(there)-len(own)], true
}

func inFortran(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".f90", ".f95", ".f03", ".f08", ".f18", ".f", ".for", ".fpp":
		return true
	}
	return false
}

var (
	// selectBegins and selectEnds are those of a construct; decides is what a statement
	// begins with that has tests of its own.
	selectBegins = pattern.New(`(?i)^\s*(?:\w+\s*:\s*)?select\s*(?:case|type|rank)\s*\(`)
	selectEnds   = pattern.New(`(?i)^\s*end\s*select\b`)
	decides      = pattern.New(`(?i)^\s*(?:\d+\s+)?(?:\w+\s*:\s*)?(?:else\s*)?(?:if|do|where|forall|select)\b`)
)

// selectAround is the line on which the innermost select begins around a line that decides
// nothing itself; 0: none is known.
func selectAround(text []string, line int) int {
	if line > len(text) || decides().MatchString(text[line-1]) {
		return 0
	}
	for n, inner := line-1, 0; n > 0 && !endsFunction(text[n-1]); n-- {
		switch {
		case selectEnds().MatchString(text[n-1]):
			inner++
		case !selectBegins().MatchString(text[n-1]):
		case inner == 0:
			return n
		default:
			inner--
		}
	}
	return 0
}
