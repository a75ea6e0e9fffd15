package ranks

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// Room is how many bytes of counts are kept one by one: half of it for what ranks did
// before collective calls, half for what threads did within ranks.
const Room = 160 << 20

// survey is what is known of all ranks together, after the first reading.
type survey struct {
	members []*member // by rank
	graph   *graph
	keys    map[string]int32 // sections, by what they are called in all ranks
	heads   []head
	calls   map[callKey]*call
	comms   map[string]int32
	inner   []inner // instances of sections within ranks
	doubts  []profile.Warning
	startNS int64 // when the first rank began
}

// head is a section, as the first rank has it that came there.
type head struct {
	profile.Section // without instances
	spans           int64
}

// Merge makes one profile of those of a program's ranks.
func Merge(list []Source) (*profile.Profile, error) {
	s := &survey{graph: newGraph(), keys: map[string]int32{}, calls: map[callKey]*call{}, comms: map[string]int32{}}
	s.members, s.doubts = choose(list)
	if len(s.members) == 0 {
		err := errors.New("there is no profile of a rank: give the directory that --save DIR/ named")
		if len(s.doubts) > 0 {
			err = errors.New(s.doubts[0].Message)
		}
		return nil, err
	}
	s.first()
	if len(s.members) == 0 {
		return nil, errors.New(s.doubts[len(s.doubts)-1].Message)
	}
	s.graph.build()
	calls := s.settle()
	s.keep(calls, Room/2)
	s.keepInner(Room / 2)
	f := s.newFill(calls)
	f.second()
	p := f.profile()
	if err := p.CheckValid(); err != nil {
		return nil, fmt.Errorf("merge the profiles of %s: %w", plural(len(s.members), "rank"), err)
	}
	return p, nil
}

// first reads all profiles for the first time.
func (s *survey) first() {
	s.startNS = slices.MinFunc(s.members, func(a, b *member) int { return cmp.Compare(a.rank.StartNS, b.rank.StartNS) }).rank.StartNS
	i := 0
	each(s.members, func(m *member, p *profile.Profile, err error) {
		if err != nil {
			m.failed = true
			s.doubts = append(s.doubts, profile.Warning{Code: "damaged-rank", Message: fmt.Sprintf("rank %d is left out: %v", m.rank.Rank, err)})
			return
		}
		m.coverage, m.warnings, m.hash = p.Coverage, p.Warnings, hashOf(p)
		for k := range p.Threads {
			m.threads = max(m.threads, p.Threads[k].ID+1)
		}
		s.graph.add(p, m.hash)
		for k := range p.Sections {
			s.note(i, p, &p.Sections[k])
		}
		i++
	})
	s.members = slices.DeleteFunc(s.members, func(m *member) bool { return m.failed })
	base := profile.ThreadID(0)
	for _, m := range s.members {
		m.base = base
		base += max(1, m.threads)
	}
}

// note takes down what the instances of a rank's section are.
func (s *survey) note(i int, p *profile.Profile, x *profile.Section) {
	key := s.keyOf(p, x)
	spans := int64(0)
	for k := range x.Instances {
		in := &x.Instances[k]
		if x.Kind == profile.MPI {
			spans += in.SpanNS
			s.comes(i, p, key, in)
		} else {
			s.noteInner(i, p, key, k, in)
		}
	}
	if x.Kind != profile.MPI {
		spans = x.Time()
	}
	s.heads[key].spans = max(s.heads[key].spans, spans)
}

// keyOf is the number of a section among those of all ranks: its kind and line.
func (s *survey) keyOf(p *profile.Profile, x *profile.Section) int32 {
	name := string(x.Kind) + " " + lineOf(p, x)
	k, has := s.keys[name]
	if !has {
		k = int32(len(s.heads))
		s.keys[name] = k
		s.heads = append(s.heads, head{Section: profile.Section{Kind: x.Kind, Site: x.Site, Outside: x.Outside, Callers: slices.Clone(x.Callers)}})
	}
	h := &s.heads[k]
	n := 0
	for n < len(h.Callers) && n < len(x.Callers) && h.Callers[n] == x.Callers[n] {
		n++
	}
	h.Callers = h.Callers[:n]
	for _, w := range x.Warnings {
		if !slices.Contains(h.Warnings, w) && len(h.Warnings) < 8 {
			h.Warnings = append(h.Warnings, w)
		}
	}
	return k
}

// lineOf is the line that a section stands on, or its address where that is not known.
func lineOf(p *profile.Profile, x *profile.Section) string {
	if l, ok := p.Location(x.Site); ok {
		if f := l.Frames(); x.Outside < len(f) && f[x.Outside].Line > 0 {
			return fmt.Sprintf("%s:%d", f[x.Outside].File, f[x.Outside].Line)
		}
	}
	return fmt.Sprintf("%#x", uint64(x.Site))
}

// locations are those of all ranks.
func (u *graph) allLocations() (list []profile.Location) {
	for _, a := range slices.Sorted(maps.Keys(u.locations)) {
		list = append(list, u.locations[a])
	}
	return list
}
