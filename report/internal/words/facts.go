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
	if r.Run.Cores > 0 {
		facts[0] += " on " + units.Plural(r.Run.Cores, "core")
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
	if c.FunctionsTotal > 0 {
		f := fmt.Sprintf("counted %d of %s", c.Functions, units.Plural(c.FunctionsTotal, "function"))
		if c.InstructionsPct != nil {
			f += fmt.Sprintf(" (%s %% of instructions)", upTo100(*c.InstructionsPct))
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
	return s.Imbalance == nil || s.Balanced || s.Negligible
}

// Verdict says why there is nothing to do about a section that is [Brief].
func Verdict(s *report.Section) string {
	switch {
	case s.Imbalance == nil:
		return "never completed"
	case s.Balanced:
		return "balanced"
	}
	return fmt.Sprintf("imbalance %s, too short to matter", units.Percent(*s.Imbalance))
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
	return "counts"
}
