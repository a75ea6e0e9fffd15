package report

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/attribution/taskgraph"
	"github.com/skewlens/skewlens/profile"
)

// CriticalPath is the longest chain of work in the run of which each piece had to
// wait for the one before (rule 27): the run cannot be shorter than it, however
// many cores there are, if nothing else changes.
type CriticalPath struct {
	Seconds     float64     `json:"seconds"`             // its length, the span
	AtLeast     bool        `json:"at_least,omitempty"`  // it may be longer: threads that came late did not wait for what they depended on
	AtMostS     *float64    `json:"at_most_s,omitempty"` // where it may be longer, because the order in which threads take locks is known in part
	BusyS       float64     `json:"busy_s"`              // of that, CPU time; the rest are waits for other things than meetings
	WorkS       float64     `json:"work_s"`              // CPU time of all threads
	Parallelism float64     `json:"parallelism"`         // work/span
	FromS       *float64    `json:"from_s,omitempty"`    // since when the graph is known; none: the whole run
	OutsideS    float64     `json:"outside_s"`           // of the path, outside of all sections
	Tasks       PathTasks   `json:"tasks"`               // of the graph
	Waits       []Wait      `json:"waits"`               // on the path, those that took longest first
	Handed      []Handed    `json:"handed_over"`         // how often it comes from a thread to the next by a wait that that one ends, most often first
	Lines       []PathLine  `json:"lines"`               // on which its sections' work was, those with most first: an estimate
	Slack       []LineSlack `json:"slack_lines"`         // beside it, those with most work first
	Steps       []PathStep  `json:"steps"`               // the longest, in order of time
	StepsLeft   int         `json:"steps_left,omitempty"`
	WhatIf      []PathIf    `json:"what_if"` // most first
	Warnings    []Warning   `json:"warnings"`
	Track       []PathTrack `json:"-"` // all of it
}

// PathTasks are how many tasks of each kind the graph has.
type PathTasks struct {
	Work    int `json:"work"`
	Create  int `json:"create"`
	Join    int `json:"join"`
	Barrier int `json:"barrier"`
	Sync    int `json:"sync"`
}

// Handed is where a thread on the path waited for the one that was on it before.
type Handed struct {
	Kind     string    `json:"kind"`
	Location *Location `json:"location,omitempty"`
	Times    int       `json:"times"`
}

// PathLine is the path's time on a line: of each part on it, as its instructions
// are spread over its lines.
type PathLine struct {
	Location *Location `json:"location"`
	Seconds  float64   `json:"seconds"`
	Share    float64   `json:"share"` // of the path
}

// PathStep is a stretch of a thread on the path.
type PathStep struct {
	Thread  int     `json:"thread"`
	Section string  `json:"section,omitempty"` // its id; none: outside of all
	FromS   float64 `json:"from_s"`            // since the start of the run
	ToS     float64 `json:"to_s"`
	Seconds float64 `json:"seconds"` // what it needed by itself
}

// PathTrack is where the path leads, as the profile has times.
type PathTrack struct {
	Thread       profile.ThreadID
	FromNS, ToNS int64
}

// PathIf is the path if the first cause of a section were evened out.
type PathIf struct {
	Section string    `json:"section"`
	Cause   *Location `json:"cause"`
	Seconds float64   `json:"seconds"` // the path's length then
	SavedS  float64   `json:"saved_s"`
	Gain    *Gain     `json:"gain,omitempty"` // of the section, in this run
}

// OnPath is a section on the critical path.
type OnPath struct {
	Seconds float64 `json:"seconds"` // of the path; 0: it does not lead through the section
	Share   float64 `json:"share"`
	// SlackS is by how much the section's parts may take longer before the path does.
	SlackS float64 `json:"slack_s"`
}

const (
	pathSteps = 256  // that are listed
	pathLines = 20   // likewise
	pathLine  = 0.01 // the share of the path from which a line is listed
	pathDoubt = 0.05 // the share of the path, or of the work, that must be in doubt for it to be said
)

