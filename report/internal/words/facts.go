package words

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
)

// Command is the program as it was called.
func (p Paths) Command(r *report.Report) string {
	return strings.TrimSpace(p.File(r.Program.Path) + " " + units.Printable(strings.Join(r.Program.Args, " ")))
}

// Run is what there is to know of a run.
func Run(r *report.Report) []string {
	facts := []string{units.Plural(r.Run.Threads, "thread"), units.Printable(r.Run.Backend) + " backend", "measured in " + strings.ReplaceAll(r.Run.Response, "-", " ")}
	if r.Run.Ranks > 0 {
		facts[0] = units.Plural(r.Run.Ranks, "rank")
		if r.Run.Threads > 1 {
			facts[0] += " of " + units.Plural(r.Run.Threads, "thread")
		}
	}
	if r.Run.Cores > 0 {
		facts[0] += " on " + units.Plural(r.Run.Cores, "core")
	}
	if r.Run.Virtual > 0 {
		facts[0] += fmt.Sprintf(", kept together as on %d", r.Run.Virtual)
	}
	if r.Run.WallS != nil {
		facts = append(facts, units.Seconds(*r.Run.WallS))
	}
	if r.Run.Slowdown != nil {
		facts = append(facts, fmt.Sprintf("%.2f× a plain run", *r.Run.Slowdown))
	}
	if r.Run.Signal == "" && r.Run.ExitCode != 0 {
		facts = append(facts, fmt.Sprintf("exit status %d", r.Run.ExitCode))
	}
	c := r.Coverage
	if c.FunctionsTotal > 0 && r.Run.Backend != "perf" { // which counts what all functions do
		f := fmt.Sprintf("counted %d of %s", c.Functions, units.Plural(c.FunctionsTotal, "function"))
		if c.InstructionsPct != nil {
			f += fmt.Sprintf(" (%s %% of the code)", upTo100(*c.InstructionsPct))
		}
		facts = append(facts, f)
	}
	return facts
}

// upTo100 never rounds to 100 what is not.
func upTo100(pct float64) string {
	s := fmt.Sprintf("%.1f", pct)
	if s == "100.0" {
		if pct < 100 {
			return ">99.9"
		}
		return "100"
	}
	return s
}

// Brief sections fit on one line: there is nothing to do about them.
func Brief(s *report.Section) bool {
	return s.Imbalance == nil || s.Balanced && len(s.Causes) == 0 && !s.BusyApart() || s.Negligible
}

// Verdict says why there is nothing to do about a section that is [Brief].
func Verdict(s *report.Section) string {
	switch {
	case s.Imbalance == nil:
		return "never completed"
	case s.Balanced && s.Waited() > littleWaiting*s.ThreadTime():
		return "work is balanced" + Dot + Waited(s)
	case s.Balanced:
		return "balanced"
	}
	return fmt.Sprintf("imbalance %s, too short to matter", units.Percent(*s.Imbalance))
}

// littleWaiting is the part of the threads' time that they may wait in a
// section that is called balanced without a word about it.
const littleWaiting = 0.1

// Imbalance is how unevenly a section's work is spread.
func Imbalance(s *report.Section) string {
	switch {
	case s.Balanced && s.BusyApart():
		return "instructions are balanced, busy times are not"
	case s.Balanced:
		return "work is balanced"
	}
	return "imbalance " + units.Percent(*s.Imbalance)
}

// Virtual says what a section takes on virtual cores; "" where there were none.
func Virtual(s *report.Section) string {
	v := s.Virtual
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%s cycles on %s, %s waited in all", units.Compact(v.Span), units.Plural(v.Cores, "virtual core"), units.Compact(v.Wait))
}

// Verified says what became of a section's imbalance when its misses were hits; ""
// where that was not tried.
func Verified(s *report.Section) string {
	v := s.Verified
	if v == nil {
		return ""
	}
	what := "with these misses as hits"
	if v.Causes < len(s.Causes) {
		what = fmt.Sprintf("with the misses of %s as hits", units.Plural(v.Causes, "cause"))
	}
	switch {
	case v.Erased >= 0.005:
		return fmt.Sprintf("verified: removes %s of the imbalance, in a run %s", units.Percent(v.Erased), what)
	case v.Erased > -0.005:
		return "verified: removes nothing of the imbalance, in a run " + what
	}
	return fmt.Sprintf("verified: removes nothing, the imbalance is %s larger in a run %s", units.Percent(-v.Erased), what)
}

// Waited says what a section's threads waited for; "" where that is not known.
func Waited(s *report.Section) string {
	const shown = 3
	if len(s.Waits) == 0 {
		if s.IdleS == nil {
			return ""
		}
		return who(s) + " waited " + units.Seconds(*s.IdleS) + " in all"
	}
	total := s.Waited()
	if len(s.Waits) == 1 && s.IdleS != nil && *s.IdleS > 0 {
		return who(s) + " waited " + units.Seconds(total) + " in all"
	}
	var parts []string
	for _, w := range s.Waits[:min(len(s.Waits), shown)] {
		parts = append(parts, units.SecondsOf(w.Seconds, total)+" "+waitedFor(w)+until(w))
	}
	if left := len(s.Waits) - shown; left > 0 {
		parts = append(parts, fmt.Sprintf("%d more", left))
	}
	return who(s) + " waited " + units.Seconds(total) + ": " + strings.Join(parts, ", ")
}

// who waits: ranks, or threads.
func who(s *report.Section) string {
	if s.Kind == "mpi" {
		return "ranks"
	}
	return "threads"
}

// until says who ended a wait.
func until(w report.Wait) string {
	if w.Partner != nil {
		return " (" + w.Partner.Words() + ")"
	}
	if w.Waker == nil {
		return ""
	}
	return " (" + units.Printable(w.Waker.Words(w.Kind)) + ")"
}

func waitedFor(w report.Wait) string {
	at := "an unknown place"
	if w.Location != nil {
		at = units.Printable(w.Location.Short())
	}
	switch w.Kind {
	case "lock":
		return "for the lock at " + at
	case "sleep":
		return "asleep at " + at
	case "io":
		return "for input or output at " + at
	case "fault":
		return "for memory at " + at
	case "message":
		return "for another rank at " + at
	}
	return "at " + at + " (" + units.Printable(w.Kind) + ")"
}

// Warnings are those of a section: of one that is too short to matter
// none, for nothing depends on it.
func Warnings(s *report.Section) []report.Warning {
	if s.Imbalance != nil && s.Negligible && !s.Balanced {
		return nil
	}
	return s.Warnings
}

// Gain is what balancing saves of a section.
func Gain(s *report.Section, g *report.Gain) string {
	if g.Seconds == nil || s.TimeS == nil {
		return units.Percent(g.Fraction)
	}
	return units.SecondsOf(*g.Seconds, *s.TimeS) + " (" + units.Percent(g.Fraction) + ")"
}

// Kind is what sort of decision a cause is.
func Kind(c *report.Cause) string {
	if c.Leader != "" {
		return c.Leader
	}
	if c.Level != "" {
		why := c.Miss
		if c.Sharing != "" {
			why = c.Sharing + " sharing"
		}
		return strings.ToUpper(strings.TrimSuffix(c.Level, "d")) + " misses (" + why + ")"
	}
	return units.Printable(c.Kind)
}

// Counted is what the counts of a cause are of.
func Counted(c *report.Cause) string {
	switch c.Leader {
	case "branch":
		return "taken"
	case "loop":
		return "rounds"
	case "recursion":
		return "calls"
	case "start":
		return "begins"
	}
	if c.Level != "" {
		return "misses"
	}
	return "counts"
}
