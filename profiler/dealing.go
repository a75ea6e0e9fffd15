package profiler

import (
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
)

// Runtimes that deal tasks out are templates in part: the loop over a range of
// indices, and the recursion that divides it, are theirs, and how often they go round
// is how much of the range the thread has taken. No line of the program decides that.

// taskRuntimes are what the paths of their sources have in them.
var taskRuntimes = []string{"/oneapi/tbb/", "/include/tbb/", "/pstl/", "/rayon-", "/rayon/"}

// dealOut marks the blocks that are nobody's but such a runtime's (rule 19).
func dealOut(p *profile.Profile) {
	for i := range p.Graph.Blocks {
		b := &p.Graph.Blocks[i]
		if b.Count == profile.NoEvent {
			continue
		}
		if l, ok := p.Location(b.Last); ok && ofTaskRuntime(l) {
			b.Deals = true
		}
	}
}

func ofTaskRuntime(l profile.Location) bool {
	frames := l.Frames()
	return slices.ContainsFunc(frames, func(f profile.Frame) bool { // which hardly any is: it is asked first
		return slices.ContainsFunc(taskRuntimes, func(part string) bool { return strings.Contains(f.File, part) })
	}) && !slices.ContainsFunc(frames, func(f profile.Frame) bool { return !f.System() })
}
