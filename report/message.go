package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
)

// message is a cause in one sentence: how much, what differs between which
// threads, and what balancing it is worth.
func message(s *Section, c *Cause) string {
	where := "here"
	if c.Within != nil {
		where = fmt.Sprintf("in what is called here (%s, %s)", c.Within.Function, c.Within.Short())
	}
	parts := []string{fmt.Sprintf("%s of this section's imbalance starts %s: %s", units.Percent(c.Share), where, difference(s, c))}
	for _, more := range []string{because(c), erased(c), worth(s, c)} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	return strings.Join(parts, "; ")
}

// difference says in words what the counts show.
func difference(s *Section, c *Cause) string {
	if c.Leader == "start" {
		return beginners(s, c)
	}
	if len(c.Counts) == 0 || len(c.Counts) != len(s.Threads) {
		return "the threads differ in how often it happens"
	}
	low, high, takers := 0, 0, 0
	for i, n := range c.Counts {
		if n < c.Counts[low] {
			low = i
		}
		if n > c.Counts[high] {
			high = i
		}
		if n > 0 {
			takers++
		}
	}
	act, object := verb(c)
	most, least := c.Counts[high], c.Counts[low]
	if changing(s, most, least) {
		return fmt.Sprintf("which thread %s%s most often changes from instance to instance", act, object)
	}
	if takers == 1 && len(c.Counts) > 1 {
		return fmt.Sprintf("only %s %s%s (%s)", s.Threads[high].Name(), act, object, times(most))
	}
	if most == least {
		return fmt.Sprintf("every thread %s%s %s, but not with the same work", act, object, times(most))
	}
	return fmt.Sprintf("%s %s%s %s, %s %s", s.Threads[high].Name(), act, object, times(most), s.Threads[low].Name(), times(least))
}

// changing: the threads differ in each instance, but not in the sum, so to name
// two of them would mislead.
func changing(s *Section, most, least uint64) bool {
	if s.Instances < 2 || s.Imbalance == nil || most == 0 {
		return false
	}
	return float64(most-least)/float64(most) < 0.25**s.Imbalance
}

func verb(c *Cause) (act, object string) {
	this, here := "this", "here"
	if c.Within != nil {
		this, here = "its", "there"
	}
	switch c.Leader {
	case "loop":
		return "goes round", " " + this + " loop"
	case "recursion":
		return "recurses", " " + here
	case "branch":
		return "takes", " " + this + " branch"
	}
	if c.Level != "" {
		return "misses", " its caches here"
	}
	return "has", " a " + strings.ReplaceAll(c.Kind, "-", " ") + " here"
}

// because says why caches missed, in the level and in the way that cost most; ""
// where it is not known, or no cache is meant.
func because(c *Cause) string {
	why := ""
	switch {
	case c.Miss == "cold":
		why = "lines are touched for the first time"
	case c.Miss == "capacity":
		why = "there is no room for all that it comes back to"
	case c.Miss == "conflict":
		why = "lines push each other out of the same sets"
	case c.Sharing == "true":
		why = "another thread has written what is read" + c.Partner.words()
	case c.Sharing == "false":
		why = "another thread writes beside it in the same lines" + c.Partner.words() + ", how often depends on how threads alternate"
	case c.Miss == "coherence":
		why = "another thread had copies of the lines that are written"
	default:
		return ""
	}
	return fmt.Sprintf("most of it in the %s, where %s", strings.ToUpper(strings.TrimSuffix(c.Level, "d")), why)
}

// erased says what would be left without the misses.
func erased(c *Cause) string {
	if c.Erased == nil || *c.Erased <= 0 {
		return ""
	}
	return fmt.Sprintf("if they took no time, %s of the imbalance would be gone", units.Percent(*c.Erased))
}

// words says who takes a line away.
func (p *Partner) words() string {
	if p == nil {
		return ""
	}
	by := "writes at " + p.Short() + " take them away"
	if p.Thread != nil {
		by = fmt.Sprintf("writes by thread %d at %s take them away", *p.Thread, p.Short())
	}
	return " (" + by + ")"
}

