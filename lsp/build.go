package lsp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lsp/internal/buildlog"
)

// errMistakes: the build failed by what stands in files of the workspace.
var errMistakes = errors.New("see the diagnostics")

// build runs a target's build command, if it has one. What compilers say when
// it fails becomes diagnostics where they say it.
func (s *server) build(ctx context.Context, t Target, p *progress) error {
	s.change(func(st *state) { st.built = nil })
	s.publish()
	if t.Build == "" {
		return nil
	}
	p.report("building: "+t.Build, -1)
	b := buildlog.New(t.Root)
	err := s.opt.Runner.Build(ctx, t, func(line string) {
		s.log(protocol.MessageTypeLog, t.Name+": "+line)
		b.Add(line)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		return nil
	}
	s.disk.Forget()
	built, mistakes, first := s.view().complaints(b)
	s.change(func(st *state) { st.built = built })
	s.publish()
	if mistakes > 0 {
		return fmt.Errorf("the build of %s failed with %s: %s: %w", t.Name, units.Plural(mistakes, "error"), first, errMistakes)
	}
	for _, line := range b.Tail {
		if m := absent().FindStringSubmatch(line); m != nil {
			tool := m[1] + m[2]
			mend := "start the editor where its folder is in PATH"
			if strings.Contains(tool, "/") {
				mend = "have the build name another"
			}
			return fmt.Errorf("the build of %s failed, for %s is not here: install it, or %s (%s)", t.Name, tool, mend, line)
		}
	}
	if len(b.Tail) == 0 {
		return fmt.Errorf("the build of %s failed (%w) without a word: %s", t.Name, err, t.Build)
	}
	return fmt.Errorf("the build of %s failed (%w): %s", t.Name, err, strings.Join(b.Tail, " · "))
}

// absent is how a shell, and make, say that there is no such command.
var absent = pattern.New(`^(?:/\S*/)?\w*sh: (?:\d+: |line \d+: )?([\w./+-]+): (?:(?:command )?not found|No such file or directory)$|^\S*make(?:\[\d+\])?: ([\w./+-]+): No such file or directory$`)

// complaints are what compilers said of files in the workspace, by path, how many of
// them are errors, and the first of these in words.
func (v *view) complaints(b *buildlog.Log) (built map[string][]protocol.Diagnostic, mistakes int, first string) {
	built = map[string][]protocol.Diagnostic{}
	for _, m := range b.Messages {
		path := v.space.Local(m.File, "")
		if v.space.Root(path) == nil {
			continue
		}
		t := v.space.Text(path)
		if t == nil {
			continue
		}
		if m.Severity == protocol.DiagnosticSeverityError {
			if mistakes++; mistakes == 1 {
				first = fmt.Sprintf("%s:%d: %s", filepath.Base(path), m.Line, m.Text)
			}
		}
		built[path] = append(built[path], protocol.Diagnostic{
			Range: t.Words(v.enc, m.Line-1), Severity: m.Severity, Source: "skewlens build", Message: m.Text,
		})
	}
	return built, mistakes, first
}
