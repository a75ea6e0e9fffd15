package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
)

// inlayHint puts a few words behind each line that is a cause.
func (s *server) inlayHint(_ context.Context, params json.RawMessage) (any, error) {
	var p wire.InlayHintParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.InvalidParams(err)
	}
	v := s.view()
	out := []wire.InlayHint{}
	d := v.space.Document(p.TextDocument.URI)
	if d == nil {
		return out, nil
	}
	add := func(r *results.Result, c *results.Cause, at *results.Anchor, words string) {
		if !r.Stands(at) || at.Path != d.Path {
			return
		}
		where := d.Text.Words(v.enc, r.Line(at))
		if where.End.Line < p.Range.Start.Line || where.Start.Line > p.Range.End.Line {
			return
		}
		h := wire.InlayHint{Position: where.End, Label: words, PaddingLeft: true}
		if v.client.TextDocument.InlayHint.Later("tooltip") {
			h.Data = &wire.CauseData{Root: r.Root, Target: r.Target, Section: c.Of.ID, Rank: c.Rank}
		} else {
			h.Tooltip = tooltip(r, c)
		}
		out = append(out, h)
	}
	for r, c := range v.causes() {
		add(r, c, c.At, label(r, c))
		if r.Stands(c.At) {
			add(r, c, c.Via, fmt.Sprintf("◀ #%d in %s", c.Rank, filepath.Base(c.At.Path)))
		}
	}
	return out, nil
}

func tooltip(r *results.Result, c *results.Cause) *protocol.MarkupContent {
	return &protocol.MarkupContent{Kind: protocol.PlainText, Value: describe(r, c)}
}

// maxLabel is what VS Code shows of a hint.
const maxLabel = 43

// label is a cause in a few words, without those that it can do without where
// it would be cut off.
func label(r *results.Result, c *results.Cause) string {
	parts := []string{fmt.Sprintf("◀ #%d", c.Rank), units.Percent(c.Share) + " of imbalance"}
	if c.Gain != nil && c.Gain.Fraction > 0 {
		parts = append(parts, "saves up to "+units.Percent(c.Gain.Fraction))
	}
	if r.Stale() {
		parts = append(parts, "stale")
	}
	l := strings.Join(parts, " · ")
	for _, w := range []struct{ long, short string }{{"up to", "≤"}, {" of imbalance", ""}} {
		if utf8.RuneCountInString(l) > maxLabel {
			l = strings.Replace(l, w.long, w.short, 1)
		}
	}
	return l
}