// beginners says which threads began the section at the heavy code.
func beginners(s *Section, c *Cause) string {
	ids, named := []string{}, true
	if len(c.Counts) == len(s.Threads) {
		for i, n := range c.Counts {
			if t := s.Threads[i]; n > 0 && (t.ID != nil || t.Rank != nil) {
				ids = append(ids, t.Number())
			} else if n > 0 {
				ids, named = append(ids, units.Ordinal(t.Slot)), false
			}
		}
	}
	what := "begin the section here and do more than the others"
	if f := c.Location.Function; f != "" {
		what = "begin in " + f + " and do more than the others"
	}
	switch n := len(ids); {
	case n == 0 || n == len(s.Threads):
		return "threads begin at different code, and this one is more work"
	case n == 1:
		one := "thread " + ids[0]
		if !named {
			one = "the " + ids[0] + " thread of each round"
		}
		return one + " " + strings.Replace(strings.Replace(what, "begin", "begins", 1), " do ", " does ", 1)
	case n <= 6 && !named:
		return fmt.Sprintf("the %s of each round's threads %s", listed(ids), what)
	case n <= 6:
		return "threads " + listed(ids) + " " + what
	}
	return fmt.Sprintf("%d of %d threads %s", len(ids), len(s.Threads), what)
}

func listed(names []string) string {
	n := len(names)
	if n == 1 {
		return names[0]
	}
	return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
}

// Name is "thread 3", or where several threads had the slot "the 3rd thread of
// each round".
func (t *Thread) Name() string {
	switch {
	case t.ID != nil && t.Rank != nil:
		return fmt.Sprintf("thread %d of rank %d", *t.ID, *t.Rank)
	case t.ID != nil:
		return fmt.Sprintf("thread %d", *t.ID)
	case t.Rank != nil:
		return fmt.Sprintf("rank %d", *t.Rank)
	case t.eachRank:
		return fmt.Sprintf("the %s thread of each rank", units.Ordinal(t.Slot))
	}
	return fmt.Sprintf("the %s thread of each round", units.Ordinal(t.Slot))
}

// Number is a thread's id, that of a rank, "2.3" for thread 3 of rank 2, or "#3" for the slot of several.
func (t *Thread) Number() string {
	switch {
	case t.ID != nil && t.Rank != nil:
		return fmt.Sprintf("%d.%d", *t.Rank, *t.ID)
	case t.ID != nil:
		return strconv.Itoa(*t.ID)
	case t.Rank != nil:
		return strconv.Itoa(*t.Rank)
	}
	return "#" + strconv.Itoa(t.Slot)
}

// worth says what balancing saves. Work that cannot be distributed otherwise (one
// huge task) saves nothing by being given to another thread: that is a
// different piece of advice.
func worth(s *Section, c *Cause) string {
	g := c.Gain
	if g == nil {
		return ""
	}
	if g.Fraction < 0.005 {
		return "balancing it alone would not shorten the section"
	}
	saves := units.Percent(g.Fraction) + " of the section"
	if g.Seconds != nil && s.TimeS != nil {
		saves = units.SecondsOf(*g.Seconds, *s.TimeS) + " of " + units.SecondsOf(*s.TimeS, *s.TimeS)
	}
	switch {
	case c.Indivisible() && c.shared():
		return "whole units of it are dealt out as evenly as they can be: smaller ones would save up to " + saves
	case c.Indivisible():
		return "it is one piece of work on one thread: split it or overlap it, which saves up to " + saves
	}
	return "balancing it saves up to " + saves
}

// Indivisible reports whether distributing the same work differently saves next to
// nothing although balancing it would: it is one piece.
func (c *Cause) Indivisible() bool {
	g := c.Gain
	return g != nil && g.WholeUnits != nil && g.Fraction >= 0.01 && *g.WholeUnits < 0.1*g.Fraction
}

// shared reports whether every thread has a part of it that is not small.
func (c *Cause) shared() bool {
	return len(c.Counts) > 0 && slices.Min(c.Counts) >= (slices.Max(c.Counts)+1)/2
}

func times(n uint64) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return units.Count(n) + "×"
}
