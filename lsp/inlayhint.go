package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skewlens/skewlens/internal/units"
)

// inlayHint puts a few words behind each line that is a cause.
func (s *server) inlayHint(_ context.Context, params json.RawMessage) (any, error) {
	var p struct {
		textDocument
		Range span `json:"range"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, invalid(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []inlayHint{}
	d := s.docs[key(p.TextDocument.URI)]
	if d == nil {
		return out, nil
	}
	for _, r := range s.sorted() {
		for _, sec := range r.sections {
			for _, c := range s.shownCauses(sec) {
				if c.at == nil || c.at.path != d.path {
					continue
				}
				where := d.text.words(s.enc, c.at.now.line)
				if where.End.Line < p.Range.Start.Line || where.Start.Line > p.Range.End.Line {
					continue
				}
				out = append(out, inlayHint{Position: where.End, Label: label(r, c), PaddingLeft: true, Tooltip: &markupContent{"plaintext", s.message(r, c)}})
			}
		}
	}
	return out, nil
}

// maxLabel is what VS Code shows of a hint.
const maxLabel = 43

// label is a cause in a few words, without those that it can do without where
// it would be cut off.
func label(r *result, c *causeMark) string {
	parts := []string{fmt.Sprintf("◀ #%d", c.Rank), units.Percent(c.Share) + " of imbalance"}
	if c.Gain != nil && c.Gain.Fraction > 0 {
		parts = append(parts, "up to −"+units.Percent(c.Gain.Fraction)+" time")
	}
	if r.stale() {
		parts = append(parts, "stale")
	}
	l := strings.Join(parts, " · ")
	for _, word := range []string{"up to ", " time"} {
		if utf8.RuneCountInString(l) > maxLabel {
			l = strings.Replace(l, word, "", 1)
		}
	}
	return l
}
