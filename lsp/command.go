package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// askCommand asks a person for the command that runs a program with the file at path in
// it, where nothing was found that does: what was tried says why. known is what was, and
// how it is built.
func (s *server) askCommand(ctx context.Context, path, why string, known Target) (Target, error) {
	file, example := s.finder.Foreign(known.Root, path)
	switch {
	case known.Build != "":
		example = "./NAME"
	case file == "":
		why += ", and nothing that builds one"
	default:
		why += ", and by " + file + " skewlens cannot build"
	}
	line, said := s.words(ctx, why+". What is to be run?", "as in a terminal in "+filepath.Base(known.Root)+": "+example+" arguments")
	if !said {
		return known, context.Canceled
	}
	t := Target{Root: known.Root, Cwd: known.Root}
	if err := t.TakeCommand(line); err != nil {
		return known, err
	}
	if t.Build == "" {
		t.Build = known.Build
	}
	if path != "" {
		t.Lib = s.finder.Libraries(t.Root, path) // loaded later, by an interpreter
	}
	s.change(func(st *state) { st.space = st.space.WithChosen(t) })
	return t, nil
}

// nothingFound asks what to run, or says that this is not known, to a client that cannot be asked.
func (s *server) nothingFound(ctx context.Context, v *view, root, path string) (Target, error) {
	if !v.answers || path == "" || slices.ContainsFunc(v.space.Roots(), func(r *workspace.Root) bool { return len(r.Problems) > 0 }) {
		return Target{}, v.noTarget()
	}
	return s.askCommand(ctx, path, fmt.Sprintf("No program made of %s was found", filepath.Base(path)), Target{Root: root})
}
