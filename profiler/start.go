package profiler

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
)

// Where threads began. A function that pthread_create was called with is known;
// one that a std::thread was made of is called by code of the C++ library's
// headers, inlined or not, which was entered from outside:
//
//	execute_native_thread_routine ─▶ _State_impl::_M_run ─▶ __invoke ─▶ the user's function
//	        a library                └──── the program, in headers ────┘

// starts finds where threads began.
type starts struct {
	p      *profile.Profile
	lines  backend.Lines
	calls  [][]int // edges that enter other functions, by the function they come from
	system map[profile.FunctionID]bool
}

// beginnings says where those threads began of which nobody said it, and with
// them the parts that begin with their lives.
func beginnings(o *backend.Outcome) {
	s := &starts{p: o.Profile, lines: o.Lines, system: map[profile.FunctionID]bool{}}
	at := map[profile.ThreadID]profile.Addr{}
	for i := range s.p.Threads {
		t := &s.p.Threads[i]
		if t.Start == 0 && t.ID != 0 {
			t.Start = s.of(t)
			at[t.ID] = t.Start
		}
	}
	for i := range s.p.Sections {
		x := &s.p.Sections[i]
		begin(x.Totals, at)
		for j := range x.Instances {
			if x.Instances[j].Folded == 1 {
				begin(x.Instances[j].Parts, at)
			}
		}
	}
}

func begin(parts []profile.Part, at map[profile.ThreadID]profile.Addr) {
	for i := range parts {
		if q := &parts[i]; q.Begin == 0 {
			q.Begin = at[q.Thread]
		}
	}
}

// of is the function that a thread began in: the one function of the user's that
// it entered exactly once from outside, or from the library's code that it
// entered so; or 0. If there is only library's code, that.
func (s *starts) of(t *profile.Thread) profile.Addr {
	var users, others []profile.Addr
	for i, e := range t.Totals.Event {
		ev := &s.p.Events[e]
		if ev.Kind != profile.EdgeTaken || s.p.Graph.Edges[ev.Edge].Kind != profile.Start || t.Totals.N[i] != 1 {
			continue
		}
		f := s.p.Graph.Blocks[s.p.Graph.Edges[ev.Edge].To].Function
		if s.isSystem(f) {
			others = append(others, ev.Addr)
			users = append(users, s.within(t, f)...)
		} else {
			users = append(users, ev.Addr)
		}
	}
	for _, list := range [][]profile.Addr{users, others} {
		if len(list) == 1 {
			return list[0]
		}
	}
	return 0
}

// isSystem reports whether a function was written in a header of the system.
func (s *starts) isSystem(f profile.FunctionID) bool {
	is, known := s.system[f]
	if !known {
		l := s.lines.Entry(s.p.Graph.Functions[f].Entry)
		is = l.Known() && l.Frame.System()
		s.system[f] = is
	}
	return is
}

// within are the user's functions that a thread entered from a function of the
// system's, through others of these; and where in these the user's code begins
// that was inlined.
func (s *starts) within(t *profile.Thread, f profile.FunctionID) (found []profile.Addr) {
	seen := map[profile.FunctionID]bool{f: true}
	for work := []profile.FunctionID{f}; len(work) > 0; work = work[1:] {
		f := work[0]
		if a := s.inlined(t, f); a != 0 {
			found = append(found, a)
			continue
		}
		for _, i := range s.callsOf(f) {
			e := &s.p.Graph.Edges[i]
			to := s.p.Graph.Blocks[e.To].Function
			if seen[to] || t.Totals.Of(e.Count) == 0 {
				continue
			}
			seen[to] = true
			if s.isSystem(to) {
				work = append(work, to)
			} else {
				found = append(found, s.p.Graph.Functions[to].Entry)
			}
		}
	}
	return found
}

// inlined is where in a function of the system's code of the user's begins that
// a thread executed; 0: nowhere.
func (s *starts) inlined(t *profile.Thread, f profile.FunctionID) profile.Addr {
	x := &s.p.Graph.Functions[f]
	for i := x.First; i < x.First+profile.BlockID(x.N); i++ {
		b := &s.p.Graph.Blocks[i]
		if b.Virtual || b.Count == profile.NoEvent || t.Totals.Of(b.Count) == 0 {
			continue
		}
		for _, a := range []profile.Addr{b.Start, b.Last} {
			// A function's first address stands for the function.
			if l := s.lines.Locate(a); a != x.Entry && l.Known() && (l.Outside() > 0 || !l.Frame.System()) {
				return a
			}
		}
	}
	return 0
}

// callsOf are the counted edges that lead from a function into others.
func (s *starts) callsOf(f profile.FunctionID) []int {
	g := &s.p.Graph
	if s.calls == nil {
		s.calls = make([][]int, len(g.Functions))
		for i := range g.Edges {
			if e := &g.Edges[i]; e.Kind.IsCall() && e.From != profile.NoBlock && e.To != profile.NoBlock && e.Count != profile.NoEvent {
				from := g.Blocks[e.From].Function
				s.calls[from] = append(s.calls[from], i)
			}
		}
	}
	return s.calls[f]
}
