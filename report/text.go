package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
)

// TextOptions say where the text goes; the zero value is plain text, 100 wide,
// without source excerpts.
type TextOptions struct {
	Color  bool
	Width  int    // of the terminal; 0: 100
	Dir    string // paths below it are shown relative to it
	Source Source // nil: no excerpts
}

// WriteText writes the report for people.
func WriteText(w io.Writer, r *Report, opt TextOptions) error {
	if opt.Width == 0 {
		opt.Width = 100
	}
	opt.Width = max(opt.Width, 40)
	b := bufio.NewWriter(w)
	t := text{w: b, opt: opt}
	t.header(r)
	t.warnings("", r.Warnings)
	long := false
	for i := range r.Sections {
		s := &r.Sections[i]
		if brief(s) && (long || i == 0) || !brief(s) {
			t.line("", "")
		}
		long = !brief(s)
		t.section(s)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// text lays a report out in lines.
type text struct {
	w   io.Writer
	opt TextOptions
}

// dot separates the facts of a line.
const dot = " · "

func (t *text) line(indent, s string) {
	if s = strings.TrimRight(indent+s, " "); s == "" {
		io.WriteString(t.w, "\n")
		return
	}
	io.WriteString(t.w, s+"\n")
}

// facts writes what fits on a line, and goes on below with a deeper indent.
func (t *text) facts(indent, deeper string, facts []string) {
	lines := wrap(facts, dot, t.opt.Width-width(indent), t.opt.Width-width(deeper))
	for i, l := range lines {
		if i == 0 {
			t.line(indent, l)
		} else {
			t.line(deeper, l)
		}
	}
}

func (t *text) prose(indent, deeper, s string) {
	for i, l := range wrap(strings.Fields(printable(s)), " ", t.opt.Width-width(indent), t.opt.Width-width(deeper)) {
		if i == 0 {
			t.line(indent, l)
		} else {
			t.line(deeper, l)
		}
	}
}

func (t *text) header(r *Report) {
	command := t.path(r.Program.Path) + " " + printable(strings.Join(r.Program.Args, " "))
	t.line("", t.paint(bold, cut(strings.TrimSpace(command), t.opt.Width)))
	facts := []string{count(r.Run.Threads, "thread"), printable(r.Run.Backend) + " backend", "measured in " + strings.ReplaceAll(r.Run.Response, "-", " ")}
	if r.Run.Cores > 0 {
		facts[0] += " on " + count(r.Run.Cores, "core")
	}
	if r.Run.WallS != nil {
		facts = append(facts, units.SecondsOf(*r.Run.WallS, *r.Run.WallS))
	}
	if r.Run.Slowdown != nil {
		facts = append(facts, fmt.Sprintf("%.2f× a plain run", *r.Run.Slowdown))
	}
	if r.Run.Signal == "" && r.Run.ExitCode != 0 {
		facts = append(facts, fmt.Sprintf("exit status %d", r.Run.ExitCode))
	}
	c := r.Coverage
	if c.FunctionsTotal > 0 {
		f := fmt.Sprintf("counted %d of %s", c.Functions, count(c.FunctionsTotal, "function"))
		if c.InstructionsPct != nil {
			f += fmt.Sprintf(" (%s %% of instructions)", upTo100(*c.InstructionsPct))
		}
		facts = append(facts, f)
	}
	t.facts("", "", facts)
}

// upTo100 never rounds to 100 what is not.
func upTo100(pct float64) string {
	s := fmt.Sprintf("%.1f", pct)
	if s == "100.0" {
		if pct < 100 {
			return ">99.9"
		}
		return "100"
	}
	return s
}

func (t *text) warnings(indent string, ws []Warning) {
	for _, w := range ws {
		t.prose(indent+t.paint(yellow, "! "), indent+"  ", w.Message+" ["+w.Code+"]")
	}
}

// sectionName is path:line and the function.
func (t *text) sectionName(s *Section) string {
	if s.Location == nil || !s.Location.Known() {
		return printable(s.ID)
	}
	name := t.path(s.Location.File) + strings.TrimPrefix(s.ID, fileOf(s.ID))
	if f := s.Location.Function; f != "" {
		name += " " + symbol(f)
	}
	return name
}

func (t *text) section(s *Section) {
	name := t.sectionName(s)
	facts := []string{t.paint(bold, cut(name, t.opt.Width)), s.Kind, count(s.Instances, "instance")}
	if s.TimeS != nil {
		facts = append(facts, units.SecondsOf(*s.TimeS, *s.TimeS))
	}
	if brief(s) {
		t.facts("", "    ", append(facts, t.verdict(s)))
		if s.Balanced || s.Imbalance == nil { // nothing depends on what is too short to matter
			t.warnings("  ", s.Warnings)
		}
		return
	}
	facts = append(facts, t.paint(red, "imbalance "+units.Percent(*s.Imbalance)))
	if s.IdleS != nil {
		facts = append(facts, "threads waited "+units.SecondsOf(*s.IdleS, *s.IdleS)+" in all")
	}
	if g := s.JointGain; g != nil && len(s.Causes) > 1 {
		facts = append(facts, "all causes balanced: up to "+t.gain(s, g))
	}
	t.facts("", "    ", facts)
	t.warnings("  ", s.Warnings)
	t.threadBars(s)
	for i := range s.Causes {
		t.cause(s, &s.Causes[i])
	}
	if len(s.Causes) == 0 {
		t.line("  ", "no cause found")
	}
}

// brief sections fit on one line: there is nothing to do about them.
func brief(s *Section) bool {
	return s.Imbalance == nil || s.Balanced || s.Negligible
}

func (t *text) verdict(s *Section) string {
	switch {
	case s.Imbalance == nil:
		return "never completed"
	case s.Balanced:
		return t.paint(green, "balanced")
	}
	return fmt.Sprintf("imbalance %s, too short to matter", units.Percent(*s.Imbalance))
}

func (t *text) gain(s *Section, g *Gain) string {
	if g.Seconds == nil || s.TimeS == nil {
		return units.Percent(g.Fraction)
	}
	return units.SecondsOf(*g.Seconds, *s.TimeS) + " (" + units.Percent(g.Fraction) + ")"
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
