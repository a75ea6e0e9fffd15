package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// codeAction offers what lenses do, for clients without lenses, and more.
func (s *server) codeAction(_ context.Context, params json.RawMessage) (any, error) {
	var p struct {
		textDocument
		Range   span `json:"range"`
		Context struct {
			Only []string `json:"only"`
		} `json:"context"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, invalid(err)
	}
	programs := s.programs(p.TextDocument.URI)
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []codeAction{}
	d := s.docs[key(p.TextDocument.URI)]
	if d == nil || d.path == "" {
		return out, nil
	}
	s.takeSites(d, programs)
	first, last := d.text.point(s.enc, p.Range.Start).line, d.text.point(s.enc, p.Range.End).line
	out = append(out, s.causeActions(d, first, last)...)
	lines := s.lensLines(d)
	for l := first; l <= last && l-first < 1000; l++ {
		if on, ok := lines[l]; ok {
			for _, c := range s.sectionCommands(d, l, on) {
				if c.Command == "skewlens.openReport" {
					c.Title = "Open report: " + c.Title
				}
				out = append(out, codeAction{Title: c.Title, Command: &c})
			}
		}
	}
	out = append(out, s.targetActions(d)...)
	kept := []codeAction{}
	for _, a := range out {
		if wanted(a.Kind, p.Context.Only) {
			kept = append(kept, a)
		}
	}
	return kept, nil
}

// wanted: a client may ask for some kinds only.
func wanted(kind string, only []string) bool {
	for _, o := range only {
		if o == "" || kind == o || strings.HasPrefix(kind, o+".") {
			return true
		}
	}
	return len(only) == 0
}

// causeActions are about the causes on some lines.
func (s *server) causeActions(d *document, first, last int) []codeAction {
	var out []codeAction
	for _, r := range s.sorted() {
		for _, sec := range r.sections {
			for _, c := range s.shownCauses(sec) {
				if c.at == nil || c.at.path != d.path || c.at.now.line < first || c.at.now.line > last {
					continue
				}
				line := c.at.now.line
				args := arguments{URI: d.uri, Line: &line, Section: sec.ID, Target: r.Target}
				about := []diagnostic{s.diagnose(r, c, d.text)}
				out = append(out,
					codeAction{Title: "Go to the next cause", Kind: "quickfix", Diagnostics: about, Command: &command{"Go to the next cause", "skewlens.nextCause", []any{args}}},
					codeAction{Title: fmt.Sprintf("Do not show this finding again (#%d of %s)", c.Rank, sec.ID), Kind: "quickfix", Diagnostics: about, Edit: s.suppression(c)},
				)
			}
		}
	}
	return out
}

// targetActions are about whole programs.
func (s *server) targetActions(d *document) []codeAction {
	var out []codeAction
	add := func(title, name string, args arguments) {
		out = append(out, codeAction{Title: title, Command: &command{title, name, []any{args}}})
	}
	if r := s.rootOf(d.path); r != nil {
		for i, t := range s.refresh(r).targets {
			if i == 8 {
				break
			}
			add("Profile "+t.Name, "skewlens.profileTarget", arguments{URI: d.uri, Target: t.Name})
		}
	}
	for _, r := range s.sorted() {
		if r.files[d.path] != nil {
			add("Open report of "+r.Target, "skewlens.openReport", arguments{URI: d.uri, Target: r.Target})
			add("Clear findings of "+r.Target, "skewlens.clear", arguments{URI: d.uri, Target: r.Target})
		}
	}
	return out
}

// suppression is the edit that adds a finding to those that are not shown. The
// client makes it, so that a person sees it and can undo it; this server
// writes nothing into a workspace.
func (s *server) suppression(c *causeMark) any {
	r := s.rootOf(c.at.path)
	if r == nil {
		return object{"changes": object{}}
	}
	rel, err := filepath.Rel(r.path, c.at.path)
	if err != nil {
		rel = c.at.path
	}
	add := fmt.Sprintf("[[suppress]]\nfile = %s\nfunction = %s\nkind = %s\nline = %s\n",
		tomlString(rel), tomlString(c.Location.Function), tomlString(c.kind()), tomlString(c.at.line))
	path := filepath.Join(r.path, configName)
	uri := s.uriOf(path)
	end := position{}
	t := s.textOf(path)
	_, statErr := os.Stat(path)
	exists := t != nil || statErr == nil
	if t != nil && t.s != "" {
		last := t.lines() - 1
		end = t.position(s.enc, point{last, len(t.line(last))})
		if t.line(last) != "" {
			add = "\n" + add
		}
		add = "\n" + add
	}
	edits := []object{{"range": span{Start: end, End: end}, "newText": add}}
	can := s.client.Workspace.WorkspaceEdit
	creates := false
	for _, op := range can.ResourceOperations {
		creates = creates || op == "create"
	}
	if !can.DocumentChanges || !exists && !creates {
		return object{"changes": map[docURI][]object{uri: edits}}
	}
	changes := []any{}
	if !exists {
		changes = append(changes, object{"kind": "create", "uri": uri, "options": object{"ignoreIfExists": true}})
	}
	var version any
	if d := s.docs[path]; d != nil {
		version = d.version
	}
	return object{"documentChanges": append(changes, object{"textDocument": object{"uri": uri, "version": version}, "edits": edits})}
}

// tomlString quotes as TOML does: like Go, but for what Go writes as \x and \a.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\u00` + strconv.FormatInt(int64(r)+0x100, 16)[1:])
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}
