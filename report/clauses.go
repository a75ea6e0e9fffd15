package report

import (
	"fmt"
	"path/filepath"

	"github.com/skewlens/skewlens/lime/dealing"
	"github.com/skewlens/skewlens/profile"
)

// What deals units out has words of its own for how it is to do that, and a cure that
// says these can be typed in:
//
//	OpenMP, a worksharing loop   schedule(dynamic, 4)
//	OpenMP, tasks                grainsize(4)
//	oneTBB                       blocked_range(…, 4), simple_partitioner
//	rayon                        with_min_len(4)
//	Go                           next.Add(4), or 4 to a send
//
// Of a library's loops only what it can be told is named so.

// clauses are the words of what deals a section's units out, nil where it has none.
func clauses(s *profile.Section, at, loop *Location) func(how dealing.Kind, chunk int) string {
	tasks := s.Units.Dealt == profile.DealtInTasks
	switch {
	case s.Kind == profile.Goroutines:
		return ofGo
	case tasks && s.Kind == profile.OpenMP:
		return taken("grainsize(%d)")
	case tasks && (inRust(loop) || inRust(at)):
		return taken("with_min_len(%d)")
	case tasks:
		return taken("blocked_range(…, %d), simple_partitioner")
	case worksharing(s.Kind, at, loop):
		return ofOpenMP
	}
	return nil
}

// worksharing reports whether the rounds of a loop are what OpenMP deals out: it
// follows the pragma that the section stands at.
func worksharing(kind profile.SectionKind, at, loop *Location) bool {
	return kind == profile.OpenMP && at != nil && at.File == loop.File && loop.Line >= at.Line && loop.Line <= at.Line+mostClauses
}

// mostClauses is how many lines of a pragma stand before its loop.
const mostClauses = 4

func inRust(l *Location) bool { return l != nil && filepath.Ext(l.File) == ".rs" }

// taken are the words of what can only be told how many units are one task.
func taken(format string) func(dealing.Kind, int) string {
	return func(how dealing.Kind, chunk int) string {
		if how != dealing.Demand {
			return ""
		}
		return fmt.Sprintf(format, chunk)
	}
}

func ofOpenMP(how dealing.Kind, chunk int) string {
	switch how {
	case dealing.Blocks:
		return "schedule(static)"
	case dealing.Turns:
		return "schedule(static, 1)"
	case dealing.Demand:
		return fmt.Sprintf("schedule(dynamic, %d)", chunk)
	case dealing.Guided:
		return "schedule(guided)"
	}
	return ""
}

// ofGo are words of Go's, where goroutines take units from an atomic counter or from a
// channel, or have some from the start.
func ofGo(how dealing.Kind, chunk int) string {
	switch how {
	case dealing.Blocks:
		return "a slice for each goroutine"
	case dealing.Turns:
		return "i += goroutines"
	case dealing.Demand:
		return fmt.Sprintf("next.Add(%d), or %d to a send", chunk, chunk)
	}
	return ""
}
