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
// its first complaint, else its last line. A program that prints much waits for who reads
// it, and would be measured waiting: only as many lines are looked at as are logged, and
// of those behind them the last few, when somebody asks.
type heard struct {
	complaint string
	lines     int
	recent    [lastLines]string // as they came; the one of line n is at n modulo lastLines
}

// lastLines of a program are looked at, however much it said before: whoever gives up
// says why at the end.
const lastLines = 16

func (h *heard) add(line string) {
	if line == "" || strings.HasPrefix(line, "skewlens: ") {
		return
	}
	h.recent[h.lines%lastLines] = line
	if h.lines++; h.lines <= maxLines && h.complaint == "" {
		h.complaint = complaint(line)
	}
}

// said is the first complaint, and the last line that says anything.
func (h *heard) said() (first, last string) {
	first = h.complaint
	for n := max(0, h.lines-lastLines); n < h.lines; n++ {
		line := h.recent[n%lastLines]
		if words := readable(line); words != "" {
			last = words
		}
		if first == "" {
			first = complaint(line)
		}
	}
	return first, last
}

// complaint is a line if it complains, as a person reads it.
func complaint(line string) string {
	if line = readable(line); complains().MatchString(line) {
		return line
	}
	return ""
}

// readable is a line without colours, if it is long its beginning.
func readable(line string) string {
	line = strings.TrimSpace(colours().ReplaceAllString(strings.ToValidUTF8(line, ""), ""))
	if len(line) > maxComplaint {
		line = strings.ToValidUTF8(line[:maxComplaint], "") + " …"
	}
	return line
}

// behind adds to the error of a run what the program complained of.
func (h *heard) behind(err error) error {
	first, _ := h.said()
	if first == "" || strings.Contains(err.Error(), first) {
		return err
	}
	return fmt.Errorf("%w: it said “%s”", err, first)
}

// empty words a run in which no threads met: a person wants to know why, and what to do.
func (s *server) empty(out *outcome, t Target, r *results.Result, c *call, h heard) {
	first, last := h.said()
	if said := cmp.Or(first, last); said != "" && r.Report.Run.ExitCode != 0 {
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
