package section

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// takeBack drops sections that turn out to be none. What threads did in them is
// of whatever they do now, or its join would miss most of their work: unless they
// have met elsewhere since, or what they did then is one sum by now.
func (t *Tracker) takeBack(filed map[*open]bool) {
	t.out.drop(filed)
	since := map[profile.ThreadID]int64{}
	for _, o := range t.out.order {
		if len(o.folded) > 0 {
			return
		}
		o.eachPart(func(p *part) { since[p.Thread] = max(since[p.Thread], p.ArriveNS) })
	}
	var parts []*part
	for o := range filed {
		if len(o.folded) > 0 {
			return
		}
		o.eachPart(func(p *part) {
			x := t.threads[p.Thread]
			still := len(x.acc) > 0 && t.out.sinceStart(x.beginTSC) <= p.BeginNS // of what it does now: it has not gone on yet
			if x.alive && !still && p.BeginNS >= since[p.Thread] && len(p.delta) > 0 {
				parts = append(parts, p)
			}
		})
	}
	slices.SortFunc(parts, func(p, q *part) int { return cmp.Compare(p.BeginNS, q.BeginNS) })
	for _, p := range parts {
		x := t.threads[p.Thread]
		a := arrival{t: x, delta: p.delta, begin: p.Begin, beginTSC: t.out.momentOf(p.BeginNS), busyNS: p.BusyNS, timed: p.Timed}.after(x.before)
		x.before = &a
	}
}

func (o *open) eachPart(do func(*part)) {
	for i := range o.instances {
		for k := range o.instances[i].parts {
			do(&o.instances[i].parts[k])
		}
	}
}
