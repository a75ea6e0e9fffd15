package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
)

// What the threads of a section waited for (rule 18): at its end for the last
// one to arrive, and on the way there for locks, time, files.

// A wait is a cause where it explains so much of all waiting, and waiting by
// it is so much of the threads' time.
const (
	waitShare = 0.10
	waitTime  = 0.05
)

// littleFault is the part of the threads' time that page faults at one line must
// take to be shown: each thread's stack, at least, has pages to be touched first.
const littleFault = 0.001

// AtEnd is the kind of the wait for the last one at a section's end.
func AtEnd(k profile.SectionKind) profile.WaitKind {
	switch k {
	case profile.Barrier, profile.OpenMP, profile.MPI:
		return profile.WaitBarrier
	}
	return profile.WaitJoin
}

// group is the waits of one kind at one line.
type group struct {
	wait  Wait
	sites []profile.Addr
	kind  profile.WaitKind
}

func (g *group) has(w profile.Wait) bool { return w.Kind == g.kind && slices.Contains(g.sites, w.Site) }

// of is how long a part waited, how often.
func (g *group) of(q *profile.Part) (ns int64, n int) {
	for _, w := range q.Waits {
		if g.has(w) {
			ns, n = ns+w.NS, n+w.N
		}
	}
	return ns, n
}

// waits fills in what the section's threads waited for, and the causes that
// are waits; slots and parts are its sums by slot and by thread.
func (b *builder) waits(out *Section, s *profile.Section, slots, parts []profile.Part) {
	var groups []*group
	for i := range parts {
		for _, w := range parts[i].Waits {
			b.group(&groups, w)
		}
	}
	for _, g := range groups {
		for i := range parts {
			if ns, n := g.of(&parts[i]); n > 0 {
				g.wait.Seconds += float64(ns) / 1e9
				g.wait.Threads++
			}
		}
		g.wait.Waker, g.wait.Partner = b.waker(g, parts), b.partner(g, s)
		g.wait.Seconds = round(g.wait.Seconds)
		out.Waits = append(out.Waits, g.wait)
	}
	if out.IdleS != nil && *out.IdleS > 0 {
		end := Wait{Kind: string(AtEnd(s.Kind)), Location: out.Location, Seconds: *out.IdleS}
		for _, t := range out.Threads {
			if t.WaitS != nil && *t.WaitS > 0 {
				end.Threads++
			}
		}
		out.Waits = append(out.Waits, end)
	}
	little := littleFault * out.ThreadTime()
	out.Waits = slices.DeleteFunc(out.Waits, func(w Wait) bool { return w.Kind == string(profile.WaitFault) && w.Seconds < little })
	slices.SortStableFunc(out.Waits, func(x, y Wait) int { return cmp.Compare(y.Seconds, x.Seconds) })
	for _, g := range groups {
		if c, ok := g.cause(out, s, slots); ok && !faultsOf(out.Causes, &c) {
			out.Causes = append(out.Causes, c)
		}
	}
	for i := range out.Causes {
		out.Causes[i].Rank = i + 1
	}
}

// faultsOf reports whether the page faults that were waited for are a cause already,
// since there they cost a thread work.
func faultsOf(causes []Cause, c *Cause) bool {
	return c.Kind == string(profile.WaitFault) && slices.ContainsFunc(causes, func(x Cause) bool {
		return x.Kind == "page-fault" && x.Location.sameLine(c.Location.Place)
	})
}

// group finds the group of a wait, or makes it.
func (b *builder) group(groups *[]*group, w profile.Wait) {
	at := b.own(w.Site)
	for _, g := range *groups {
		if g.kind != w.Kind || (g.wait.Location == nil) != (at == nil) || at != nil && !at.sameLine(g.wait.Location.Place) {
			continue
		}
		if !slices.Contains(g.sites, w.Site) {
			g.sites = append(g.sites, w.Site)
		}
		return
	}
	*groups = append(*groups, &group{Wait{Kind: string(w.Kind), Location: at}, []profile.Addr{w.Site}, w.Kind})
}

// Own is the innermost place of an address in the user's own code; nil: none is known.
func Own(p *profile.Profile, a profile.Addr) *Location {
	if a == 0 {
		return nil
	}
	l, _ := p.Location(a)
	own, _ := l.Own()
	at := located(p, own)
	return &at
}

