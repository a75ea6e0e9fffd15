package lsp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// outcome is how a run ended: exactly one of completed, failed, cancelled.
type outcome struct {
	Outcome   string   `json:"outcome"`
	Message   string   `json:"message"`
	Target    string   `json:"target,omitempty"`
	Imbalance *float64 `json:"imbalance,omitempty"`
	Causes    int      `json:"causes"`
}

var errUnsaved = errors.New("save first, the program would not be what you see")

// unsaved refuses a run while the program could not be what is seen.
func (v *view) unsaved(t Target) error {
	if names := v.space.Unsaved(t); len(names) > 0 {
		return fmt.Errorf("%w: %s", errUnsaved, strings.Join(names, ", "))
	}
	return nil
}

// ends words the end of a run, and shows a failure.
func (s *server) ends(t Target, res *results.Result, err error) outcome {
	out := outcome{Target: t.Name}
	switch {
	case errors.Is(err, context.Canceled):
		out.Outcome, out.Message = "cancelled", "cancelled"
	case err != nil:
		out.Outcome, out.Message = "failed", wire.OneLine(err.Error())
		kind := protocol.MessageTypeError
		if errors.Is(err, errUnsaved) { // nothing is wrong yet
			kind = protocol.MessageTypeWarning
		}
		s.show(kind, "skewlens: "+out.Message)
	default:
		v := s.view()
		out.Outcome, out.Message, out.Causes = "completed", v.summary(res), v.count(res)
		if res.Scaling == nil && !idle(res) { // of no section nothing is known
			worst, _ := res.Report.Worst()
			out.Imbalance = &worst
		}
	}
	return out
}

// narrow words the outcome for the section that was asked for: the one on the
// line, for the section's name may be of an older run, and another's by now. The
// line is one of what was in view then.
func (v *view) narrow(out *outcome, res *results.Result, c *call, then *view) {
	if now := v.results.Of(res.Root, res.Target); now != nil && now.Report == res.Report {
		res = now // edited since
	}
	path, _ := workspace.FilePath(c.URI)
	line := res.Line
	if was, now := then.space.Open(path), v.space.Open(path); was != nil && now != nil && was.Text != now.Text {
		line = func(a *results.Anchor) int { return a.Point.Line } // the call is older than what was typed while it ran
	}
	var asked *results.Section
	for _, sec := range res.Sections {
		if c.Line != nil && sec.At != nil && sec.At.Path == path && line(sec.At) == *c.Line {
			asked = sec
			break
		}
		if asked == nil && c.Section != "" && sec.ID == c.Section {
			asked = sec
		}
	}
	if asked != nil {
		out.Message = asked.ID + ": " + v.title(res, asked)
		if w := v.paths(res); w != "" {
			out.Message += " · " + w
		}
		out.Imbalance, out.Causes = asked.Imbalance, len(v.shownOf(asked))
		return
	}
	known := slices.ContainsFunc(res.Sections, func(sec *results.Section) bool { return sec.At != nil })
	if known && !res.Behind && (c.Section != "" || c.Line != nil) { // of a program that is older nobody knows the lines
		out.Message += " (nothing was found on the line that was asked for: threads may meet where its function is called)"
	}
}
