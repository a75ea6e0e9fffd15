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
var taskRuntimes = []string{"/oneapi/tbb/", "/include/tbb/", "/pstl/", "/rayon-", "/rayon/", "/tokio-", "/threadpool-"}

// dealOut marks the blocks that are nobody's but such a runtime's, and those in which it is
// seen whether a channel had anything (rule 19).
func dealOut(p *profile.Profile) {
	var files taskFiles
	for i, near, known := 0, 0, false; i < len(p.Graph.Blocks); i++ {
		b := &p.Graph.Blocks[i]
		if b.Count == profile.NoEvent {
			continue
		}
		if near, known = p.LocationNear(b.Last, near); known && (files.alone(&p.Locations[near]) || received(&p.Locations[near])) {
			b.Deals = true
		}
	}
}

// taskFiles knows of the last file that it was asked for whether it is of such a runtime:
// hardly any is, and mostly it is the one before.
type taskFiles struct {
	file string
	is   bool
}

func (t *taskFiles) has(file string) bool {
	if file != t.file {
		t.file, t.is = file, slices.ContainsFunc(taskRuntimes, func(part string) bool { return strings.Contains(file, part) })
	}
	return t.is
}

// received reports whether a place is within a function that receives from a channel of
// crossbeam's, from which whoever is free takes what comes next. It is inlined with code for
// channels of other kinds, which have clocks in the stead of senders.
func received(l *profile.Location) bool {
	return l.Frame.System() && slices.ContainsFunc(l.Frames(), func(f profile.Frame) bool {
		return strings.Contains(f.File, "/crossbeam-channel-") && strings.Contains(f.Function, "recv")
	})
}

// alone reports whether a location is such a runtime's, and no line of the program has to
// do with it.
func (t *taskFiles) alone(l *profile.Location) bool {
	is := t.has(l.File)
	for i := range l.InlinedAt {
		is = is || t.has(l.InlinedAt[i].File)
	}
	return is && !slices.ContainsFunc(l.Frames(), func(f profile.Frame) bool { return !f.System() })
}