func (b *builder) own(a profile.Addr) *Location { return Own(b.p, a) }

// sameLine: places without lines are told apart by their addresses.
func (p Place) sameLine(q Place) bool {
	if p.Known() != q.Known() || !p.Known() {
		return p.Address == q.Address
	}
	return p.File == q.File && p.Line == q.Line
}

// cause is the group as a cause of the section's waiting: how much of it there
// would not be if no thread had waited here, with all else as it was.
func (g *group) cause(out *Section, s *profile.Section, slots []profile.Part) (c Cause, ok bool) {
	switch g.kind {
	case profile.WaitLock, profile.WaitSleep, profile.WaitIO, profile.WaitFault, profile.WaitMessage:
	default:
		return c, false
	}
	if g.wait.Location == nil || out.TimeS == nil || out.IdleS == nil {
		return c, false
	}
	saved, gone := int64(0), int64(0) // of the span; of the waiting
	for i := range s.Instances {
		// A part that waited w here and a at the end would arrive w earlier: the
		// last of them by the least a + w, and so much less would each have waited.
		least := int64(0)
		parts := s.Instances[i].Parts
		for k := range parts {
			ns, _ := g.of(&parts[k])
			if early := parts[k].WaitNS + ns; k == 0 || early < least {
				least = early
			}
		}
		saved, gone = saved+least, gone+least*int64(len(parts))
	}
	all := out.Waited()
	vanishes := float64(gone) / 1e9
	if all <= 0 || vanishes < waitShare*all || vanishes < waitTime*out.ThreadTime() {
		return c, false
	}
	fraction := float64(saved) / 1e9 / *out.TimeS
	c = Cause{Kind: g.wait.Kind, Share: round(min(1, vanishes/all)), Gain: gain(min(1, fraction), math.NaN(), out.TimeS), Location: g.wait.Location, Waker: g.wait.Waker,
		Counts: g.counts(slots), Members: []Member{}}
	c.Message = g.message(out, &c)
	return c, true
}

// counts is how often each thread waited, in the order of the section's slots.
func (g *group) counts(slots []profile.Part) []uint64 {
	counts := []uint64{}
	for i := range slots {
		_, n := g.of(&slots[i])
		counts = append(counts, uint64(n))
	}
	return counts
}

var waitWords = map[profile.WaitKind]string{
	profile.WaitLock:  "waited for this lock",
	profile.WaitSleep: "slept here",
	profile.WaitIO:    "waited for input or output here",
	profile.WaitFault: "waited for memory here",

	profile.WaitMessage: "waited for another rank here",
}

// message is a cause that is a wait, in one sentence.
func (g *group) message(out *Section, c *Cause) string {
	who := ""
	if g.wait.Threads == 1 {
		for i, n := range c.Counts {
			if n > 0 {
				who = out.Threads[i].Name()
			}
		}
	}
	if who == "" {
		who = units.Plural(g.wait.Threads, "thread")
	}
	text := fmt.Sprintf("%s %s, %s in all: %s of this section's waiting comes from it", who, waitWords[g.kind], units.Seconds(g.wait.Seconds), units.Percent(c.Share))
	if k := g.wait.Waker; k != nil {
		text += "; " + k.Words(g.wait.Kind)
	}
	if k := g.wait.Partner; k != nil {
		text += "; " + k.Words()
	}
	if c.Gain != nil && c.Gain.Seconds != nil && c.Gain.Fraction >= 0.005 {
		text += fmt.Sprintf("; without it the section would take up to %s of %s less", units.SecondsOf(*c.Gain.Seconds, *out.TimeS), units.SecondsOf(*out.TimeS, *out.TimeS))
	}
	return text
}

// Waited is how many seconds the section's threads waited, all together.
func (s *Section) Waited() (sum float64) {
	for _, w := range s.Waits {
		sum += w.Seconds
	}
	return sum
}

// ThreadTime is how many seconds the section's threads worked and waited.
func (s *Section) ThreadTime() float64 {
	sum := s.Waited()
	for _, t := range s.Threads {
		if t.BusyS != nil {
			sum += *t.BusyS
		}
	}
	return sum
}

// waiting reports whether waits are what there is to say about the section.
func (s *Section) waiting() bool {
	return len(s.Causes) > 0 && s.Causes[0].Leader == "" && waitWords[profile.WaitKind(s.Causes[0].Kind)] != ""
}
