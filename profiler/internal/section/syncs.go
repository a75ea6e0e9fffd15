package section

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// maxSyncs is how many waits of a run are kept one by one; later ones are only
// added up. Of a part that is under way a sixteenth.
const maxSyncs = 1 << 17

// synced is a wait that another thread has ended, and when that called what did.
type synced struct {
	kind               profile.WaitKind
	site               profile.Addr
	begin, end, ending uint64
	by                 profile.ThreadID
}

// oneByOne are the waits from a moment to another of which it is known who ended
// them, in order of time.
func oneByOne(ws []wait, begin, before uint64) (list []synced) {
	for i := range ws {
		w := &ws[i]
		for _, s := range w.syncs {
			if s.begin >= begin && s.begin < before {
				list = append(list, s)
			}
		}
		if w.begin >= begin && w.begin < before && w.on.endedBy() != nil {
			list = append(list, synced{w.Kind, w.Site, w.begin, w.end, w.on.ending, w.on.by})
		}
	}
	slices.SortStableFunc(list, func(x, y synced) int { return cmp.Compare(x.begin, y.begin) })
	return list
}

// syncs are the waits of an arrival's part that others have ended.
func (c *collector) syncs(a *arrival) (list []profile.Sync) {
	for _, s := range oneByOne(a.waits, a.beginTSC, a.tsc) {
		if c.synced++; c.synced > maxSyncs {
			break
		}
		x := profile.Sync{Kind: s.kind, Site: s.site, BeginNS: c.sinceStart(s.begin), EndNS: c.sinceStart(s.end), Thread: s.by}
		x.WakeNS = min(x.EndNS, c.sinceStart(max(c.c.BeginTSC, s.ending)))
		list = append(list, x)
	}
	return list
}
