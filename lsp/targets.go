package lsp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/skewlens/skewlens/lsp/internal/discover"
	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// listTargets is skewlens.targets.
func (s *server) listTargets(context.Context, *call) (any, error) {
	out := []wire.Object{}
	for _, t := range s.view().space.Targets() {
		args := t.Args
		if args == nil {
			args = []string{}
		}
		out = append(out, wire.Object{"name": t.Name, "root": t.Root, "program": t.Program, "args": args, "threads": t.Threads, "build": t.Build, "source": t.Source})
	}
	return out, nil
}

// errNoTarget: nobody has said what to run.
var errNoTarget = errors.New("what to run is not known yet")

// choose finds the target that a command means, of those that somebody named.
// Clients may say nothing.
func (s *server) choose(v *view, c *call) (Target, error) {
	all := v.space.Targets()
	path, _ := workspace.FilePath(c.URI)
	if c.URI == "" {
		path, _ = workspace.FilePath(v.recent)
	}
	folder := ""
	if r := v.space.Root(path); r != nil {
		folder = r.Path
	}
	if c.Target != "" {
		return named(all, c.Target, folder)
	}
	if t, ok := s.madeOf(v, all, path); ok {
		return t, nil
	}
	if t, ok := s.ofFolder(all, folder, path); ok {
		return t, nil
	}
	if len(all) > 0 && (path == "" || folder == "" && v.space.Document(c.URI) == nil) {
		return all[0], nil // no file of another project is meant
	}
	return Target{}, v.noTarget()
}

// forgotten takes the name of a target from a call that is not known any more: nobody wrote
// it down, and it came to nothing, or the configuration that had it is another by now. A lens
// of what it did before still has it, and means what is there in its place.
func (v *view) forgotten(c *call) {
	if slices.ContainsFunc(v.space.Targets(), func(t Target) bool { return t.Name == c.Target }) {
		return
	}
	for _, r := range v.results.All() {
		if r.Target == c.Target && (r.Chosen != nil || c.URI != "") {
			c.Target = ""
			return
		}
	}
}

// testAt is the one test that the section on a line is in, where nobody has written down
// what to run for its file: of all tests, most have nothing to do with it.
func (s *server) testAt(v *view, c *call, section bool) (Target, bool) {
	path, _ := workspace.FilePath(c.URI)
	root := v.space.Root(path)
	if !section || c.Target != "" || c.Line == nil || root == nil {
		return Target{}, false
	}
	found, ok := s.finder.TestAt(root.Path, path, *c.Line)
	if !ok || slices.ContainsFunc(root.Targets, func(t Target) bool { return t.Source != "" && s.finder.Holds(t.Program, path) != discover.No }) {
		return Target{}, false
	}
	t := s.named(found.Target, path)
	s.change(func(st *state) { st.space = st.space.WithChosen(t) })
	return t, true
}

// isOld reports whether a program that nobody said how to build is older than the file that
// is meant: somebody compiled it by hand, and forgets it after an edit. A person is asked
// again, for by now there may be a way to build it, or it is compiled from that file alone.
func (s *server) isOld(t Target, c *call) bool {
	path, _ := workspace.FilePath(c.URI)
	return t.Source == "" && t.Build == "" && s.finder.Holds(t.Program, path) == discover.Yes && s.newer([]string{t.Program}, []string{path})[path]
}

// ofFolder is the target of a folder that is made of a file; else the first of
// which that can be. A file that surely belongs to none of them has none.
func (s *server) ofFolder(all []Target, folder, path string) (Target, bool) {
	var first *Target
	for i, t := range all {
		if folder == "" || t.Root != folder {
			continue
		}
		switch s.finder.Holds(t.Program, path) {
		case discover.Yes:
			return t, true
		case discover.Unknown:
			if first == nil && (t.For == "" || s.finder.Home(t.For) == s.finder.Home(path)) { // a person meant that project
				first = &all[i]
			}
		}
	}
	if first == nil {
		return Target{}, false
	}
	return *first, true
}

// named is the target of a name; of several that of a folder, else the first.
func named(all []Target, name, folder string) (Target, error) {
	var found *Target
	for i := range all {
		if all[i].Name == name && (found == nil || folder != "" && all[i].Root == folder) {
			found = &all[i]
		}
	}
	if found == nil {
		return Target{}, fmt.Errorf("no target is called %q: add it to %s", name, workspace.ConfigName)
	}
	return *found, nil
}

// madeOf is the target that is known to be made of a file: by its results, or
// by the calls in its program.
func (s *server) madeOf(v *view, all []Target, path string) (Target, bool) {
	for _, r := range v.results.All() {
		for _, t := range all {
			if r.Has(path) && t.Root == r.Root && (t.Name == r.Target || results.Timed(t.Name) == r.Target) {
				return t, true
			}
		}
	}
	if v.space.Open(path) == nil {
		return Target{}, false
	}
	for _, t := range all {
		if s.programs.Hold(v.space, t, path) {
			return t, true
		}
	}
	return Target{}, false
}

// noTarget says why there is none, and how to say what to run.
func (v *view) noTarget() error {
	roots := v.space.Roots()
	for _, r := range roots {
		for path := range r.Problems {
			return fmt.Errorf("no target is configured, for %s has mistakes: see its diagnostics", path)
		}
	}
	where := "the workspace folder"
	if len(roots) > 0 {
		where = roots[0].Path
	} else if path, ok := workspace.FilePath(v.recent); ok {
		where = filepath.Dir(path)
	}
	passed := ""
	for _, r := range roots {
		if len(r.Passed) > 0 {
			passed = " (" + r.Passed[0] + ")"
		}
	}
	return fmt.Errorf("%w%s: no program made of this file was found, and nothing that builds one. Put a file %s into %s with these lines: [[target]], program = \"path of the program\", "+
		"and, if you like, build = \"command\", args = [\"…\"], threads = 8", errNoTarget, passed, workspace.ConfigName, where)
}
