package html

import (
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
)

// pathRows is how many steps of the critical path are listed.
const pathRows = 40

// criticalPath is what the page says of it; nil: it is not known.
func (m *maker) criticalPath() *pagePath {
	c := m.r.CriticalPath
	if c == nil {
		return nil
	}
	p := &pagePath{Facts: strings.Join(words.CriticalPath(m.r), words.Dot), Warnings: printableWarnings(c.Warnings), Sayings: []string{strings.Join(words.OnPath(m.r), words.Dot)}}
	for _, s := range []string{words.Handed(c), words.PathLines(c)} {
		if s != "" {
			p.Sayings = append(p.Sayings, s)
		}
	}
	p.Sayings = append(p.Sayings, words.PathIfs(c)...)
	for _, s := range []string{words.Slack(m.r), words.SlackLines(c)} {
		if s != "" {
			p.Sayings = append(p.Sayings, s)
		}
	}
	p.Numbers = []pageNumber{
		{"critical path", units.Seconds(c.Seconds), "the longest chain of work of which each piece had to wait for the one before: with no number of cores is the run shorter, if nothing else changes"},
		{"of it on a core", units.Seconds(c.BusyS), "the rest are waits for files, memory, locks and conditions, as they were in this run"},
		{"work", units.Seconds(c.WorkS), "CPU time of all threads"},
		{"parallelism", decimals(c.Parallelism), "the work divided by the critical path: more cores than that cannot be used"},
	}
	for _, s := range c.Steps[:min(len(c.Steps), pathRows)] {
		at := units.Printable(s.Section)
		if at == "" {
			at = "between sections"
		}
		whole := c.Steps[len(c.Steps)-1].ToS
		p.Steps = append(p.Steps, []string{units.Count(uint64(s.Thread)), at, units.SecondsOf(s.FromS, whole), units.SecondsOf(s.ToS, whole), units.SecondsOf(s.Seconds, whole)})
	}
	if left := c.StepsLeft + len(c.Steps) - len(p.Steps); left > 0 {
		p.More = "and " + units.Plural(left, "step") + " more"
	}
	return p
}

// track is where the critical path leads; nil: that is not known.
func (m *maker) track() []report.PathTrack {
	if m.r.CriticalPath == nil {
		return nil
	}
	return m.r.CriticalPath.Track
}

// follow draws where the critical path leads through the parts of a timeline that
// shows when they were. What is closer than can be seen is drawn as one.
func (t *timeline) follow(track []report.PathTrack, ins []*profile.Instance, rows map[int32]int) {
	parts := map[profile.ThreadID][]*profile.Part{}
	for _, in := range ins {
		for i := range in.Parts {
			q := &in.Parts[i]
			parts[q.Thread] = append(parts[q.Thread], q)
		}
	}
	near := (t.to - t.from) / 1000
	last := make([]int, len(t.ids)) // of each row, in t.path, from 1
	next := map[profile.ThreadID]int{}
	for _, x := range track {
		// Both come in the order of time, but for sections inside of others.
		list := parts[x.Thread]
		for k := next[x.Thread]; k < len(list) && list[k].BeginNS < x.ToNS; k++ {
			q := list[k]
			if q.ArriveNS <= x.FromNS {
				next[x.Thread] = k + 1
				continue
			}
			row, drawn := rows[q.Place()]
			if !drawn {
				continue
			}
			from, to := float64(max(q.BeginNS, x.FromNS))/1e9, float64(min(q.ArriveNS, x.ToNS))/1e9
			if n := last[row]; n > 0 && from <= t.path[n-1].to+near {
				t.path[n-1].to = max(t.path[n-1].to, to)
				continue
			}
			t.path = append(t.path, bar{row, from, to, to})
			last[row] = len(t.path)
		}
	}
}
