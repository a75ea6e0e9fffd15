package taskgraph

import (
	"errors"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// Part says which part of which instance of which section of a profile.
type Part struct{ Section, Instance, Part int32 }

// Task is a stretch of a thread: work, with the waits in it. A task without a
// thread is a meeting: it has no length.
type Task struct {
	Thread       int32 // index into the profile's threads; −1: a meeting
	FromNS, ToNS int64 // since the start of the run
	Of           Part  // what it is of; Section −1: outside of all sections
	NS           int64 // its length: what it needs by itself
	BusyNS       int64 // how much of that is CPU time
	Lock         bool  // it waits for a lock, until a thread that is known lets go of it
	waiting      bool  // for another thread that is known
	woken        *profile.Sync
}

// Tasks are how many of each kind there are.
type Tasks struct{ Work, Create, Join, Barrier, Sync int }

// Graph is the tasks of a run in an order in which each follows what it depends on.
type Graph struct {
	Tasks  []Task
	Counts Tasks
	// BusyNS is the CPU time of all tasks: the work.
	BusyNS int64
	// FromNS is when the graph begins: behind the last instances that were added up
	// during the run, of which it is not known when they were. 0: it is whole.
	FromNS int64
	// Rootless is how many threads were created by nobody who is known.
	Rootless int
	// SyncNS is for how long threads waited until others ended that. Who came so late
	// that it need not wait depends on them, too, but that is not known.
	SyncNS int64
	// UntimedNS is how long the tasks are of which the CPU time is not known: they
	// count as if their threads had always had a core.
	UntimedNS int64
	// UnplacedNS is the CPU time that threads used while they did not work, as far as
	// the graph tells: they spun while they waited for others.
	UnplacedNS int64

	first   []int32 // by task: where its dependences begin in depends
	depends []int32
	until   []int64 // room for forward
	back    []int32

	numbers  [][]int32 // of the first part of each instance of each section
	sections []int32   // of the first of each section, and how many there are
}

// number is a part's, among those of all sections.
func (g *Graph) number(of Part) int32 { return g.numbers[of.Section][of.Instance] + of.Part }

// count numbers the parts.
func (g *Graph) count(p *profile.Profile) {
	n := int32(0)
	for s := range p.Sections {
		ins := p.Sections[s].Instances
		first := make([]int32, len(ins))
		g.sections, g.numbers = append(g.sections, n), append(g.numbers, first)
		for i := range ins {
			first[i] = n
			n += int32(len(ins[i].Parts))
		}
	}
	g.sections = append(g.sections, n)
}

// Why there is no graph.
var (
	ErrNoTimes = errors.New("the profile does not say when threads began and arrived")
	ErrNoTies  = errors.New("the profile does not say who created its threads")
	ErrFolded  = errors.New("the profile does not say when the instances of a section were")
)

// New makes the graph of a valid profile. It fails with one of the errors above
// where the profile does not hold what it takes.
func New(p *profile.Profile) (*Graph, error) {
	b, err := newBuilder(p)
	if err != nil {
		return nil, err
	}
	b.sweep()
	b.g.count(p)
	b.weigh()
	return b.g, nil
}

// dependences of a task: all come before it.
func (g *Graph) dependences(i int) []int32 {
	to := int32(len(g.depends))
	if i+1 < len(g.first) {
		to = g.first[i+1]
	}
	return g.depends[g.first[i]:to]
}

// Step is a task on a path.
type Step struct {
	Task int // index into Graph.Tasks
	NS   int64
}

// Path is a longest path through the graph.
type Path struct {
	NS    int64  // its length, the span
	Steps []Step // its tasks that have a length, in order of time
	// Syncs are the waits by which it comes from a thread to the next one.
	Syncs []*profile.Sync
}

// Lengths are other lengths than the tasks have; nil: their own.
type Lengths func(t *Task) int64

// Longest is the longest path (algorithm 2). Of equals, the first.
func (g *Graph) Longest(lengths Lengths) Path {
	until, back := g.forward(lengths)
	end := -1
	for i, n := range until {
		if end < 0 || n > until[end] {
			end = i
		}
	}
	p := Path{}
	if end < 0 {
		return p
	}
	p.NS = until[end]
	for i := end; i >= 0; i = int(back[i]) {
		if n := g.length(i, lengths); n > 0 {
			p.Steps = append(p.Steps, Step{i, n})
		}
		if t := &g.Tasks[i]; t.woken != nil && back[i] >= 0 && g.Tasks[back[i]].Thread != t.Thread {
			p.Syncs = append(p.Syncs, t.woken)
		}
	}
	slices.Reverse(p.Steps)
	slices.Reverse(p.Syncs)
	return p
}

func (g *Graph) length(i int, lengths Lengths) int64 {
	if lengths == nil {
		return g.Tasks[i].NS
	}
	return max(0, lengths(&g.Tasks[i]))
}

// forward is the longest path up to each task, itself included, and from where it comes:
// in room that the next call uses again.
func (g *Graph) forward(lengths Lengths) (until []int64, back []int32) {
	if g.until == nil {
		g.until, g.back = make([]int64, len(g.Tasks)), make([]int32, len(g.Tasks))
	}
	until, back = g.until, g.back
	for i := range g.Tasks {
		back[i] = -1
		for _, d := range g.dependences(i) {
			if back[i] < 0 || until[d] > until[back[i]] {
				back[i] = d
			}
		}
		until[i] = g.length(i, lengths)
		if back[i] >= 0 {
			until[i] += until[back[i]]
		}
	}
	return until, back
}

// AtMost is how long the longest path would be if waits for locks were lengths, as
// they were. Who takes a lock after whom is only known where one of them waited, so
// that the path may be longer than it seems, but not longer than that.
func (g *Graph) AtMost() int64 {
	return g.Longest(func(t *Task) int64 {
		if t.Lock {
			return t.ToNS - t.FromNS
		}
		return t.NS
	}).NS
}
