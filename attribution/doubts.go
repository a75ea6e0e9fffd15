package attribution

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/profile"
)

const (
	disturbed = 0.03 // of the core time waited for cores: more than that moves the curves
	fewRuns   = 3    // that an interval needs to mean something
)

// doubts are what stands beside the numbers.
func doubts(s *Scaling) []profile.Warning {
	var ws []profile.Warning
	add := func(code, format string, args ...any) {
		ws = append(ws, profile.Warning{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if at := where(s, func(p *Point) bool { return p.tooManyCores() }); at != "" {
		add("more-cores", "it used more CPU time than %s could give, so idle time, work and inflation are not known there: it does not take its number of threads from what it is given, or has threads beside them; --pin keeps it on that many cores", at)
	}
	if at := where(s, func(p *Point) bool { return p.P <= s.Cores && p.Idle == nil && p.CPU != nil && !p.tooManyCores() }); at != "" {
		add("more-threads", "with %s, threads waited longer for a core than cores were free: it has more threads than cores, and its idle time cannot be told from their waiting", at)
	}
	if at := where(s, (*Point).Disturbed); at != "" {
		add("disturbed", "with %s, more than %.0f %% of the core time went by while threads were ready and had no core (it is taken off): other programs ran beside it, or it has more threads than cores; close them, or distrust the curves", at, 100*disturbed)
	}
	if at := where(s, func(p *Point) bool { return p.Speedup.Actual == nil && p.Time.Mean > 0 }); at != "" {
		add("no-speedup", "the speedup on %s is not known: what threads waited for cores can be taken off there and not from the baseline, or the other way round, and other programs ran beside both; close them, or give the program no more threads than cores", at)
	}
	if at := where(s, func(p *Point) bool { return p.CPU != nil && p.Queue == nil }); at != "" {
		add("no-run-queue", "with %s, for how long threads waited for a core is not known, and counts as idle time", at)
	}
	if at := where(s, func(p *Point) bool { return p.Runs < fewRuns }); at != "" {
		add("few-runs", "fewer than %d runs with %s say little about spread: --runs 5", fewRuns, at)
	}
	return ws
}

// tooManyCores: there was more CPU time than the cores have.
func (p *Point) tooManyCores() bool {
	return p.CPU != nil && p.Work == nil
}

// Disturbed reports whether so much core time went by while threads waited for
// cores that the curves cannot be trusted.
func (p *Point) Disturbed() bool {
	return p.Queued != nil && p.Queued.Mean > disturbed*Seconds(p.P)*p.Wall.Mean
}

// where names the points that something holds of: "2 and 4 cores"; "" for none.
func where(s *Scaling, is func(*Point) bool) string {
	var ps []string
	last := 0
	for i := range s.Points {
		if p := &s.Points[i]; is(p) {
			ps, last = append(ps, fmt.Sprint(p.P)), p.P
		}
	}
	switch n := len(ps); {
	case n == 0:
		return ""
	case last == 1:
		return "1 core"
	case n == 1:
		return ps[0] + " cores"
	default:
		return strings.Join(ps[:n-1], ", ") + " and " + ps[n-1] + " cores"
	}
}