// pathOf fills in the critical path; moved is what evening the first cause of each
// section changes. Where the profile does not hold what it takes there is none.
func (b *builder) pathOf(r *Report, moved [][][]float64) {
	if len(b.p.Threads) < 2 || b.several() {
		return
	}
	g, err := taskgraph.New(b.p)
	if err != nil {
		return
	}
	path := g.Longest(nil)
	if path.NS <= 0 || g.BusyNS <= 0 {
		return
	}
	x := pathBuilder{b: b, g: g, path: path, on: make([]int64, len(b.p.Sections)), parts: map[taskgraph.Part]*onPath{}}
	c := &CriticalPath{Seconds: round(float64(path.NS) / 1e9), WorkS: round(float64(g.BusyNS) / 1e9), Parallelism: round(float64(g.BusyNS) / float64(path.NS)),
		FromS: seconds(g.FromNS), Tasks: PathTasks(g.Counts), Waits: []Wait{}, Handed: []Handed{}, Lines: []PathLine{}, Steps: []PathStep{}, WhatIf: []PathIf{}, Warnings: []Warning{}}
	if most := g.AtMost(); float64(most) > (1+pathDoubt)*float64(path.NS) {
		c.AtMostS = known(float64(most) / 1e9)
	}
	untold := slices.ContainsFunc(b.p.Warnings, func(w profile.Warning) bool { return w.Code == "waits" })
	c.AtLeast = untold || float64(g.SyncNS) >= pathDoubt*float64(path.NS)
	x.walk(c, r)
	all := g.Slack()
	slack := all.Sections()
	for i := range r.Sections {
		if slack[i] >= 0 {
			r.Sections[i].OnPath = &OnPath{Seconds: round(float64(x.on[i]) / 1e9), Share: round(float64(x.on[i]) / float64(path.NS)), SlackS: round(float64(slack[i]) / 1e9)}
		}
	}
	x.lines(c)
	x.slackLines(c, all)
	x.waits(c)
	x.handed(c)
	x.whatIf(c, r, moved)
	x.doubts(c, r)
	r.CriticalPath = c
}

// pathBuilder tells what is on a path. Sections are still in the profile's order.
type pathBuilder struct {
	b     *builder
	g     *taskgraph.Graph
	path  taskgraph.Path
	on    []int64 // nanoseconds of the path, by section
	parts map[taskgraph.Part]*onPath
	order []taskgraph.Part // of parts, as the path meets them
}

// onPath is how much of a part is on the path.
type onPath struct{ busy, waits int64 }

func (x *pathBuilder) part(of taskgraph.Part) *profile.Part {
	return &x.b.p.Sections[of.Section].Instances[of.Instance].Parts[of.Part]
}

// walk adds up the path's tasks.
func (x *pathBuilder) walk(c *CriticalPath, r *Report) {
	busy, outside := int64(0), int64(0)
	last := taskgraph.Part{Section: -2}
	for _, s := range x.path.Steps {
		t := &x.g.Tasks[s.Task]
		busy += t.BusyNS
		id := ""
		if sec := t.Of.Section; sec < 0 {
			outside += t.NS
		} else {
			id = r.Sections[sec].ID
			x.on[sec] += t.NS
			q := x.parts[t.Of]
			if q == nil {
				q = &onPath{}
				x.parts[t.Of], x.order = q, append(x.order, t.Of)
			}
			q.busy, q.waits = q.busy+t.BusyNS, q.waits+t.NS-t.BusyNS
		}
		thread := x.b.p.Threads[t.Thread].ID
		if n := len(c.Track); n > 0 && c.Track[n-1].Thread == thread {
			c.Track[n-1].ToNS = t.ToNS
		} else {
			c.Track = append(c.Track, PathTrack{thread, t.FromNS, t.ToNS})
			last.Section = -2
		}
		if last.Section == t.Of.Section {
			e := &c.Steps[len(c.Steps)-1]
			e.ToS, e.Seconds = float64(t.ToNS)/1e9, e.Seconds+float64(t.NS)/1e9
		} else {
			c.Steps = append(c.Steps, PathStep{int(thread), id, float64(t.FromNS) / 1e9, float64(t.ToNS) / 1e9, float64(t.NS) / 1e9})
		}
		last = t.Of
	}
	c.BusyS, c.OutsideS = round(float64(busy)/1e9), round(float64(outside)/1e9)
	c.longestSteps()
}

// longestSteps leaves the longest steps, in order of time.
func (c *CriticalPath) longestSteps() {
	if len(c.Steps) > pathSteps {
		sorted := longest(c.Steps, pathSteps)
		c.StepsLeft = len(c.Steps) - pathSteps
		slices.SortStableFunc(sorted, func(a, b PathStep) int { return cmp.Compare(b.Seconds, a.Seconds) })
		slices.SortStableFunc(sorted, func(a, b PathStep) int { return cmp.Compare(a.FromS, b.FromS) })
		c.Steps = sorted
	}
	for i := range c.Steps {
		s := &c.Steps[i]
		s.FromS, s.ToS, s.Seconds = round(s.FromS), round(s.ToS), round(s.Seconds)
	}
}

