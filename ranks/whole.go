package ranks

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// profile is the common one.
func (f *fill) profile() *profile.Profile {
	s := f.s
	lead := s.members[0]
	p := &profile.Profile{Program: lead.program, Run: lead.run, Graph: s.graph.g, Events: s.graph.events, Threads: f.threads, Locations: s.graph.allLocations()}
	end := s.startNS
	for _, m := range s.members {
		r := m.rank
		r.Main = m.base
		p.Ranks = append(p.Ranks, r)
		end = max(end, m.endNS())
		p.Coverage = more(p.Coverage, m.coverage)
		if p.Run.Signal == "" && m.run.Signal != "" {
			p.Run.Signal, p.Run.ExitCode = m.run.Signal, 0
		}
		if p.Run.Signal == "" && p.Run.ExitCode == 0 {
			p.Run.ExitCode = m.run.ExitCode
		}
	}
	p.Run.WallNS, p.Run.Cores, p.Run.Slowdown = end-s.startNS, 0, 0
	for k := range s.heads {
		if x, ok := f.section(int32(k)); ok {
			p.Sections = append(p.Sections, x)
		}
	}
	p.Warnings = slices.Concat(s.doubts, s.otherArguments(), s.ended(), s.alone(), s.warnings())
	return p
}

// more is the better of two coverages of the same code.
func more(a, b profile.Coverage) profile.Coverage {
	if b.Instructions > a.Instructions {
		return b
	}
	return a
}

// otherArguments says which ranks were started with others than the first.
func (s *survey) otherArguments() []profile.Warning {
	var other []int
	for _, m := range s.members[1:] {
		if !slices.Equal(m.program.Args, s.members[0].program.Args) {
			other = append(other, m.rank.Rank)
		}
	}
	if len(other) == 0 {
		return nil
	}
	return []profile.Warning{{Code: "other-arguments", Message: fmt.Sprintf("%s %s started with other arguments than rank %d: that may be why they differ", Listed(other), wasWere(len(other)), s.members[0].rank.Rank)}}
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// ended says which ranks did not end by themselves.
func (s *survey) ended() (list []profile.Warning) {
	by := map[string][]int{}
	var signals []string
	for _, m := range s.members {
		if m.run.Signal != "" {
			if by[m.run.Signal] == nil {
				signals = append(signals, m.run.Signal)
			}
			by[m.run.Signal] = append(by[m.run.Signal], m.rank.Rank)
		}
	}
	for _, sig := range signals {
		list = append(list, profile.Warning{Code: "ended-ranks", Message: fmt.Sprintf("%s %s ended by %s: what is compared is what happened before", Listed(by[sig]), wasWere(len(by[sig])), sig)})
	}
	return list
}

// alone is the doubt where no rank has met another one.
func (s *survey) alone() []profile.Warning {
	for _, c := range s.calls {
		if len(c.come) > 1 {
			return nil
		}
	}
	if len(s.members) == 1 {
		return []profile.Warning{{Code: "one-rank", Message: "there is one rank alone: nothing to compare it with"}}
	}
	return []profile.Warning{{Code: "no-meeting-ranks", Message: "no collective call of MPI was seen: ranks are not compared with each other"}}
}

// notOfOne are the codes of warnings that are of one rank by itself, and do not matter
// where there are more.
var notOfOne = []string{"one-thread", "no-sections", "crashed", "ended-by-signal"}

// warnings are those of the ranks' own profiles: each once, with the ranks that have it.
func (s *survey) warnings() (list []profile.Warning) {
	type said struct {
		w     profile.Warning
		ranks []int
	}
	var all []*said
	at := map[profile.Warning]*said{}
	for _, m := range s.members {
		for _, w := range m.warnings {
			if slices.Contains(notOfOne, w.Code) {
				continue
			}
			if at[w] == nil {
				at[w] = &said{w: w}
				all = append(all, at[w])
			}
			at[w].ranks = append(at[w].ranks, m.rank.Rank)
		}
	}
	slices.SortStableFunc(all, func(a, b *said) int { return cmp.Compare(len(b.ranks), len(a.ranks)) })
	for _, x := range all {
		if len(x.ranks) < len(s.members) {
			x.w.Message = Listed(x.ranks) + ": " + x.w.Message
		}
		list = append(list, x.w)
	}
	const most = 24 // of a thousand ranks each may have its own
	if n := len(list) - most; n > 0 {
		list = append(list[:most], profile.Warning{Code: "more-warnings", Message: fmt.Sprintf("%s of single ranks are not shown", plural(n, "more warning"))})
	}
	return list
}
