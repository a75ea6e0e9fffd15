package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// A thread that writes the log, keeps the time or waits for signals is created before
// those that share the work, and goes on when they are joined:
//
//	creator  creates ─ creates ─ joins ──▷ creates ─ joins ──▷ …
//	logger     └──────────────────────────────────────────────▷
//	workers              └─ work, end         └─ work, end
//
// So those that were joined are an instance by themselves where the creator goes on to
// create others, where the run ends, or where it joins one that began elsewhere.

// joinedOf are the workers of a group that were joined and have ended, and the rest.
// That can only be told where it is known who was joined.
func (g *group) joinedOf() (joined, rest []*thread) {
	for _, w := range g.workers {
		if w.called && !w.alive {
			joined = append(joined, w)
		} else {
			rest = append(rest, w)
		}
	}
	return joined, rest
}

// olderRest reports whether some of a group were joined, and all others were created
// before them: where threads are joined and created by turns, the others came later.
// Beside one that was joined there is one other: several may be what it is all about,
// and be waited for otherwise.
func (g *group) olderRest() bool {
	if g.joined == 0 || g.first == nil || len(g.workers) < g.created {
		return false
	}
	if last := g.workers[len(g.workers)-1]; !last.called || last.alive {
		return false // which by turns is so for very many
	}
	joined, rest := g.joinedOf()
	return len(rest) > 0 && (len(joined) > 1 || len(joined) == len(rest)) && slices.Equal(g.workers[:len(rest)], rest)
}

// another reports whether a worker that is joined now, at a site, is none of those that
// were before: it is older, or alone, and was created and is joined elsewhere than they
// all were.
func (j *joinRule) another(g *group, w *thread, at callSite) bool {
	if g.first == nil || len(g.workers) < g.created || j.line(at) == j.line(callSite{g.first.site, g.first.chain}) {
		return false
	}
	joined, rest := g.joinedOf()
	if !g.olderRest() && len(rest) > 1 {
		return false
	}
	return len(joined) > 1 && !j.kin(w, joined[0]) && !slices.ContainsFunc(joined, func(x *thread) bool { return !j.kin(x, joined[0]) })
}

// kin are threads that were created at one line to run one function. Of a language's
// library, behind which unoptimised code keeps more than is known of the calls, that is
// one line for all: there those are that came by the same calls.
func (j *joinRule) kin(x, y *thread) bool {
	if x.start != y.start || j.line(x.made) != j.line(y.made) {
		return false
	}
	known := j.t.out.spots(&arrival{site: x.made.site, chain: x.made.chain})[0].function != ""
	return known || slices.Equal(x.made.chain, y.made.chain)
}

// callSite is a call, and the calls that led to it, as far as they are known.
type callSite struct {
	site  profile.Addr
	chain []uint64
}

// line is that of a call in the user's own code.
func (j *joinRule) line(w callSite) string {
	return j.t.out.spots(&arrival{site: w.site, chain: w.chain})[0].line
}

// Apart reports whether threads were joined beside which others go on: who is joined
// has to be known of each from then on.
func (t *Tracker) Apart() bool { return t.joins != nil && t.joins.apart }

// setApart makes an instance of those of a group that were joined, if there are others,
// which stay.
func (j *joinRule) setApart(g *group) {
	joined, rest := g.joinedOf()
	if g.joined == 0 || g.first == nil || len(joined) == 0 || len(rest) == 0 || len(g.workers) < g.created {
		return
	}
	apart := &group{creator: g.creator, created: len(joined), workers: joined, joined: len(joined), first: g.first, last: g.last, before: g.before, after: g.after, met: g.met, inside: g.inside}
	over := g.last.tsc
	ended := map[*thread]bool{}
	for _, w := range joined {
		ended[w] = true
	}
	of := func(a arrival) bool { return ended[a.t] }
	for _, a := range g.dead {
		if of(a) {
			apart.dead = append(apart.dead, a)
			over = max(over, a.tsc)
		}
	}
	for _, w := range joined {
		j.of[w] = apart
		if f, ok := g.forks[w]; ok {
			if apart.forks == nil {
				apart.forks = map[*thread]*fork{}
			}
			apart.forks[w] = f
			delete(g.forks, w)
		}
	}
	g.dead = slices.DeleteFunc(g.dead, of)
	g.workers, g.created, g.elders = rest, len(rest), len(rest)
	g.joined, g.first, g.last, g.before, g.after = 0, nil, moment{}, nil, nil
	g.generations = slices.DeleteFunc(g.generations, func(y generation) bool { return y.workers > len(rest) })
	j.apart = true
	apart.creator.joins(joined, apart.last, over)
	j.file(apart)
}
