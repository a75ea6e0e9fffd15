package native

import (
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// gates knows the regions in which threads may meet, by number: where the user
// sees them, and whether records of them are still wanted.
type gates struct {
	in     *injection
	calls  *calls
	lines  backend.Lines
	all    []placed // by gate
	family []uint64 // by gate: the first one of the same line, the number that the rules know it by
	ups    map[profile.Addr]int
	tries  map[uint64]int    // by family
	state  map[uint64]uint32 // likewise, once decided: the records that its gates may make
}

// forEver is more records than any run makes.
const forEver = 1<<31 - 1

func newGates(in *injection, lines backend.Lines) *gates {
	return &gates{in: in, lines: lines, ups: map[profile.Addr]int{}, tries: map[uint64]int{}, state: map[uint64]uint32{}}
}

// placed is a region and the module that it is in.
type placed struct {
	*cfg.Region
	m *module
}

// site is the region's in the profile.
func (r placed) site() profile.Addr { return profile.Addr(r.Site + r.m.base) }

// regions are all modules', by number.
func (gs *gates) regions() []placed {
	if gs.all == nil {
		for _, m := range gs.in.modules {
			list := m.spec.Program.Regions
			for i := range list {
				gs.all = append(gs.all, placed{&list[i], m})
			}
		}
	}
	return gs.all
}

// n is how many gates threads have.
func (gs *gates) n() int { return min(len(gs.regions()), threadarea.MaxGates) }

// passed completes the record of a gate.
func (gs *gates) passed(rec *record.Record) {
	n := rec.Arg3
	if n >= uint64(len(gs.regions())) {
		return
	}
	r := gs.all[n]
	switch {
	case r.Idle:
		gs.idle(rec, r)
		return
	case r.Site == 0:
		rec.Site = uint64(gs.calls.at(rec.Site).addr)
	default:
		rec.Site = uint64(r.site())
	}
	rec.Arg3 = gs.familyOf(n)
}

// idle completes the record of an idle gate: the innermost call that led there
// is that of a function that does more than wait.
func (gs *gates) idle(rec *record.Record, r placed) {
	rec.Site = uint64(r.site())
	if rec.Stack == nil {
		return
	}
	rec.Stack.SP += relocate.BelowGate
	rec.Stack.Words = rec.Stack.Words[min(relocate.BelowGate, len(rec.Stack.Words)):]
	calls := gs.calls.led(r.Enter+r.m.bias+1, rec.Stack) // as if a call before the gate's second byte returned there
	if len(calls) == 0 {
		return
	}
	calls[0] = rec.Site
	for len(calls) > 1 && gs.onlyWaits(calls[0]) {
		calls = calls[1:]
	}
	rec.Site, rec.Chain, rec.Stack = calls[0], calls, nil
}

// onlyWaits: an address is in a function that does nothing else.
func (gs *gates) onlyWaits(at uint64) bool {
	for _, m := range gs.in.modules {
		if p := m.spec.Program; at >= m.base && p.Image.SectionAt(at-m.base) != nil {
			f := p.Owner(at - m.base)
			return f != nil && p.OnlyWaits(f)
		}
	}
	return false
}

// familyOf: compilers copy code, and what they copy is still one place.
func (gs *gates) familyOf(n uint64) uint64 {
	if gs.family == nil {
		first := map[string]uint64{}
		for k, r := range gs.regions() {
			key := fmt.Sprint(k)
			if r.Site != 0 && !r.Idle {
				key = gs.key(r.site())
			}
			if _, known := first[key]; !known {
				first[key] = uint64(k)
			}
			gs.family = append(gs.family, first[key])
		}
	}
	return gs.family[n]
}

// decided opens the gates of a family for ever, or closes them.
func (gs *gates) decided(family uint64, of bool) {
	records := uint32(0)
	if of {
		records = forEver
	}
	gs.state[family] = records
}

// mostTries is how often a gate may go on while it is undecided: one thread may pass it
// again and again that meets nobody there. Of idle ones the rules know when it is enough.
const mostTries = 32

// try has the gates go on of which nothing was decided.
func (gs *gates) try(a *threadarea.Area) {
	for n := range gs.n() {
		f := gs.familyOf(uint64(n))
		if _, known := gs.state[f]; known || a.GateIs(int32(n)) > 0 {
			continue
		}
		if gs.tries[f]++; gs.tries[f] > mostTries && !gs.all[n].Idle {
			gs.decided(f, false)
			continue
		}
		a.TryGate(int32(n))
	}
}

// tell lets a thread know what was decided. The thread may be counting down
// just now and write over it; then it is told again.
func (gs *gates) tell(a *threadarea.Area) {
	if len(gs.state) == 0 {
		return
	}
	for n := range gs.n() {
		want, known := gs.state[gs.familyOf(uint64(n))]
		if has := a.GateIs(int32(n)); known && (want == 0) != (has == 0) || known && want > 0 && has < want/2 {
			a.OpenGate(int32(n), want)
		}
	}
}

// up is how many inlined calls around an address the user sees a region at:
// the outermost of those that hold nothing but the region.
func (gs *gates) up(at profile.Addr) int {
	if u, known := gs.ups[at]; known {
		return u
	}
	u := 0
	for _, r := range gs.regions() {
		if r.Site != 0 && r.site() == at {
			u = gs.depth(at, r)
			break
		}
	}
	gs.ups[at] = u
	return u
}

func (gs *gates) depth(at profile.Addr, r placed) int {
	own := gs.lines.Locate(at).InlinedAt
	common := 0 // calls, from the outermost, that also hold what is not of the region
	for _, a := range r.Works {
		other := gs.lines.Locate(profile.Addr(a + r.m.base)).InlinedAt
		k := 0
		for k < len(own) && k < len(other) && own[len(own)-1-k] == other[len(other)-1-k] {
			k++
		}
		common = max(common, k)
	}
	return len(own) - common
}

// key names the source line at which the user sees an address.
func (gs *gates) key(at profile.Addr) string {
	if u := gs.up(at); u > 0 {
		if in := gs.lines.Locate(at).InlinedAt; u <= len(in) && in[u-1].Line > 0 {
			return fmt.Sprintf("%s:%d", in[u-1].File, in[u-1].Line)
		}
	}
	return gs.lines.Key(at)
}

// locate is the location of an address. Of a region the frames inside the one
// that the user sees it at are nobody's; nor is a library that nobody asked for
// and that has no lines.
func (gs *gates) locate(at profile.Addr) profile.Location {
	l := gs.lines.Locate(at)
	if m := gs.in.moduleAt(at); l.File == "" && m != nil && m.byDefault {
		l.Frame = profile.Frame{Function: "std::"}
	}
	u := gs.up(at)
	if u == 0 || u > len(l.InlinedAt) {
		return l
	}
	l.InlinedAt = slices.Clone(l.InlinedAt)
	l.Frame = profile.Frame{Function: "std::"}
	for i := range u - 1 {
		l.InlinedAt[i] = l.Frame
	}
	return l
}
