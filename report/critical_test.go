package report

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report/internal/reporttest"
)

func forked(t *testing.T, opt Options, change func(*profile.Profile)) *Report {
	t.Helper()
	p, analyse := reporttest.Forked()
	change(p)
	opt.Analyse = analyse
	r, err := New(p, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func codesOf(ws []Warning) (list []string) {
	for _, w := range ws {
		list = append(list, w.Code)
	}
	return list
}

// TestCriticalPathAddsUp: the path is what its sections and what is outside of them
// take, no longer than the run, and balancing the only cause shortens it by what
// the longest part has to spare.
func TestCriticalPathAddsUp(t *testing.T) {
	r := forked(t, Options{}, func(*profile.Profile) {})
	c := r.CriticalPath
	sum := c.OutsideS
	for i := range r.Sections {
		sum += r.Sections[i].OnPath.Seconds
	}
	if math.Abs(sum-c.Seconds) > 1e-5 || c.Seconds > *r.Run.WallS || c.BusyS > c.Seconds || !slices.Equal(codesOf(c.Warnings), []string{"path-syncs"}) {
		t.Errorf("sum %v of path %+v", sum, c)
	}
	if len(c.WhatIf) != 1 || c.WhatIf[0].SavedS <= 0 || c.WhatIf[0].Section != "owner.c:36" || math.Abs(c.Seconds-c.WhatIf[0].Seconds-c.WhatIf[0].SavedS) > 1e-5 {
		t.Errorf("what-if %+v", c.WhatIf)
	}
	if at := c.Steps[len(c.Steps)-1].ToS; at > *r.Run.WallS || len(c.Track) == 0 {
		t.Errorf("steps %+v, track %+v", c.Steps, c.Track)
	}
}

// TestLinesSlack: a line that the longest parts come to has none; one that only a shorter
// part comes to may take longer by what that has to spare.
func TestLinesSlack(t *testing.T) {
	r := forked(t, Options{}, func(p *profile.Profile) {
		block := p.Graph.Blocks[0]
		block.Start, block.Last, block.End, block.Count = 0x1500, 0x1500, 0x1501, profile.EventID(len(p.Events))
		p.Graph.Blocks = append(p.Graph.Blocks, block)
		p.Graph.Functions[0].N++
		p.Events = append(p.Events, profile.Event{Kind: profile.BlockEntered, Edge: -1, Addr: 0x1500, Superior: profile.NoEvent, Block: profile.BlockID(len(p.Graph.Blocks) - 1)})
		q := &p.Sections[1].Instances[0].Parts[0] // it does least
		q.Counts.Event, q.Counts.N = append(q.Counts.Event, profile.EventID(len(p.Events)-1)), append(q.Counts.N, q.Counts.N[0])
		p.Threads[0].Totals = profile.Counts{}
		p.Locations = append(p.Locations, reporttest.At(0x1500, "/src/owner.c", 99, 1, "work"))
	})
	c := r.CriticalPath
	if c == nil || len(c.Slack) != 1 || c.Slack[0].Location.Line != 99 || c.Slack[0].SlackS <= 0.01 || c.Slack[0].WorkS <= 0 {
		t.Errorf("%+v", c)
	}
	if c := forked(t, Options{}, func(*profile.Profile) {}).CriticalPath; len(c.Slack) != 0 {
		t.Errorf("all lines are on the path: %+v", c.Slack)
	}
}

// TestNoCriticalPath: where the profile does not say what it takes there is none.
func TestNoCriticalPath(t *testing.T) {
	for name, change := range map[string]func(*profile.Profile){
		"one thread": func(p *profile.Profile) { p.Threads, p.Sections, p.Events[1].Writer = p.Threads[:1], nil, 0 },
		"no creators": func(p *profile.Profile) {
			for i := range p.Threads {
				p.Threads[i].Creator, p.Threads[i].Joiner, p.Threads[i].JoinedNS = 0, 0, 0
			}
		},
		"no times": func(p *profile.Profile) { p.Sections[0].Instances[0].Parts[0].ArriveNS = 0 },
		"no work": func(p *profile.Profile) {
			p.Sections = nil
			for i := range p.Threads {
				p.Threads[i].CPUNS = 0
			}
		},
	} {
		if r := forked(t, Options{}, change); r.CriticalPath != nil {
			t.Errorf("%s: %+v", name, r.CriticalPath)
		}
	}
}

// TestDoubtsOfThePath: what is not known of it is said.
func TestDoubtsOfThePath(t *testing.T) {
	for code, change := range map[string]func(*profile.Profile){
		"path-of-the-end": func(p *profile.Profile) {
			s := &p.Sections[0]
			folded := profile.Instance{Folded: 2}
			for i, q := range s.Instances[0].Parts {
				q.Thread, q.BeginNS, q.ArriveNS = profile.ThreadID(i), 0, 0
				folded.Parts = append(folded.Parts, q)
			}
			s.Totals = slices.Clone(folded.Parts)
			s.Instances = append([]profile.Instance{folded}, s.Instances...)
			p.Threads[0].CPUNS += 1e9
		},
		"path-waits": func(p *profile.Profile) {
			p.Run.Cores = 2
			p.Sections[1].Instances[0].Parts[2].Syncs = nil
		},
		"path-untimed": func(p *profile.Profile) {
			q := &p.Sections[1].Instances[0].Parts[2]
			q.Timed, q.BusyNS = false, 0
		},
		"path-spinning": func(p *profile.Profile) { p.Threads[1].CPUNS *= 3 },
		"path-syncs": func(p *profile.Profile) {
			s := &p.Sections[1].Instances[0].Parts[2].Syncs[0]
			s.Kind, s.EndNS = profile.WaitCondition, 60e6
		},
		"path-locks": func(p *profile.Profile) {
			q := &p.Sections[1].Instances[0].Parts[2]
			q.BusyNS -= 150e6
			p.Threads[2].CPUNS -= 150e6
			q.Waits = []profile.Wait{{Kind: profile.WaitLock, Site: 0x1100, NS: 150e6, N: 1}}
			q.Syncs = []profile.Sync{{Kind: profile.WaitLock, Site: 0x1100, BeginNS: 200e6, EndNS: 350e6, Thread: 1, WakeNS: 210e6}}
		},
		"path-meetings": func(p *profile.Profile) {
			s := &p.Sections[0]
			s.Kind, s.Site = profile.Threads, 0
		},
		"path-roots": func(p *profile.Profile) {
			p.Threads[3].Creator, p.Threads[3].Joiner, p.Threads[3].JoinedNS = 0, 0, 0
		},
	} {
		r := forked(t, Options{}, change)
		if r.CriticalPath == nil || !slices.Contains(codesOf(r.CriticalPath.Warnings), code) {
			t.Errorf("%s: %+v", code, r.CriticalPath)
		}
	}
}

// TestRatesOfResponses: what moves is turned into time where its unit is known.
func TestRatesOfResponses(t *testing.T) {
	p, _ := reporttest.Forked()
	for response, known := range map[profile.Response]bool{profile.Instructions: true, profile.BusyTime: true, profile.ModelCycles: true, profile.HardwareCycle: false} {
		x := pathBuilder{b: &builder{p: p, opt: Options{Lime: lime.Options{Response: response}}}}
		rates := x.rates(1)
		if (rates != nil) != known || known && (rates[0] < .8 || rates[0] > 1) {
			t.Errorf("%s: %v", response, rates)
		}
	}
}

// TestManySteps: the longest are listed, in order of time, and how many are not.
func TestManySteps(t *testing.T) {
	c := &CriticalPath{}
	for i := range 1000 {
		c.Steps = append(c.Steps, PathStep{FromS: float64(i), ToS: float64(i + 1), Seconds: float64(i % 10)})
	}
	c.longestSteps()
	if len(c.Steps) != pathSteps || c.StepsLeft != 1000-pathSteps || c.Steps[0].Seconds < 7 ||
		!slices.IsSortedFunc(c.Steps, func(a, b PathStep) int { return int(a.FromS - b.FromS) }) {
		t.Errorf("%d steps, %d left, the first %+v", len(c.Steps), c.StepsLeft, c.Steps[0])
	}
}

// TestLongest: the longest steps are those that sorting all would leave.
func TestLongest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		steps := make([]PathStep, 5+rng.IntN(40))
		for i := range steps {
			steps[i] = PathStep{Thread: i, Seconds: float64(rng.IntN(8))}
		}
		sorted := slices.Clone(steps)
		slices.SortStableFunc(sorted, func(a, b PathStep) int { return cmp.Compare(b.Seconds, a.Seconds) })
		many := 1 + rng.IntN(len(steps))
		want := sorted[:many]
		slices.SortFunc(want, func(a, b PathStep) int { return cmp.Compare(a.Thread, b.Thread) })
		if got := longest(steps, many); !reflect.DeepEqual(got, want) {
			t.Fatalf("of %v the %d longest: %v, want %v", steps, many, got, want)
		}
	}
}
