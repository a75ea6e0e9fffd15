// Package text writes a report for people at a terminal: what was found, section
// by section and cause by cause, a bar for each thread, the guilty lines.
//
//	report.Report ──▶ words ──▶ lines of facts, bars, excerpts ──▶ as wide as the terminal
//
// Control characters in other people's names are taken out; colours are ours.
package text

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
	"github.com/skewlens/skewlens/report/source"
)

// Options say where the text goes; the zero value is plain text, 100 wide,
// without source excerpts.
type Options struct {
	Color  bool
	Width  int          // of the terminal; 0: 100
	Dir    string       // paths below it are shown relative to it
	Source source.Lines // nil: no excerpts
}

// Write writes the report. An error is the writer's.
func Write(w io.Writer, r *report.Report, opt Options) error {
	if opt.Width == 0 {
		opt.Width = 100
	}
	opt.Width = max(opt.Width, 40)
	b := bufio.NewWriter(w)
	t := writer{w: b, opt: opt, paths: words.Paths{Dir: opt.Dir}}
	t.header(r)
	t.warnings("", r.Warnings)
	if r.Ranks != nil {
		t.prose("", "  ", r.Ranks.Message)
	}
	long := false
	hidden := 0
	for i := range r.Sections {
		s := &r.Sections[i]
		if s.Negligible && !s.Balanced && s.Imbalance != nil {
			hidden++
			continue
		}
		if !words.Brief(s) || long || i == 0 {
			t.line("", "")
		}
		long = !words.Brief(s)
		t.section(s)
	}
	if hidden > 0 {
		t.line("", "")
		t.line("", units.Plural(hidden, "section")+" lost too little of the run to matter")
	}
	t.criticalPath(r)
	t.memory(r.Memory)
	t.sizes(r.CacheSizes)
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// writer lays a report out in lines.
type writer struct {
	w     io.Writer
	opt   Options
	paths words.Paths
}

func (t *writer) line(indent, s string) {
	if s = strings.TrimRight(indent+s, " "); s == "" {
		io.WriteString(t.w, "\n")
		return
	}
	io.WriteString(t.w, s+"\n")
}

// facts writes what fits on a line, and goes on below with a deeper indent.
func (t *writer) facts(indent, deeper string, facts []string) {
	lines := wrap(facts, words.Dot, t.opt.Width-width(indent), t.opt.Width-width(deeper))
	for i, l := range lines {
		if i == 0 {
			t.line(indent, l)
		} else {
			t.line(deeper, l)
		}
	}
}

func (t *writer) prose(indent, deeper, s string) {
	for i, l := range wrap(strings.Fields(units.Printable(s)), " ", t.opt.Width-width(indent), t.opt.Width-width(deeper)) {
		if i == 0 {
			t.line(indent, l)
		} else {
			t.line(deeper, l)
		}
	}
}

func (t *writer) header(r *report.Report) {
	t.line("", t.paint(bold, words.Cut(t.paths.Command(r), t.opt.Width)))
	t.facts("", "", words.Run(r))
}

func (t *writer) warnings(indent string, ws []report.Warning) {
	for _, w := range ws {
		t.prose(indent+t.paint(yellow, "! "), indent+"  ", w.Message+" ["+w.Code+"]")
	}
}

func (t *writer) section(s *report.Section) {
	facts := []string{t.paint(bold, words.Cut(t.paths.Section(s), t.opt.Width)), s.Kind, units.Plural(s.Instances, "instance")}
	if s.TimeS != nil {
		facts = append(facts, units.Seconds(*s.TimeS))
	}
	if words.Brief(s) {
		verdict := words.Verdict(s)
		if s.Balanced && s.Imbalance != nil {
			verdict = t.paint(green, verdict)
		}
		t.facts("", "    ", append(facts, verdict))
		t.warnings("  ", words.Warnings(s))
		return
	}
	facts = append(facts, t.paint(red, words.Imbalance(s)))
	for _, w := range []string{words.Waited(s), words.Virtual(s)} {
		if w != "" {
			facts = append(facts, w)
		}
	}
	if g := s.JointGain; g != nil && len(s.Causes) > 1 {
		facts = append(facts, "all causes balanced: up to "+words.Gain(s, g))
	}
	t.facts("", "    ", facts)
	t.warnings("  ", s.Warnings)
	t.threadBars(s)
	if s.Memory != nil {
		t.facts("  memory ", "         ", s.Memory.Words())
	}
	if s.Hardware != nil {
		t.facts("  counted ", "          ", words.Hardware(s.Hardware))
	}
	if v := words.Verified(s); v != "" {
		t.prose("  ", "  ", v)
	}
	if s.CacheSizes != nil {
		t.facts("  caches ", "         ", s.CacheSizes.Words())
	}
	for i := range s.Causes {
		t.cause(s, &s.Causes[i])
	}
	if len(s.Causes) == 0 {
		t.line("  ", "no cause found")
	}
	t.units(s)
}

// units says how the work is dealt, what another dealing would bring, and what
// more threads would.
func (t *writer) units(s *report.Section) {
	if s.Units == nil {
		return
	}
	t.prose("  ", "    ", s.Units.Message)
	if f := words.Forecast(s); f != "" {
		t.prose("    ", "    ", f)
	}
}
