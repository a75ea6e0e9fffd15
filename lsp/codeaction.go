package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// Bounds of what is offered at once.
const (
	maxActionLines   = 1000
	maxActionTargets = 8
)

// codeAction offers what lenses do, for clients without lenses, and more.
func (s *server) codeAction(_ context.Context, params json.RawMessage) (any, error) {
	var p protocol.CodeActionParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.InvalidParams(err)
	}
	s.upToDate()
	v := s.view()
	d := s.sited(v, p.TextDocument.URI)
	if d == nil {
		return []wire.CodeAction{}, nil
	}
	first, last := d.Text.Point(v.enc, p.Range.Start).Line, d.Text.Point(v.enc, p.Range.End).Line
	out := append([]wire.CodeAction{}, v.causeActions(d, first, last)...)
	lines := v.lensLines(d)
	for l := first; l <= min(last, first+maxActionLines-1); l++ {
		on, ok := lines[l]
		if !ok {
			continue
		}
		for _, c := range v.sectionCommands(d, l, on) {
			if c.Command == "skewlens.openReport" {
				c.Title = "Open report: " + c.Title
			}
			out = append(out, doing(c))
		}
	}
	out = append(out, v.targetActions(d)...)
	return slices.DeleteFunc(out, func(a wire.CodeAction) bool { return !wanted(a.Kind, p.Context.Only) }), nil
}

// wanted: a client may ask for some kinds only.
func wanted(kind protocol.CodeActionKind, only []protocol.CodeActionKind) bool {
	for _, o := range only {
		if o == "" || kind == o || strings.HasPrefix(string(kind), string(o)+".") {
			return true
		}
	}
	return len(only) == 0
}

// doing is an action that is a command.
func doing(c *protocol.Command) wire.CodeAction {
	return wire.CodeAction{CodeAction: protocol.CodeAction{Title: c.Title, Command: c}}
}

// causeActions are about the findings on some lines.
func (v *view) causeActions(d *workspace.Document, first, last int) []wire.CodeAction {
	var out []wire.CodeAction
	for r, c := range v.causes() {
		if !r.Stands(c.At) || c.At.Path != d.Path || r.Line(c.At) < first || r.Line(c.At) > last {
			continue
		}
		line := r.Line(c.At)
		about := []protocol.Diagnostic{v.diagnose(r, c, d.Text)}
		next := doing(command("Go to the next cause", "skewlens.nextCause", arguments{URI: d.URI, Line: &line, Section: c.Of.ID, Target: r.Target}))
		next.Kind, next.Diagnostics = protocol.QuickFix, about
		what := doing(command("What “"+c.Type()+"” means, and what to do about it", "skewlens.explain", arguments{URI: d.URI, Kind: heading(c)}))
		what.Kind, what.Diagnostics = protocol.QuickFix, about
		hide := v.hiding(c.At, c.Location.Function, c.Type())
		hide.Title, hide.Kind, hide.Diagnostics = fmt.Sprintf("Do not show this finding again (#%d of %s)", c.Rank, c.Of.ID), protocol.QuickFix, about
		out = append(out, next, what, hide)
	}
	for r, h := range v.hints() {
		if h.At.Path == d.Path && r.Line(h.At) >= first && r.Line(h.At) <= last {
			hide := v.hiding(h.At, h.Location.Function, h.Code())
			hide.Title, hide.Kind = "Do not show this hint again ("+h.Code()+")", protocol.QuickFix
			hide.Diagnostics = []protocol.Diagnostic{v.hint(r, h, d.Text)}
			out = append(out, hide)
		}
	}
	return out
}

// hiding is an action that adds a finding to those that are not shown; its edit
// comes when it is chosen, where the client can ask for it.
func (v *view) hiding(at *results.Anchor, function, kind string) wire.CodeAction {
	h := hidden{Path: at.Path, Function: function, Kind: kind, Line: at.Was}
	if v.client.TextDocument.CodeAction.Later("edit") {
		return wire.CodeAction{CodeAction: protocol.CodeAction{Data: h}}
	}
	return wire.CodeAction{Edit: v.suppression(h)}
}

// targetActions are about whole programs.
func (v *view) targetActions(d *workspace.Document) []wire.CodeAction {
	var out []wire.CodeAction
	add := func(title, name, target string) {
		out = append(out, doing(command(title, name, arguments{URI: d.URI, Target: target})))
	}
	if r := v.space.Root(d.Path); r != nil {
		for _, t := range r.Targets[:min(len(r.Targets), maxActionTargets)] {
			add("Profile "+t.Name, "skewlens.profileTarget", t.Name)
			add("Measure speedup of "+t.Name, "skewlens.scaleTarget", t.Name)
		}
	}
	for _, r := range v.results.All() {
		if r.Has(d.Path) {
			add("Open report of "+r.Target, "skewlens.openReport", r.Target)
			add("Clear findings of "+r.Target, "skewlens.clear", r.Target)
		}
	}
	return out
}
