package native

import (
	"cmp"

	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// exec ends a program that another one takes the place of (execve). That one
// is followed, if so wished and possible, else let go.
func (r *run) exec(e tracee.Event) error {
	r.drain()
	for _, t := range r.threads {
		if !t.dead {
			r.death(t)
		}
	}
	path, args, err := r.p.Replaced()
	r.execed = cmp.Or(path, "another program")
	if r.c.FollowExec {
		if err == nil {
			r.next, err = r.follow(path, args)
		}
		if err == nil {
			return nil
		}
		r.refused = err
	}
	return r.p.Detach(e.Tid)
}

// follow goes on with the program that the process is now. It is still stopped
// before its first instruction.
func (r *run) follow(path string, args []string) (*run, error) {
	s, err := read(r.c, path)
	if err != nil {
		return nil, err
	}
	c := r.c
	c.Path, c.Args = path, args
	next, err := newRun(c, r.p, s, r.nsPerTick)
	if err != nil {
		return nil, err
	}
	next.ever = append(r.ever, next.in)
	next.replaced = append(r.replaced, r.c.Path)
	next.reported = r.reported
	return next, nil
}

// mute lets a forked child count where nobody reads. It may still be of a
// program whose place another one has taken.
func (r *run) mute(child int) error {
	gs, err := r.p.GS(child)
	if err != nil {
		return err
	}
	for _, in := range r.ever {
		if gs >= in.base(0) && gs < in.base(in.slots) {
			return r.p.SetGS(child, in.base(0))
		}
	}
	return nil
}
