package profiler

import (
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
)

// findStarts finds the functions that threads began in, where nobody said: the
// C++ library creates threads for others. A part that begins with its thread
// begins there too.
func findStarts(p *profile.Profile) {
	found, alike := map[profile.ThreadID]*profile.Thread{}, map[profile.Addr][]*profile.Thread{}
	for i := range p.Threads {
		if t := &p.Threads[i]; t.Start == 0 && t.ID != 0 {
			if t.Start = startOf(p, t); t.Start != 0 {
				found[t.ID] = t
				alike[t.Start] = append(alike[t.Start], t)
			}
		}
	}
	calls := standardCalls(&p.Graph)
	for start, threads := range alike {
		calls.enter(start, threads)
	}
	for i := range p.Sections {
		for j := range p.Sections[i].Instances {
			in := &p.Sections[i].Instances[j]
			for k := range in.Parts {
				q := &in.Parts[k]
				if t := found[q.Thread]; t != nil && in.Folded <= 1 && q.Begin == 0 && q.BeginNS == t.BeginNS {
					q.Begin = t.Start
				}
			}
		}
	}
}

// startOf is the one function of ours that a thread entered from outside
// exactly once, what destroys objects aside; or 0.
func startOf(p *profile.Profile, t *profile.Thread) (start profile.Addr) {
	for i, e := range t.Totals.Event {
		if ev := &p.Events[e]; ev.Kind == profile.EdgeTaken && p.Graph.Edges[ev.Edge].Kind == profile.Start && t.Totals.N[i] == 1 {
			f := &p.Graph.Functions[p.Graph.Blocks[p.Graph.Edges[ev.Edge].To].Function]
			if destroys(f.Name) {
				continue
			}
			if start != 0 {
				return 0
			}
			start = ev.Addr
		}
	}
	return start
}

// destroys tells the destructors of C++ by their names.
func destroys(name string) bool {
	return strings.HasPrefix(name, "_ZN") && (strings.HasSuffix(name, "D0Ev") || strings.HasSuffix(name, "D1Ev") || strings.HasSuffix(name, "D2Ev"))
}

// standard tells functions of the C++ library, templates among them.
func standard(name string) bool {
	return slices.ContainsFunc([]string{"_ZNSt", "_ZSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"}, func(p string) bool { return strings.HasPrefix(name, p) })
}

// callsOf are the calls that the functions of the C++ library make.
type callsOf struct {
	g     *profile.Graph
	edges map[profile.FunctionID][]int
	at    map[profile.Addr]profile.FunctionID
}

func standardCalls(g *profile.Graph) callsOf {
	c := callsOf{g, map[profile.FunctionID][]int{}, map[profile.Addr]profile.FunctionID{}}
	for f := range g.Functions {
		if standard(g.Functions[f].Name) {
			c.at[g.Functions[f].Entry] = profile.FunctionID(f)
		}
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		if e.From < 0 || e.To < 0 || !e.Kind.IsCall() || e.Count < 0 {
			continue
		}
		if f := g.Blocks[e.From].Function; standard(g.Functions[f].Name) {
			c.edges[f] = append(c.edges[f], i)
		}
	}
	return c
}

// enter moves threads that began at one place of the C++ library to the user's
// functions that it called for them. All must have come to one; where they are
// several, it must have been through a pointer: what a lambda chooses that the
// compiler has put into the library's function is no start.
func (c callsOf) enter(start profile.Addr, threads []*profile.Thread) {
	to, one, pointed := make([]profile.Addr, len(threads)), true, true
	for i, t := range threads {
		e := c.users(start, t.Totals)
		if e == nil {
			return
		}
		to[i] = c.g.Functions[c.g.Blocks[e.To].Function].Entry
		one, pointed = one && to[i] == to[0], pointed && c.byPointer(e)
	}
	for i, t := range threads {
		if one || pointed {
			t.Start = to[i]
		}
	}
}

// byPointer: an indirect call, or a jump out of the function that leads elsewhere too.
func (c callsOf) byPointer(e *profile.Edge) bool {
	return e.Kind == profile.Indirect || e.Kind == profile.TailCall && slices.ContainsFunc(c.edges[c.g.Blocks[e.From].Function], func(i int) bool {
		return c.g.Edges[i].Site == e.Site && c.g.Edges[i].To != e.To
	})
}

// users is the call by which a thread that began in the C++ library came to the
// user's own code: to the one function that the library called once, as a
// thread's invocation is; nil where there is none, or another too.
func (c callsOf) users(start profile.Addr, life profile.Counts) (found *profile.Edge) {
	f, ok := c.at[start]
	if !ok {
		return nil
	}
	seen := map[profile.FunctionID]bool{f: true}
	for next := []profile.FunctionID{f}; len(next) > 0; {
		f, next = next[len(next)-1], next[:len(next)-1]
		for _, i := range c.edges[f] {
			e := &c.g.Edges[i]
			to := c.g.Blocks[e.To].Function
			if entry := c.g.Blocks[e.To].Count; life.Of(e.Count) != 1 || seen[to] || entry >= 0 && life.Of(entry) != 1 {
				continue
			}
			seen[to] = true
			if standard(c.g.Functions[to].Name) {
				next = append(next, to)
				continue
			}
			if found != nil {
				return nil
			}
			found = e
		}
	}
	return found
}
