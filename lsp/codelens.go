package lsp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

func (s *server) codeLens(_ context.Context, params json.RawMessage) (any, error) {
	var p protocol.CodeLensParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.InvalidParams(err)
	}
	s.upToDate()
	v := s.view()
	d := s.sited(v, p.TextDocument.URI)
	if d == nil {
		return []protocol.CodeLens{}, nil
	}
	return v.lenses(d), nil
}

// sited is an open document of a file, with what programs know of its
// sections; nil where it is not open, or no file.
func (s *server) sited(v *view, u protocol.DocumentURI) *workspace.Document {
	d := v.space.Document(u)
	if d == nil || d.Path == "" {
		return nil
	}
	if known := v.space.Sited(d, s.programs); known != d {
		s.change(func(st *state) { st.space = st.space.WithSites(known) })
		return known
	}
	return d
}

// lensLine is what there is to say on a line.
type lensLine struct {
	r   *results.Result // nil: not run yet
	sec *results.Section
}

// lensLines are the lines of a document with a section. One that was run is
// shown instead of one that was only found.
func (v *view) lensLines(d *workspace.Document) map[int]lensLine {
	lines := map[int]lensLine{}
	for l := range d.SiteLines() {
		lines[l] = lensLine{}
	}
	for _, r := range v.results.All() {
		for _, sec := range r.Sections {
			if !r.Stands(sec.At) || sec.At.Path != d.Path {
				continue
			}
			// Sections come sorted by what they lose: the first on a line stays.
			if old := lines[r.Line(sec.At)]; old.r == nil || old.r != r && old.r.When.Before(r.When) {
				lines[r.Line(sec.At)] = lensLine{r, sec}
			}
		}
	}
	return lines
}

func (v *view) lenses(d *workspace.Document) []protocol.CodeLens {
	out := []protocol.CodeLens{}
	lines := v.lensLines(d)
	for _, l := range slices.Sorted(maps.Keys(lines)) {
		where := d.Text.Words(v.enc, l)
		for _, c := range v.sectionCommands(d, l, lines[l]) {
			out = append(out, protocol.CodeLens{Range: where, Command: c})
		}
	}
	return append(append(out, v.timedLens(d, lines)...), v.sectionLenses(d)...)
}

// sectionCommands are what can be done about the section on a line.
func (v *view) sectionCommands(d *workspace.Document, line int, l lensLine) []*protocol.Command {
	args := arguments{URI: d.URI, Line: &line}
	if l.r == nil {
		return []*protocol.Command{command("Profile parallel section", "skewlens.profileSection", args)}
	}
	args.Section, args.Target = l.sec.ID, l.r.Target
	out := []*protocol.Command{
		command(v.title(l.r, l.sec), "skewlens.openReport", args),
		command("Profile again", "skewlens.profileSection", args),
	}
	if l.r.Before != nil {
		out = append(out, command("Compare with previous run", "skewlens.compare", args))
	}
	return out
}

func command(title, name string, args arguments) *protocol.Command {
	return &protocol.Command{Title: title, Command: name, Arguments: []any{args}}
}
