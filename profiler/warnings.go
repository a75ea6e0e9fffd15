package profiler

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
)

// warnings words the doubts about an outcome.
func warnings(o *backend.Outcome) (list []profile.Warning) {
	add := func(code, format string, args ...any) {
		list = append(list, profile.Warning{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	p, d := o.Profile, &o.Doubts
	if x := d.Exec.Replaced; len(x) > 0 {
		add("exec", "this is the profile of the program that took the place of %s (exec); what came before is not in it", strings.Join(x, " and then "))
	}
	switch {
	case d.Exec.Refused != nil:
		add("exec", "%s replaced itself by another program (exec), which could not be profiled; what came after is not in this profile: %v", p.Program.Path, d.Exec.Refused)
	case d.Exec.By != "":
		add("exec", "%s replaced itself by %s (exec); what came after is not in this profile, but with --follow-exec", p.Program.Path, d.Exec.By)
	}
	if bad := d.Contradictory; len(bad) > 0 {
		add("inconsistent-counts", "the counts of %d functions contradict each other and are left out, first %s", len(bad), bad[0])
	}
	if left := d.Abandoned; len(left) > 0 {
		add("abandoned", "handlers of signals left %d functions for good in their middle (as siglongjmp does); their counts are not known and left out, first %s", len(left), left[0])
	}
	if d.LostTargets > 0 {
		add("indirect-targets", "%d calls through pointers had too many different targets to be told apart", d.LostTargets)
	}
	if len(p.Threads) == 1 {
		add("one-thread", "the program ran a single thread: there is nothing to balance%s", besides(d.Children))
	} else if len(p.Sections) == 0 {
		add("no-sections", "no two threads met at a barrier, a join or their end: no section to analyse")
	}
	if d.Crashed {
		add("crashed", "the program was ended by %s; the profile holds what happened before", p.Run.Signal)
	}
	if share := withoutCore(p, d.QueuedNS); share >= disturbed {
		add("disturbed", "threads that could have run had no core for %.0f %% of that time, though there were no more of them than cores: other programs ran beside it, or it keeps to fewer cores itself. Seconds are this run's; executed instructions are not touched by that", 100*share)
	}
	list = append(list, d.Others...)
	return append(list, o.Lines.Warnings()...)
}

// disturbed is the share of their time without a core from which seconds say more of other
// programs than of this one; below stands what skewlens itself takes, on few cores.
const disturbed = 0.25

// leastQueue is what a program that runs for a moment may wait for its cores.
const leastQueue = 20e6 // ns

// withoutCore is for how much of the time in which threads could have run they had no core;
// 0 where they were more than cores: then it is each other that they waited for.
func withoutCore(p *profile.Profile, queuedNS int64) float64 {
	if len(p.Threads) > p.Run.Cores || queuedNS < leastQueue {
		return 0
	}
	all := queuedNS
	for i := range p.Threads {
		all += p.Threads[i].CPUNS
	}
	return float64(queuedNS) / float64(all)
}

// besides says of processes that a program started, as scripts and makefiles do, that they
// may be what was to be profiled.
func besides(children int) string {
	if children == 0 {
		return ""
	}
	return fmt.Sprintf("; it started other processes (%d), which are not in this profile: to see one, profile the program that it ran", children)
}
