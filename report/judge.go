package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
)

// judge adds the doubts that concern the whole run.
func (b *builder) judge(r *Report) {
	say := func(code, format string, args ...any) {
		r.Warnings = append(r.Warnings, Warning{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	r.Warnings = append(r.Warnings, warnings(b.p.Warnings)...)
	if sig := b.p.Run.Signal; sig != "" && !mentioned(sig, b.p.Warnings) {
		say("ended-by-signal", "the program was ended by %s: the report covers the run up to there", sig)
	}
	said := func(w profile.Warning) bool { return w.Code == "no-sections" }
	if len(r.Sections) == 0 && len(b.p.Threads) != 1 && !slices.ContainsFunc(b.p.Warnings, said) {
		say("no-sections", "no parallel section was found: the program reached no barrier and joined no thread")
	}
	written := func(l profile.Location) bool { return l.Known() }
	none := b.blind == b.asked && !slices.ContainsFunc(b.p.Locations, written)
	if b.asked > 0 && none {
		say("no-debug-info", "no source lines are known: build the program with -g (the optimisation can stay) and run it again")
	}
	if !none {
		for i := range r.Sections {
			blindCauses(&r.Sections[i])
		}
	}
	if pct := r.Coverage.InstructionsPct; pct != nil && *pct < 95 && !onlyStart(r.Coverage.Skipped) {
		say("low-coverage", "only %.3g %% of the program's code was counted%s: a cause in the rest cannot be seen",
			*pct, skippedNames(r.Coverage.Skipped))
	}
	if len(b.p.Ranks) == 1 && b.p.Ranks[0].Size > 1 {
		say("one-rank", "this is rank %d of %d alone: ranks are compared by skewlens report DIR, with the directory that all saved their profiles to (--save DIR/)", b.p.Ranks[0].Rank, b.p.Ranks[0].Size)
	}
	if b.several() {
		r.Warnings = append(r.Warnings, b.sharedCores(r.Run.Threads)...)
	}
	if b.p.Run.Cores > 0 && r.Run.Threads > b.p.Run.Cores && findings(r) {
		say("shared-cores", "%d threads shared %d cores: seconds are this run's, and would differ with a core for each thread",
			r.Run.Threads, b.p.Run.Cores)
		for i := range r.Sections {
			coresOfInput(&r.Sections[i])
		}
	}
}

// coresOfInput warns where input or output is a cause and threads were more than cores: a
// call that wakes another thread, as a write into a pipe, may give it the core, and comes
// back when there is one again.
func coresOfInput(s *Section) {
	for i := range s.Causes {
		if s.Causes[i].Kind == "io" {
			s.Warnings = append(s.Warnings, Warning{
				Code:    "io-cores",
				Message: "a thread that calls for input or output may lose its core to another one meanwhile, and seems to wait: compare with a run on as many cores as threads",
			})
			return
		}
	}
}

func mentioned(word string, ws []profile.Warning) bool {
	for _, w := range ws {
		if strings.Contains(w.Message, word) {
			return true
		}
	}
	return false
}

// onlyStart: nothing was left alone but the few instructions before main,
// which can be much of a tiny program, and are no thread's work.
func onlyStart(ss []Skipped) bool {
	return len(ss) == 1 && ss[0].Function == "_start"
}

// blindCauses warns where a cause is in code without line information although
// the rest of the program has it.
func blindCauses(s *Section) {
	for i := range s.Causes {
		if l := s.Causes[i].Location; !l.Known() {
			s.Warnings = append(s.Warnings, Warning{
				Code:    "no-debug-info",
				Message: "no source line is known for " + l.Short() + ": build that file with -g",
			})
		}
	}
}

// findings: there is something that the number of cores bears on.
func findings(r *Report) bool {
	for i := range r.Sections {
		if len(r.Sections[i].Causes) > 0 {
			return true
		}
	}
	return false
}

func skippedNames(ss []Skipped) string {
	const shown = 3
	if len(ss) == 0 {
		return ""
	}
	names := []string{}
	for _, s := range ss[:min(shown, len(ss))] {
		names = append(names, s.Function)
	}
	more := ""
	if len(ss) > shown {
		more = fmt.Sprintf(" and %d more", len(ss)-shown)
	}
	return " (left alone: " + strings.Join(names, ", ") + more + ")"
}
