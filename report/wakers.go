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
	threads map[profile.ThreadID]bool
}

// waker is the line that ended most of the waiting of a group; nil: unknown.
func (b *builder) waker(g *group, parts []profile.Part) *Waker {
	var lines []*by
	calls := map[profile.Addr]*by{} // there are few, which end very many waits
	for i := range parts {
		for _, k := range parts[i].Wakes {
			if !g.has(profile.Wait{Kind: k.Kind, Site: k.Site}) {
				continue
			}
			x, known := calls[k.By]
			if !known {
				if at := b.own(k.By); at != nil {
					x = lineOf(&lines, at)
				}
				calls[k.By] = x
			}
			if x != nil {
				x.ns += k.NS
				x.threads[k.Thread] = true
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
		for t := range most.threads {
			rank, id := b.rankOf(t)
			w.Rank, w.Thread = rank, &id
		}
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
	x := &by{at: at, threads: map[profile.ThreadID]bool{}}
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
