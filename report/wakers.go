package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
)

// leastWaker is the share of a wait from which a line is worth naming that ended it.
const leastWaker = 0.10

// by is what of a wait one line has ended.
type by struct {
	at      *Location
	ns      int64
	threads []profile.ThreadID
}

// waker is the line that ended most of the waiting of a group; nil: unknown.
func (b *builder) waker(g *group, parts []profile.Part) *Waker {
	var lines []*by
	for i := range parts {
		for _, k := range parts[i].Wakes {
			if at := b.own(k.By); at != nil && g.has(profile.Wait{Kind: k.Kind, Site: k.Site}) {
				x := lineOf(&lines, at)
				x.ns += k.NS
				if !slices.Contains(x.threads, k.Thread) {
					x.threads = append(x.threads, k.Thread)
				}
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	most := slices.MaxFunc(lines, func(x, y *by) int { return cmp.Compare(x.ns, y.ns) })
	w := &Waker{Location: most.at, Seconds: round(float64(most.ns) / 1e9), Threads: len(most.threads)}
	if w.Share = round(min(1, float64(most.ns)/1e9/g.wait.Seconds)); !(w.Share >= leastWaker) {
		return nil
	}
	if len(most.threads) == 1 {
		rank, id := b.rankOf(most.threads[0])
		w.Rank, w.Thread = rank, &id
	}
	return w
}

// lineOf finds what one line has ended, or makes it.
func lineOf(lines *[]*by, at *Location) *by {
	for _, x := range *lines {
		if x.at.sameLine(at.Place) {
			return x
		}
	}
	x := &by{at: at}
	*lines = append(*lines, x)
	return x
}

// Words say who ended a wait of a kind.
func (w *Waker) Words(kind string) string {
	who := units.Plural(w.Threads, "thread")
	if w.Thread != nil {
		who = threadOf(*w.Thread, w.Rank)
	}
	did, of := "ended by %s at %s", "it"
	if kind == string(profile.WaitLock) {
		did, of = "held by %s up to %s", "the time"
	}
	text := fmt.Sprintf(did, who, w.Location.Short())
	if w.Share < 0.995 {
		text += fmt.Sprintf(", %s of %s", units.Percent(w.Share), of)
	}
	return text
}
