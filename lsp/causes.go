package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
)

// causeView is a cause for lists and trees.
type causeView struct {
	Rank    int                  `json:"rank"`
	Section string               `json:"section"`
	Target  string               `json:"target"`
	Message string               `json:"message"`
	Label   string               `json:"label"`
	Kind    string               `json:"kind"`
	Share   float64              `json:"share"`
	Stale   bool                 `json:"stale"`
	URI     protocol.DocumentURI `json:"uri,omitempty"`
	Range   *protocol.Range      `json:"range,omitempty"`
	Why     string               `json:"why,omitempty"`  // there is no range
	Gain    *float64             `json:"gain,omitempty"` // of the section's time
}

func (v *view) causeView(r *results.Result, c *results.Cause) causeView {
	out := causeView{
		Rank: c.Rank, Section: c.Of.ID, Target: r.Target, Message: describe(r, c), Label: label(r, c),
		Kind: c.Type(), Share: c.Share, Stale: r.Stale(),
	}
	if c.Gain != nil {
		out.Gain = &c.Gain.Fraction
	}
	if out.URI, out.Range = v.where(r, c.At); out.Range == nil {
		out.Why = v.noPlace(r, c)
	}
	return out
}

// where is the line that an anchor stands on; nothing, where there is none to
// be shown.
func (v *view) where(r *results.Result, a *results.Anchor) (protocol.DocumentURI, *protocol.Range) {
	if !r.Stands(a) {
		return "", nil
	}
	t := v.space.Text(a.Path)
	if t == nil {
		return "", nil
	}
	at := t.Words(v.enc, r.Line(a))
	return v.space.URI(a.Path), &at
}

// causes is skewlens.causes: all findings, for trees and quickfix lists.
func (s *server) causes(context.Context, *call) (any, error) {
	v := s.view()
	targets := []wire.Object{}
	for _, r := range v.results.All() {
		sections := []wire.Object{}
		for _, sec := range r.Sections {
			sections = append(sections, v.sectionView(r, sec))
		}
		targets = append(targets, wire.Object{
			"target": r.Target, "root": r.Root, "stale": r.Stale(), "message": v.summary(r),
			"age_s": int(v.now.Sub(r.When).Seconds()), "sections": sections, "runs": runs(r),
		})
	}
	return wire.Object{"targets": targets}, nil
}

func (v *view) sectionView(r *results.Result, sec *results.Section) wire.Object {
	causes := []causeView{}
	for _, c := range v.shownOf(sec) {
		causes = append(causes, v.causeView(r, c))
	}
	o := wire.Object{"id": sec.ID, "kind": sec.Kind, "title": v.title(r, sec), "balanced": sec.Balanced, "causes": causes}
	if sec.Imbalance != nil {
		o["imbalance"] = *sec.Imbalance
	}
	if sec.Negligible {
		o["negligible"] = true
	}
	if uri, at := v.where(r, sec.At); at != nil {
		o["uri"], o["range"] = uri, at
	}
	return o
}

// runs are the imbalances of a target's last runs, oldest first.
func runs(r *results.Result) []float64 {
	out := []float64{}
	for _, p := range r.Runs {
		out = append(out, p.Imbalance)
	}
	return out
}
