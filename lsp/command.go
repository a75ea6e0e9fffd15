package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// askCommand asks a person for the command that runs a program with the file at path in
// it. known is what is known of it, and how it is built.
func (s *server) askCommand(ctx context.Context, path, title, example string, known Target) (Target, error) {
	line, said := s.words(ctx, title, "as in a terminal in "+filepath.Base(known.Root)+": "+example+" arguments")
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
	t.From = path // a library made of it may be there once it is built
	t = s.named(t, path)
	s.change(func(st *state) { st.space = st.space.WithChosen(t) })
	return t, nil
}

// nothingFound asks what to run, or says that this is not known, to a client that cannot be asked.
func (s *server) nothingFound(ctx context.Context, v *view, root, path string) (Target, error) {
	if !v.answers || path == "" || slices.ContainsFunc(v.space.Roots(), func(r *workspace.Root) bool { return len(r.Problems) > 0 }) {
		return Target{}, v.noTarget()
	}
	title, typed := fmt.Sprintf("No program made of %s was found", filepath.Base(path)), example(path)
	if file, how := s.finder.Foreign(root, path); file != "" {
		title, typed = title+", and by "+file+" skewlens cannot build", how
	} else {
		title += ", and nothing that builds one"
	}
	return s.askCommand(ctx, path, title+". What is to be run?", typed, Target{Root: root})
}

// example is a command that a person might type to run a program made of a file.
func example(path string) string {
	if filepath.Ext(path) == ".go" {
		return "go build -o NAME ./cmd/NAME && ./NAME"
	}
	return "make && ./NAME"
}
