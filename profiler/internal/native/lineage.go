package native

import (
	"cmp"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// lineage is the programs that one process runs after the other (execve).
type lineage struct {
	injections []*injection // this program's, and before it those of the programs whose place it took
	replaced   []string     // their paths
	next       *session     // of the program that took this one's place, when that is followed
	by         string       // that program, when there is one
	refused    error        // why it is not followed, when it should have been

	leavers map[int]leaver // who asked to let another program take this one's place, by tid
}

// leaver is a thread, or goroutine, with what it never leaves if that goes well, and where
// it stands there.
type leaver struct {
	who    *thread
	frames []record.Delta
	stood  []profile.Addr
}

// giveWay notes it, of who is just asking.
func (l *lineage) giveWay(tid int, x leaver) {
	if l.leavers == nil {
		l.leavers = map[int]leaver{}
	}
	l.leavers[tid] = x
}

// sink lets a forked child count where nobody reads. It may still be of a
// program whose place another one has taken.
func (l *lineage) sink(p *tracee.Process, child int) error {
	gs, err := p.GS(child)
	if err != nil {
		return err
	}
	for _, in := range l.injections {
		if in.areas.holds(gs) {
			return p.SetGS(child, in.base(0))
		}
	}
	return nil
}

// execed: another program has taken this one's place. That one is followed, if
// so wished and possible, else let go.
func (s *session) execed(e tracee.Event) error {
	if tid, err := s.p.Former(e.Tid); err == nil {
		if x, asked := s.lineage.leavers[tid]; asked && !x.who.dead {
			x.who.active, x.who.stood = x.frames, x.stood
		}
	}
	s.threads.drainAll()
	s.threads.endAll()
	path, args, env, err := s.p.Replaced()
	s.lineage.by = cmp.Or(path, "another program")
	if s.job.FollowExec {
		if err == nil {
			s.lineage.next, err = s.follow(path, args, env)
		}
		if err == nil {
			return nil
		}
		s.lineage.refused = err
	}
	return s.p.Detach(e.Tid)
}

// follow goes on with the program that the process is now. It is still stopped
// before its first instruction.
func (s *session) follow(path string, args, env []string) (*session, error) {
	j := s.job
	j.Path, j.Args, j.Env = path, args, env
	src, err := read(j, path)
	if err != nil {
		return nil, err
	}
	next, err := prepare(j, s.p, src, s.rate)
	if err != nil {
		return nil, err
	}
	next.lineage.injections = append(s.lineage.injections, next.in)
	next.lineage.replaced = append(s.lineage.replaced, s.job.Path)
	next.progress.reported = s.progress.reported
	return next, nil
}
