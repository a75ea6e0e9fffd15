package lsp

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// prepare builds a target, and finds the program that its build made where that
// was not known before.
func (s *server) prepare(ctx context.Context, t Target, p *progress) (Target, error) {
	t, err := s.firstBuild(ctx, t, p)
	if err != nil || t.Program != "" {
		return s.withLibraries(t), err
	}
	p.report("looking for what was built", -1)
	made, _ := s.finder.Made(t.Root, t.From)
	if len(made) == 0 {
		return s.madeNothing(ctx, t, p)
	}
	chosen, err := s.pickOne(ctx, "What is to be profiled of what was built?", made)
	if err != nil {
		return t, err
	}
	t.Name, t.Program, t.Launcher, t.From = chosen.Name, chosen.Program, chosen.Launcher, ""
	t = s.named(t, t.For)
	if chosen.First != "" {
		t.First, t.Build = chosen.First, chosen.Build
	}
	if whole, target, ok := strings.Cut(chosen.Build, " --target "); ok && strings.HasSuffix(t.Build, whole) {
		t.Build += " --target " + target // from now on it alone is built
	}
	if len(t.Args) == 0 { // else a benchmark's
		if err := s.askArguments(ctx, chosen, &t); err != nil {
			return t, err
		}
	}
	s.change(func(st *state) { st.space = st.space.WithChosen(t) })
	if t.First != "" {
		return s.firstBuild(ctx, t, p)
	}
	return t, nil
}

// madeNothing goes on where a build made no program of the file that is meant: an example
// that the build leaves out is compiled by itself, and of others a person is asked.
func (s *server) madeNothing(ctx context.Context, t Target, p *progress) (Target, error) {
	what := "that has debug information"
	if t.From != "" {
		what = "that is made of " + filepath.Base(t.From)
	}
	why := fmt.Sprintf("%s succeeded, and there is no program %s", t.Build, what)
	alone := s.finder.Alone(t.Root, t.From)
	switch {
	case len(alone) > 0:
		chosen, err := s.pickOne(ctx, why+". What is to be profiled?", alone)
		if err != nil {
			return t, err
		}
		s.log(protocol.MessageTypeInfo, why+": "+chosen.Build)
		t = s.named(chosen.Target, t.For)
		if err := s.askArguments(ctx, chosen, &t); err != nil {
			return t, err
		}
		s.change(func(st *state) { st.space = st.space.WithChosen(t) })
	case !s.view().answers || t.From == "":
		return t, fmt.Errorf("%s: build with -g, or name the program in %s", why, workspace.ConfigName)
	default:
		said, err := s.askCommand(ctx, t.From, why+". What is to be run?", "./NAME", t)
		if err != nil || said.Build == t.Build {
			return s.withLibraries(said), err
		}
		t = said
	}
	t, err := s.firstBuild(ctx, t, p)
	return s.withLibraries(t), err
}

// withLibraries is a target that a person typed, with the libraries made of the file that is
// meant: an interpreter loads them later, and they count only if they are named.
func (s *server) withLibraries(t Target) Target {
	if t.From == "" || t.Program == "" {
		return t
	}
	t.Lib, t.From = s.finder.Libraries(t.Root, t.From), ""
	s.change(func(st *state) { st.space = st.space.WithChosen(t) })
	return t
}

// firstBuild builds a target: from the beginning, where that was chosen, and but once.
func (s *server) firstBuild(ctx context.Context, t Target, p *progress) (Target, error) {
	now := t
	now.Build = cmp.Or(t.First, t.Build)
	if err := s.build(ctx, now, p); err != nil || t.First == "" {
		return t, err
	}
	t.First = ""
	s.change(func(st *state) { st.space = st.space.WithChosen(t) })
	return t, nil
}
