package profiler

import (
	"slices"
	"strings"
	"sync"

	"github.com/skewlens/skewlens/profile"
)

// Runtimes that deal tasks out are templates in part: the loop over a range of
// indices, and the recursion that divides it, are theirs, and how often they go round
// is how much of the range the thread has taken. No line of the program decides that.

// taskRuntimes are what the paths of their sources have in them.
var taskRuntimes = append([]string{"/oneapi/tbb/", "/include/tbb/", "/pstl/", "/rayon-", "/rayon/", "/tokio-", "/threadpool-",
	"/async-std-", "/async-executor-", "/async-global-executor-", "/async-task-", "/async-channel-", "/blocking-", "/smol-", "/futures-", "/scoped_threadpool-",
	"/std/parallelism.d", "/concurrency/threadpool.nim"}, profile.Pools...) // D's and Nim's own

// channels are what the paths of channels that several may receive from have in them, as cargo
// keeps them.
var channels = []string{"/crossbeam-channel-", "/flume-"}

func ofTasks(file string) bool { return hasAny(file, taskRuntimes) }

func ofChannels(file string) bool { return hasAny(file, channels) }

func hasAny(file string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(file, part) })
}

// dealOut marks the blocks that are nobody's but such a runtime's, and those in which it is
// seen whether a channel had anything (rule 19).
func dealOut(p *profile.Profile) {
	last := file{main: sync.OnceValue(func() string { return mainFile(p) })}
	starts := map[profile.Addr]bool{}
	for i := range p.Threads {
		starts[p.Threads[i].Start] = true
	}
	receives := map[profile.FunctionID]bool{} // functions of channels' own that were not inlined: whoever called sees what there was
	near, known := 0, false
	for f := range p.Graph.Functions {
		fn := &p.Graph.Functions[f]
		blocks := p.Graph.Blocks[fn.First : fn.First+profile.BlockID(fn.N)]
		last.begins(starts[fn.Entry])
		var rest []*profile.Block // nobody has asked where what never ran stands
		others := false
		for i := range blocks {
			b := &blocks[i]
			if b.Count == profile.NoEvent {
				continue
			}
			if near, known = p.LocationNear(b.Last, near); !known {
				rest = append(rest, b)
				continue
			}
			l := &p.Locations[near]
			switch {
			case !last.is(l):
				others = true
			case last.alone(l):
				b.Deals, b.Runtime = true, true
			default:
				b.Runtime = ofRuntime(l)
				if others = true; received(l) {
					b.Deals = true
					frames := l.Frames()
					receives[profile.FunctionID(f)] = receives[profile.FunctionID(f)] || ofChannels(frames[len(frames)-1].File)
				}
			}
		}
		if !others && len(rest) < len(blocks) {
			for _, b := range rest {
				b.Deals, b.Runtime = true, true
			}
		}
	}
	if len(receives) > 0 {
		whoReceives(&p.Graph, receives)
	}
}

// whoReceives marks the blocks that call such functions, and those behind a call that ends
// its block.
func whoReceives(g *profile.Graph, receives map[profile.FunctionID]bool) {
	ends := map[profile.BlockID]bool{}
	for i := range g.Edges {
		e := &g.Edges[i]
		if e.Kind.IsCall() && e.From >= 0 && e.To >= 0 && receives[g.Blocks[e.To].Function] {
			g.Blocks[e.From].Deals = true
			ends[e.From] = g.Blocks[e.From].Last == e.Site
		}
	}
	for i := range g.Edges {
		if e := &g.Edges[i]; !e.Kind.IsCall() && e.From >= 0 && e.To >= 0 && ends[e.From] {
			g.Blocks[e.To].Deals = true
		}
	}
}

// file is the last one of which somebody asked whether it is of such a runtime, or of channels:
// hardly any is, and mostly it is the one before.
type file struct {
	name   string
	listed bool
	main   func() string // the program's main function's
	start  bool          // threads begin in the function: it is a runtime's if others wrote it
}

// begins: what is asked next is of a function in which threads begin, or of another one.
func (f *file) begins(start bool) {
	if f.start != start {
		f.start, f.name = start, ""
	}
}

// is reports whether any of a location's frames is of such a file.
func (f *file) is(l *profile.Location) bool {
	is := f.has(l.File)
	for i := range l.InlinedAt {
		is = is || f.has(l.InlinedAt[i].File)
	}
	return is
}

func (f *file) has(name string) bool {
	if name != f.name {
		f.name, f.listed = name, ofTasks(name) || ofChannels(name) || f.theirs(name)
	}
	return f.listed
}

// theirs: threads begin in the function, and others wrote that file of it.
func (f *file) theirs(name string) bool { return f.start && profile.Fetched(name, f.main) }

// mainFile is the file of a program's main function; "" where that is not known.
func mainFile(p *profile.Profile) string {
	i := slices.IndexFunc(p.Graph.Functions, func(f profile.Function) bool { return f.Name == "main.main" || profile.Main(f.Name) })
	if i < 0 {
		return ""
	}
	l, _ := p.Location(p.Graph.Functions[i].Entry)
	return l.File
}

// received reports whether a place is within a function that receives from such a channel,
// from which whoever is free takes what comes next. It is inlined with code for channels of
// other kinds, which have clocks in the stead of senders.
func received(l *profile.Location) bool {
	return l.Frame.System() && slices.ContainsFunc(l.Frames(), func(f profile.Frame) bool {
		return ofChannels(f.File) && strings.Contains(f.Function, "recv")
	})
}

// alone reports whether a location is such a runtime's, and no line of the program has to
// do with it.
func (f *file) alone(l *profile.Location) bool {
	frames := l.Frames()
	return slices.ContainsFunc(frames, func(x profile.Frame) bool { return ofTasks(x.File) || f.theirs(x.File) }) &&
		!slices.ContainsFunc(frames, func(x profile.Frame) bool { return !x.System() && !f.theirs(x.File) })
}

// ofRuntime reports whether such a runtime decides at a location, though it was inlined into code
// of the program's: it is for the runtime to say how a range is cut, and who gets what. What
// is in oneTBB's containers is for the program to say.
func ofRuntime(l *profile.Location) bool {
	for _, x := range l.Frames() {
		if !x.System() || strings.Contains(x.File, "/tbb/concurrent_") {
			return false
		}
		if ofTasks(x.File) {
			return true
		}
	}
	return false
}
