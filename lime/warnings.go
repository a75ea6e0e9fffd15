package lime

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
)

const (
	fewThreads  = 4
	lowR2       = 0.7
	notableSpin = 0.01 // of all instructions
	hardlyAny   = 1e-4 // of a section's instructions
)

// warnings lists what makes the result doubtful (rule 15).
func (a *Analyser) warnings(res *Result, s *profile.Section, instances []*instance) []profile.Warning {
	w := res.Warnings
	add := func(code, format string, args ...any) {
		w = append(w, profile.Warning{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if n := widest(instances); n < fewThreads {
		add("few-threads", "With %d threads there is little to tell causes apart by; run with at least %d.", n, fewThreads)
	}
	if spin := a.spinning(instances); spin >= notableSpin {
		add("spin", "%.0f %% of the instructions were spent spinning in user code; they are left out.", 100*spin)
	}
	if res.decidedBefore {
		add("decided-before-section", "The threads began this section at different places: what sets them apart was decided before it.")
	}
	switch {
	case res.Balanced, res.selfScheduled:
	case len(res.Causes) == 0:
		add("low-r2", "No single decision or event that was counted explains the differences between the threads.")
	case res.R2 < lowR2:
		add("low-r2", "What was counted explains only %.0f %% of the differences between the threads.", 100*res.R2)
	}
	if names := a.uncounted(instances); len(names) > 0 {
		more := ""
		if len(names) > 3 {
			more = fmt.Sprintf(" and %d more", len(names)-3)
			names = names[:3]
		}
		add("uncounted", "Work in %s%s could not be counted and is missing here.", strings.Join(names, ", "), more)
	}
	if w := busyApart(a.p, s, res); w != "" {
		add("instructions-vs-busy-time", "%s", w)
	}
	if a.firstTookAll(instances) {
		add("more-threads-than-cores", "There were more threads than cores, and whichever ran first took most of the work: the parts differ from run to run.")
	}
	return w
}

// spinning is the part of all instructions that only waited.
func (a *Analyser) spinning(instances []*instance) float64 {
	spin, work := 0.0, 0.0
	for _, in := range instances {
		for k := range in.parts {
			c := &in.parts[k].Counts
			for j, e := range c.Event {
				if ev := &a.p.Events[e]; ev.Kind == profile.BlockEntered {
					b := &a.p.Graph.Blocks[ev.Block]
					if n := float64(b.Instructions) * float64(c.N[j]); b.Spin {
						spin += n
					} else {
						work += n
					}
				}
			}
		}
	}
	if spin == 0 {
		return 0
	}
	return spin / (spin + work)
}

// uncounted names the functions that ran, or were called, in this section and
// of which some block has no count; but not those where it is known that hardly
// anything is missing, as of a call alone between two barriers.
func (a *Analyser) uncounted(instances []*instance) []string {
	g := &a.p.Graph
	left, all := a.passed(instances)
	ran := a.functionsRun(left)
	var names []string
	for f := range g.Functions {
		fn := &g.Functions[f]
		missing := 0.0
		if fn.Opaque {
			missing = math.Inf(1)
		}
		for b := fn.First; ran[f] && b < fn.First+profile.BlockID(fn.N); b++ {
			if g.Blocks[b].Count < 0 && !g.Blocks[b].Virtual {
				missing += float64(g.Blocks[b].Instructions) * a.leaves(b, left)
			}
		}
		if ran[f] && missing > hardlyAny*all {
			if name := a.called(fn); !a.linked(fn, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// linked: a function of the C library's or a language's own, by its name, that is in the program
// itself, as where that is static: it is not counted elsewhere either.
func (a *Analyser) linked(fn *profile.Function, name string) bool {
	l, _ := a.p.Location(fn.Entry)
	return l.Line == 0 && profile.Frame{Function: name}.System()
}

// called is a function's name as its source has it, where that is known.
func (a *Analyser) called(fn *profile.Function) string {
	l, _ := a.p.Location(fn.Entry)
	name := l.Function
	if n := len(l.InlinedAt); n > 0 {
		name = l.InlinedAt[n-1].Function
	}
	return cmp.Or(name, fn.Name)
}

// passed is how often each event happened, and how many instructions were executed, all
// parts together.
func (a *Analyser) passed(instances []*instance) (n []uint64, instructions float64) {
	n = make([]uint64, len(a.p.Events))
	for _, in := range instances {
		for k := range in.parts {
			c := &in.parts[k].Counts
			for i, e := range c.Event {
				n[e] += c.N[i]
			}
		}
	}
	for e, n := range n {
		if ev := &a.p.Events[e]; n > 0 && ev.Kind == profile.BlockEntered {
			if b := &a.p.Graph.Blocks[ev.Block]; !b.Spin {
				instructions += float64(n) * float64(b.Instructions)
			}
		}
	}
	return n, instructions
}

// leaves is how often control left a block; infinite where that is not known.
func (a *Analyser) leaves(b profile.BlockID, left []uint64) (n float64) {
	ways := 0
	for _, i := range a.graph.outs.Of(int(b)) {
		e := &a.p.Graph.Edges[i]
		if e.Kind.IsCall() {
			continue
		}
		if e.Count < 0 {
			return math.Inf(1)
		}
		ways++
		n += float64(left[e.Count])
	}
	if ways == 0 {
		return math.Inf(1)
	}
	return n
}

// functionsRun tells, by function, whether it ran or was called, by how often each event
// happened.
func (a *Analyser) functionsRun(n []uint64) []bool {
	g := &a.p.Graph
	ran := make([]bool, len(g.Functions))
	for e, n := range n {
		ev := &a.p.Events[e]
		if n == 0 || ev.Kind != profile.BlockEntered && ev.Kind != profile.EdgeTaken {
			continue
		}
		if ev.Kind == profile.BlockEntered {
			ran[g.Blocks[ev.Block].Function] = true
		}
		for _, j := range a.graph.ofEvent.Of(e) {
			if to := g.Edges[j].To; to >= 0 {
				ran[g.Blocks[to].Function] = true
			}
		}
	}
	return ran
}

// firstTookAll tells dynamic scheduling on too few cores by its trace: as many
// threads as there are cores do nearly everything, and not always the same
// ones of them. Threads that each instance creates anew are told by their slots.
func (a *Analyser) firstTookAll(instances []*instance) bool {
	cores, n := max(a.p.Run.Cores, a.p.Run.Virtual), 0
	busy := map[int32]int{}
	var threads []profile.Part
	for _, in := range instances {
		if in.ranked || cores < 1 || len(in.parts) <= cores {
			continue
		}
		var heavy []int32
		for k, t := range in.response {
			if t >= 0.1*in.longest {
				heavy = append(heavy, in.parts[k].Place())
			}
		}
		if len(heavy) > cores {
			return false
		}
		if n++; n == 1 {
			threads = in.parts
		}
		if !samePlaces(threads, in.parts) {
			return false
		}
		for _, t := range heavy {
			busy[t]++
		}
	}
	for _, k := range busy {
		if k < n {
			return true
		}
	}
	return false
}

func samePlaces(a, b []profile.Part) bool {
	return slices.EqualFunc(a, b, func(x, y profile.Part) bool { return x.Place() == y.Place() })
}
