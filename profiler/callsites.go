package profiler

import (
	"slices"
	"sort"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
)

// CallSites finds, without running it, the calls in a program that may end a
// parallel section, by address. Calls in code without line information are
// left out, and those that a header of the system makes stand where it was
// inlined.
//
//	bytes ─▶ what looks like a call of a hooked function ─▶ decode that function ─▶ line
//
// Only functions that hold a candidate are decoded, so that a program of many
// megabytes takes little longer than to read it.
func CallSites(path string) ([]profile.Location, error) {
	im, err := image.Open(path)
	if err != nil {
		return nil, err
	}
	x := finder{im: im, regions: map[uint64]bool{}, calls: map[uint64]bool{}, slots: map[uint64]bool{}, entries: map[uint64]bool{}, makers: map[uint64]bool{}}
	x.endings()
	if len(x.slots)+len(x.entries) == 0 {
		return nil, nil
	}
	calls := x.search()
	if len(calls)+len(x.regions) == 0 {
		return nil, nil
	}
	lines, err := OpenLines(path)
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	for a := range x.regions {
		if l := lines.Locate(profile.Addr(a)); forks(l, path) {
			calls = append(calls, a)
		}
	}
	var out []profile.Location
	for round := 0; len(calls) > 0 && round < mostCallers; round++ {
		users, callers := x.users(calls, lines)
		out = append(out, users...)
		calls = x.climb(callers)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Address < out[j].Address })
	return out, nil
}

// users are where the user's own code makes calls; callers are the functions, of
// headers and libraries, that make the others, true as in climb.
func (x *finder) users(calls []uint64, lines *Lines) (users []profile.Location, callers map[uint64]bool) {
	callers = map[uint64]bool{}
	for _, a := range calls {
		l := lines.Locate(profile.Addr(a))
		if slices.ContainsFunc(l.Frames(), unasked) {
			continue
		}
		f := x.im.FuncAt(a)
		may := x.may[a] && !slices.ContainsFunc(l.Frames(), meets) && !(f != nil && x.makers[f.Addr])
		if n := l.Outside(); n > 0 {
			l.Frame, l.InlinedAt = l.InlinedAt[n-1], l.InlinedAt[n:]
		}
		switch {
		case l.Known() && !l.Frame.System():
			if !may {
				users = append(users, l)
			}
		case f != nil && (x.im.Go == nil || holdsTogether(f.Name)):
			was, known := callers[f.Addr]
			callers[f.Addr] = may && (was || !known)
		}
	}
	return users, callers
}

// mostCallers is how far out a call is looked for that is not the library's own.
const mostCallers = 12

// meets reports whether a call that may end a section does, for it is made by one of
// these: a scope of Rust's, whose threads wake who is parked; parallel algorithms, and
// graphs of tasks, which are waited for in an arena.
func meets(f profile.Frame) bool {
	return strings.HasSuffix(f.File, "/thread/scoped.rs") && !strings.Contains(f.Function, "spawn") || strings.Contains(f.File, "/pstl/") || strings.Contains(f.File, "flow_graph")
}

// unasked: a group of tasks that nobody has waited for is waited for as it goes, and what runs
// Rust's tests waits for the threads that they run in.
func unasked(f profile.Frame) bool {
	return strings.Contains(f.Function, "~task_group") || strings.HasPrefix(f.Function, "test::") && strings.Contains(f.File, "/library/test/src/")
}

// What is Go's runtime, and by what it makes a goroutine. Receiving something ends a
// section only in a function that makes some: others receive what is to be done.
const (
	goRuntime = "runtime."
	goMakes   = "runtime.newproc"
)

// holdsTogether: a function of Go's library does nothing but hold goroutines together. All
// others may have some of their own, which are nothing to who calls them.
func holdsTogether(name string) bool {
	return strings.HasPrefix(name, "sync.(*WaitGroup)") || strings.HasPrefix(name, "golang.org/x/sync/")
}
