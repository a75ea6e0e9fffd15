package profile

import (
	"slices"
	"strconv"
	"strings"
)

// Where a run told how far back accesses come, hardware events say which caches would
// have missed them: of 64 sets, of sizes that double. Reason is the largest size, in
// bytes, that still misses, or one of these:
const (
	ReuseFirst     = "first"      // nobody who shares the cache has touched the line before
	ReuseLost      = "lost"       // another thread wrote it meanwhile: all sizes miss
	ReuseFromOther = "from-other" // the thread's first access of a line that another one has touched
)

// ReuseCycles is what a miss takes by the model, as memory does where a machine is
// simulated that says nothing else.
const ReuseCycles = 200

// Reuse is the name of these events: in caches of each thread's own or, all, in one
// that all threads share. They cost nothing in modelled cycles, and are no causes.
func Reuse(all bool) string {
	if all {
		return "reuse-shared"
	}
	return "reuse"
}

// IsReuse reports whether it is one of these, and whether in a cache that is shared.
func (e *Event) IsReuse() (all, is bool) {
	return e.Name == Reuse(true), e.Kind == Hardware && strings.HasPrefix(e.Name, "reuse")
}

// MissesTo is the largest cache, in bytes, that such an event misses; all where it
// misses each.
func (e *Event) MissesTo() (size int64, all bool) {
	size, err := strconv.ParseInt(e.Reason, 10, 64)
	return size, err != nil
}

// ReuseSizes are those that a profile tells apart, ascending; none where it does not.
func (p *Profile) ReuseSizes() (list []int64) {
	if !slices.ContainsFunc(p.Events, func(e Event) bool { _, is := e.IsReuse(); return is }) {
		return nil
	}
	for i := range 12 {
		list = append(list, 16<<10<<i)
	}
	return list
}
