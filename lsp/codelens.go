package lsp

import (
	"context"
	"encoding/json"
	"sort"
)

func (s *server) codeLens(_ context.Context, params json.RawMessage) (any, error) {
	var p textDocument
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, invalid(err)
	}
	programs := s.programs(p.TextDocument.URI)
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[key(p.TextDocument.URI)]
	if d == nil || d.path == "" {
		return []codeLens{}, nil
	}
	s.takeSites(d, programs)
	return s.lenses(d), nil
}

// programs reads the programs that a document may belong to; without the lock,
// for that takes as long as they are large.
func (s *server) programs(u docURI) map[*Target]programSites {
	path, ok := filePath(u)
	if !ok {
		return nil
	}
	s.mu.Lock()
	var targets []Target
	if r := s.rootOf(path); r != nil {
		targets = s.refresh(r).targets
	}
	s.mu.Unlock()
	out := map[*Target]programSites{}
	for i := range targets {
		if p := s.sites.get(targets[i].Program); len(p.found) > 0 {
			out[&targets[i]] = p
		}
	}
	return out
}

// lensLine is what there is to say on a line.
type lensLine struct {
	r   *result // nil: not run yet
	sec *sectionMark
}

// lensLines are the lines of a document with a section. One that was run is
// shown instead of one that was only found.
func (s *server) lensLines(d *document) map[int]lensLine {
	lines := map[int]lensLine{}
	for l := range d.siteLines() {
		lines[l] = lensLine{}
	}
	for _, r := range s.sorted() {
		for _, sec := range r.sections {
			if sec.at == nil || sec.at.path != d.path {
				continue
			}
			// Sections come sorted by what they lose: the first on a line stays.
			if old := lines[sec.at.now.line]; old.r == nil || old.r != r && old.r.When.Before(r.When) {
				lines[sec.at.now.line] = lensLine{r, sec}
			}
		}
	}
	return lines
}

func (s *server) lenses(d *document) []codeLens {
	out := []codeLens{}
	lines := s.lensLines(d)
	order := make([]int, 0, len(lines))
	for l := range lines {
		order = append(order, l)
	}
	sort.Ints(order)
	for _, l := range order {
		where := d.text.words(s.enc, l)
		for _, c := range s.sectionCommands(d, l, lines[l]) {
			out = append(out, codeLens{Range: where, Command: &c})
		}
	}
	return out
}

// sectionCommands are what can be done about the section on a line.
func (s *server) sectionCommands(d *document, line int, l lensLine) []command {
	args := arguments{URI: d.uri, Line: &line}
	if l.r == nil {
		return []command{{"Profile parallel section", "skewlens.profileSection", []any{args}}}
	}
	args.Section, args.Target = l.sec.ID, l.r.Target
	out := []command{
		{s.title(l.r, l.sec), "skewlens.openReport", []any{args}},
		{"Profile again", "skewlens.profileSection", []any{args}},
	}
	if l.r.Before != nil {
		out = append(out, command{"Compare with previous run", "skewlens.compare", []any{args}})
	}
	return out
}
