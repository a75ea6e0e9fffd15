package profiler

import (
	"fmt"
	"runtime"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
)

// finish makes a profile of what a backend has found out: it adds all that is
// the same for every backend.
func finish(o *backend.Outcome, by string) (*profile.Profile, error) {
	p := o.Profile
	p.Run.Backend, p.Run.Cores = by, runtime.NumCPU()
	p.Coverage = coverage(o.Modules)
	for i := range p.Threads {
		if t := &p.Threads[i]; t.Start == 0 && t.ID != 0 {
			t.Start = startOf(p, t)
		}
	}
	p.Warnings = append(p.Warnings, warnings(o)...)
	p.Locations = locations(o)
	if err := p.CheckValid(); err != nil {
		return nil, fmt.Errorf("the %s backend's profile of %s contradicts itself, a fault of skewlens: %w", by, p.Program.Path, err)
	}
	return p, nil
}

// coverage sums up that of all modules.
func coverage(modules []backend.Module) (sum profile.Coverage) {
	for _, m := range modules {
		c := m.Coverage
		sum.Functions, sum.FunctionsTotal = sum.Functions+c.Functions, sum.FunctionsTotal+c.FunctionsTotal
		sum.Instructions, sum.InstructionsTotal = sum.Instructions+c.Instructions, sum.InstructionsTotal+c.InstructionsTotal
		sum.Skipped = append(sum.Skipped, c.Skipped...)
	}
	return sum
}

// startOf is the function that a thread began in, where nobody said: the one
// function of ours that it entered from outside exactly once; or 0.
func startOf(p *profile.Profile, t *profile.Thread) (start profile.Addr) {
	for i, e := range t.Totals.Event {
		if ev := &p.Events[e]; ev.Kind == profile.EdgeTaken && p.Graph.Edges[ev.Edge].Kind == profile.Start && t.Totals.N[i] == 1 {
			if start != 0 {
				return 0
			}
			start = ev.Addr
		}
	}
	return start
}
