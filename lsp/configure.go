package lsp

import (
	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// configure reads again what workspace folders say to run, where that changed,
// and reports whether it did. It is called when a client says that something
// may have, and before a command or a lens, for clients that watch no files;
// not with every key.
func (s *server) configure() bool {
	s.reading.Lock() // one after the other: what was read last is what is there
	defer s.reading.Unlock()
	fresh := s.view().space.Reread()
	if len(fresh) == 0 {
		return false
	}
	s.change(func(st *state) { st.space = st.space.WithRead(fresh) })
	s.refresh() // what is suppressed has no hints any more
	return true
}

// upToDate is configure for requests, and looks whether files that are not open
// are others than they were: not every client watches files.
func (s *server) upToDate() {
	moved := s.reread()
	if s.configure() || moved {
		s.publish()
	}
}

// reread has results stand where their lines are in files that were changed by
// another program, and reports whether there were any: a checkout of another
// branch, a formatter.
func (s *server) reread() bool {
	s.reading.Lock()
	defer s.reading.Unlock()
	changed := s.renamed()
	v := s.view()
	for _, path := range v.results.Paths() {
		if v.space.Open(path) != nil || !s.disk.Changed(path) {
			continue
		}
		t := v.space.Text(path)
		if t == nil {
			continue
		}
		t.Digest()
		s.change(func(st *state) {
			if st.space.Open(path) == nil {
				st.results = st.results.Settle(path, t)
			}
		})
		changed = true
	}
	return changed
}

// renamed has results stand in files that have another name now, and reports whether
// there were any.
func (s *server) renamed() (changed bool) {
	v := s.view()
	for _, r := range v.results.All() {
		for _, path := range r.Paths() {
			to := v.space.Renamed(path, r.Was(path))
			if to == "" || r.Has(to) {
				continue
			}
			next := r.WithName(path, to, v.space, v.space.Text)
			s.change(func(st *state) {
				if st.results.Of(r.Root, r.Target).Same(r) {
					st.results = st.results.With(next)
				}
			})
			r, changed = next, true
		}
	}
	return changed
}

// adopt takes the nearest folder with a configuration for the workspace of a
// file that was opened without one.
func (s *server) adopt(path string) {
	r := s.view().space.Adopt(path)
	if r == nil {
		return
	}
	s.change(func(st *state) { st.space = st.space.WithRoot(r) })
	s.configure()
	s.restore([]*workspace.Root{r})
	s.refreshViews()
}

// restore takes up what was kept of earlier runs.
func (s *server) restore(roots []*workspace.Root) {
	v := s.view()
	for _, r := range roots {
		for _, k := range s.store.Load(r.Path) {
			res := results.New(k, v.space, v.space.Text)
			s.change(func(st *state) {
				if k.Chosen != nil && k.Chosen.Root == r.Path {
					st.space = st.space.WithChosen(*k.Chosen)
				}
				if st.results.Of(k.Root, k.Target) == nil {
					st.results = st.results.With(res)
				}
			})
		}
	}
}

// keep has the cache folder agree with what is known of a target now, whether
// that was found or forgotten.
func (s *server) keep(root, target string) error {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	if r := s.view().results.Of(root, target); r != nil {
		return s.store.Save(r)
	}
	s.store.Remove(root, target)
	return nil
}
