package lsp

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// complains is a line by which programs say that they were called wrongly, or failed.
var complains = pattern.New(`(?i)\b(usage|error|fatal|cannot|can't|could not|couldn't|unable|failed|failure|no such|not found|invalid|missing|must|required|denied|panic|exception|unknown|unrecognized|assertion|attempt|attempted|refused)\b`)

var colours = pattern.New(`\x1b\[[0-9;]*[A-Za-z]`)

// maxComplaint of a program's line are shown, in bytes.
const maxComplaint = 200

// heard is what a program said that failed, as far as a person wants to read it at once:
// its first complaint, else its last line.
type heard struct{ complaint, last string }

func (h *heard) add(line string) {
	line = strings.TrimSpace(colours().ReplaceAllString(strings.ToValidUTF8(line, ""), ""))
	if line == "" || strings.HasPrefix(line, "skewlens: ") {
		return
	}
	if len(line) > maxComplaint {
		line = strings.ToValidUTF8(line[:maxComplaint], "") + " …"
	}
	if h.last = line; h.complaint == "" && complains().MatchString(line) {
		h.complaint = line
	}
}

// behind adds to the error of a run what the program complained of.
func (h *heard) behind(err error) error {
	if h.complaint == "" || strings.Contains(err.Error(), h.complaint) {
		return err
	}
	return fmt.Errorf("%w: it said “%s”", err, h.complaint)
}

// empty words a run in which no threads met: a person wants to know why, and what to do.
func (s *server) empty(out *outcome, t Target, r *results.Result, c *call, h heard) {
	if said := cmp.Or(h.complaint, h.last); said != "" && r.Report.Run.ExitCode != 0 {
		out.Message += " · it said “" + wire.OneLine(said) + "”"
	}
	if path, ok := workspace.FilePath(c.URI); ok && c.Line != nil {
		if text := s.view().space.Text(path); text != nil && *c.Line >= 0 && *c.Line < text.Lines() && pragma().MatchString(text.Line(*c.Line)) && s.finder.Sequential(t.Program) {
			out.Message += " · its OpenMP directives are not compiled: build with -fopenmp"
		}
	}
	for _, w := range r.Report.Warnings {
		if w.Code == "one-thread" && strings.Contains(w.Message, "it started other processes") {
			out.Message += " · it started other processes, which are not profiled: give the command of the one that is meant"
		}
	}
	if len(t.Args) == 0 && t.Stdin == "" && r.Report.Run.ExitCode == 0 {
		out.Message += " · it had no arguments and no input"
	}
	if t.Source == "" {
		out.Message += " · the next click asks again what to run"
	}
}

var pragma = pattern.New(`(?i)^\s*(#\s*pragma\s+omp|[!c*]\$omp)\b`)
