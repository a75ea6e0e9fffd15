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
	findStarts(p)
	p.Warnings = append(p.Warnings, warnings(o)...)
	p.Locations = locations(o)
	placeSelects(p, func(file string) []string { return source(file, p.Program.Path) })
	dealOut(p)
	libraryPools(p)
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