// longest are so many of the steps that take longest, in their order; of equals the
// first. There may be very many.
func longest(steps []PathStep, many int) []PathStep {
	seconds := make([]float64, len(steps))
	for i := range steps {
		seconds[i] = steps[i].Seconds
	}
	slices.Sort(seconds)
	least := seconds[len(seconds)-many]
	above, _ := slices.BinarySearchFunc(seconds, least, func(s, least float64) int { return cmp.Or(cmp.Compare(s, least), -1) })
	equals := many - (len(seconds) - above)
	kept := make([]PathStep, 0, many)
	for _, s := range steps {
		switch {
		case s.Seconds > least:
			kept = append(kept, s)
		case s.Seconds == least && equals > 0:
			kept, equals = append(kept, s), equals-1
		}
	}
	return kept
}

// lines spreads the CPU time of each part on the path over its blocks, as its
// instructions are, and adds these up by line.
func (x *pathBuilder) lines(c *CriticalPath) {
	p := x.b.p
	blocks := make([]float64, len(p.Graph.Blocks))
	for _, of := range x.order {
		q := x.part(of)
		all := p.Instructions(q.Counts)
		if all == 0 {
			continue
		}
		instructions(p, q.Counts, float64(x.parts[of].busy)/float64(all), blocks)
	}
	for _, l := range x.b.byLine(blocks) {
		if l.weight < pathLine*float64(x.path.NS) || len(c.Lines) == pathLines {
			break
		}
		at := x.b.lineAt(l.block)
		c.Lines = append(c.Lines, PathLine{Location: &at, Seconds: l.weight})
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		l.Share, l.Seconds = round(l.Seconds/float64(x.path.NS)), round(l.Seconds/1e9)
	}
}

// waits are what is waited for on the path: of each part as much of each of its
// waits as of all.
func (x *pathBuilder) waits(c *CriticalPath) {
	var parts []profile.Part
	for _, of := range x.order {
		q, on := x.part(of), x.parts[of]
		all := q.WaitedNS()
		if on.waits == 0 || all == 0 {
			continue
		}
		share := min(1, float64(on.waits)/float64(all))
		y := profile.Part{Thread: q.Thread}
		for _, w := range q.Waits {
			w.NS = int64(share * float64(w.NS))
			y.Waits = append(y.Waits, w)
		}
		for _, w := range q.Wakes {
			w.NS = int64(share * float64(w.NS))
			y.Wakes = append(y.Wakes, w)
		}
		parts = append(parts, y)
	}
	var groups []*group
	for i := range parts {
		for _, w := range parts[i].Waits {
			x.b.group(&groups, w)
		}
	}
	for _, g := range groups {
		seen := map[profile.ThreadID]bool{}
		for i := range parts {
			if ns, n := g.of(&parts[i]); n > 0 {
				g.wait.Seconds += float64(ns) / 1e9
				seen[parts[i].Thread] = true
			}
		}
		g.wait.Threads = len(seen)
		if g.wait.Seconds < pathLine*float64(x.path.NS)/1e9 {
			continue
		}
		g.wait.Waker = x.b.waker(g, parts)
		g.wait.Seconds = round(g.wait.Seconds)
		c.Waits = append(c.Waits, g.wait)
	}
	slices.SortStableFunc(c.Waits, func(a, b Wait) int { return cmp.Compare(b.Seconds, a.Seconds) })
}

// handed counts where the path comes from a thread to the next by a wait.
func (x *pathBuilder) handed(c *CriticalPath) {
	for _, s := range x.path.Syncs {
		at := x.b.own(s.Site)
		k := slices.IndexFunc(c.Handed, func(h Handed) bool {
			return h.Kind == string(s.Kind) && (h.Location == nil) == (at == nil) && (at == nil || at.sameLine(h.Location.Place))
		})
		if k < 0 {
			k = len(c.Handed)
			c.Handed = append(c.Handed, Handed{Kind: string(s.Kind), Location: at})
		}
		c.Handed[k].Times++
	}
	slices.SortStableFunc(c.Handed, func(a, b Handed) int { return cmp.Compare(b.Times, a.Times) })
}
