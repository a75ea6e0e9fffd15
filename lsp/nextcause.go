package lsp

import (
	"context"
	"fmt"
	"strings"
)

// causeView is a cause for lists and trees.
type causeView struct {
	Rank    int      `json:"rank"`
	Section string   `json:"section"`
	Target  string   `json:"target"`
	Message string   `json:"message"`
	Label   string   `json:"label"`
	Kind    string   `json:"kind"`
	Share   float64  `json:"share"`
	Stale   bool     `json:"stale"`
	URI     docURI   `json:"uri,omitempty"`
	Range   *span    `json:"range,omitempty"`
	Gain    *float64 `json:"gain,omitempty"` // of the section's time
}

func (s *server) view(r *result, c *causeMark) causeView {
	v := causeView{
		Rank: c.Rank, Section: c.section.ID, Target: r.Target, Message: s.message(r, c), Label: label(r, c),
		Kind: c.kind(), Share: c.Share, Stale: r.stale(),
	}
	if c.Gain != nil {
		v.Gain = &c.Gain.Fraction
	}
	if c.at != nil {
		if t := s.textOf(c.at.path); t != nil {
			where := t.words(s.enc, c.at.now.line)
			v.URI, v.Range = s.uriOf(c.at.path), &where
		}
	}
	return v
}

// causes lists all findings, for trees and quickfix lists.
func (s *server) causes(context.Context, *call) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	targets := []object{}
	for _, r := range s.sorted() {
		sections := []object{}
		for _, sec := range r.sections {
			views := []causeView{}
			for _, c := range s.shownCauses(sec) {
				views = append(views, s.view(r, c))
			}
			o := object{"id": sec.ID, "kind": sec.Kind, "title": s.title(r, sec), "balanced": sec.Balanced, "causes": views}
			if sec.Imbalance != nil {
				o["imbalance"] = *sec.Imbalance
			}
			if sec.at != nil {
				if t := s.textOf(sec.at.path); t != nil {
					o["uri"], o["range"] = s.uriOf(sec.at.path), t.words(s.enc, sec.at.now.line)
				}
			}
			sections = append(sections, o)
		}
		targets = append(targets, object{
			"target": r.Target, "root": r.Root, "stale": r.stale(), "message": s.summary(r),
			"age_s": int(s.opt.Now().Sub(r.When).Seconds()), "sections": sections,
		})
	}
	return object{"targets": targets}, nil
}

// nextCause shows the next cause by rank, after the one on the line that the
// client is at, or else after the one shown last.
func (s *server) nextCause(_ context.Context, c *call) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, _ := filePath(c.URI)
	var all []causeView
	next := 0
	for _, r := range s.sorted() {
		for _, sec := range r.sections {
			for _, m := range s.shownCauses(sec) {
				v := s.view(r, m)
				if v.Range == nil || c.Target != "" && r.Target != c.Target {
					continue
				}
				all = append(all, v)
				at := c.Line != nil && m.at.path == path && m.at.now.line == *c.Line
				if at || c.Line == nil && v.name() == s.shown {
					next = len(all)
				}
			}
		}
	}
	if len(all) == 0 {
		s.show(typeInfo, "skewlens: there is no cause to show; profile first")
		return nil, nil
	}
	v := all[next%len(all)]
	s.shown = v.name()
	if !s.client.Window.ShowDocument.Support {
		path, _ := filePath(v.URI)
		if r := s.rootOf(path); r != nil {
			path = strings.TrimPrefix(path, strings.TrimSuffix(r.path, "/")+"/")
		}
		s.show(typeInfo, fmt.Sprintf("skewlens: %s:%d %s", path, v.Range.Start.Line+1, v.Label))
	}
	s.showDocument(v.URI, false, v.Range)
	return v, nil
}

func (v *causeView) name() string { return fmt.Sprintf("%s\x00%s\x00%d", v.Target, v.Section, v.Rank) }

// showDocument opens a document in the client, if that can.
func (s *server) showDocument(uri docURI, external bool, where *span) {
	if !s.client.Window.ShowDocument.Support {
		return
	}
	p := object{"uri": uri, "external": external, "takeFocus": true}
	if where != nil {
		p["selection"] = where
	}
	s.ask("window/showDocument", p)
}
