package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/skewlens/skewlens/export"
	"github.com/skewlens/skewlens/export/callgrind"
	"github.com/skewlens/skewlens/export/perfetto"
	"github.com/skewlens/skewlens/export/pprof"
	"github.com/skewlens/skewlens/internal/atomicfile"
	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/html"
	"github.com/skewlens/skewlens/report/sarif"
	"github.com/skewlens/skewlens/report/source"
	"github.com/skewlens/skewlens/report/text"
)

// showing are the flags that say how a report is made and where it goes; the
// commands that report share them.
type showing struct {
	format   string
	output   string
	method   string
	response string
	above    float64
}

func (s *showing) define(fs *flag.FlagSet) {
	fs.StringVar(&s.format, "format", "text", "report as `FORMAT`: text, html, json, sarif, pprof, callgrind or perfetto (default text)")
	fs.StringVar(&s.output, "o", "", "write the report to `FILE`, - for standard output (default of profile: standard error, of report: standard output)")
	fs.StringVar(&s.method, "method", string(lime.Exact), "analyse by `METHOD`: exact, or paper for the LIME paper's own rules (default exact)")
	fs.StringVar(&s.response, "response", "", "let `QUANTITY` stand for a thread's time: instructions, busy-time, with simulated caches modelled-cycles, or, where the processor or the kernel counted, cycles or task-clock (default modelled-cycles where there are any, else instructions; of what the perf backend counted, cycles or else task-clock)")
	fs.Float64Var(&s.above, "fail-above", -1, "exit with status 3 when a section that matters is more imbalanced than `PERCENT`")
}

// choose refuses a value that this version does not have; planned ones are
// known, and still to come.
func choose(flag, value string, built []string, planned ...string) error {
	for _, b := range built {
		if value == b {
			return nil
		}
	}
	for _, p := range planned {
		if value == p {
			return usageError("--%s %s is not built yet: this version has %s", flag, value, strings.Join(built, ", "))
		}
	}
	named := slices.DeleteFunc(slices.Clone(built), func(b string) bool { return b == "" }) // that is what stands without the flag
	return usageError("--%s %s is not known: choose %s", flag, value, strings.Join(named, ", "))
}

func (s *showing) check(fs *flag.FlagSet) error {
	for _, err := range []error{
		choose("format", s.format, []string{"text", "html", "json", "sarif", "pprof", "callgrind", "perfetto"}),
		choose("method", s.method, []string{string(lime.Exact), string(lime.Paper)}),
		choose("response", s.response, []string{"", string(profile.Instructions), string(profile.BusyTime), string(profile.ModelCycles), string(profile.HardwareCycle), string(profile.TaskClock)}),
	} {
		if err != nil {
			return err
		}
	}
	given := false
	fs.Visit(func(f *flag.Flag) { given = given || f.Name == "fail-above" })
	if given && !(s.above >= 0 && s.above <= 100) {
		return usageError("--fail-above %v: give a percentage from 0 to 100", s.above)
	}
	return nil
}

func (s *showing) options() report.Options {
	return report.Options{Lime: lime.Options{Method: lime.Method(s.method), Response: profile.Response(s.response)}}
}

// write puts the report where it was asked for.
func (s *showing) write(stdout, stderr io.Writer, p *profile.Profile, r *report.Report) error {
	render := func(w io.Writer) error { return s.render(w, p, r) }
	if s.output == "" || s.output == "-" {
		w := stdout
		if s.output == "" {
			w = stderr
		}
		if s.binary() && terminal(w) {
			return usageError("--format %s is not for a terminal: add -o FILE", s.format)
		}
		return render(w)
	}
	return atomicfile.Write(s.output, render)
}

// binary formats are no text: nobody can read them where a report is shown.
func (s *showing) binary() bool { return s.format == "pprof" || s.format == "perfetto" }

// render writes a report, or the profile that it was made of for other tools.
func (s *showing) render(w io.Writer, p *profile.Profile, r *report.Report) error {
	switch s.format {
	case "json":
		return report.WriteJSON(w, r)
	case "callgrind":
		opt, done := code(p.Program)
		defer done()
		return callgrind.Write(w, p, opt)
	case "pprof", "perfetto":
		sections, err := named(p, r)
		if err != nil {
			return err
		}
		if s.format == "pprof" {
			return pprof.Write(w, p, sections)
		}
		return perfetto.Write(w, p, sections, criticalPath(r), doubts(r))
	case "sarif":
		return sarif.Write(w, r, sarif.Options{Dir: textOptions(w, "").Dir, Version: version()})
	case "html":
		opt := textOptions(w, r.Program.Path)
		return html.Write(w, r, html.Options{Dir: opt.Dir, Source: opt.Source, Profile: p})
	}
	return text.Write(w, r, textOptions(w, r.Program.Path))
}

// named are the profile's sections by the names and in the order of the report.
func named(p *profile.Profile, r *report.Report) ([]export.Section, error) {
	sections, err := r.SectionsOf(p)
	if err != nil {
		return nil, err
	}
	out := make([]export.Section, len(sections))
	for i, s := range sections {
		out[i] = export.Section{Name: r.Sections[i].ID, Section: s}
	}
	return out, nil
}

// criticalPath is where the run's critical path leads; nil: that is not known.
func criticalPath(r *report.Report) (steps []export.Step) {
	if r.CriticalPath != nil {
		for _, s := range r.CriticalPath.Track {
			steps = append(steps, export.Step(s))
		}
	}
	return steps
}

// doubts are what the report doubts about the run.
func doubts(r *report.Report) []profile.Warning {
	out := make([]profile.Warning, len(r.Warnings))
	for i, w := range r.Warnings {
		out[i] = profile.Warning(w)
	}
	return out
}

// verdict is the exit status that the report itself asks for.
func (s *showing) verdict(r *report.Report) error {
	if s.above < 0 {
		return nil
	}
	if worst, id := r.Worst(); 100*worst > s.above {
		return &exitError{exitAbove, fmt.Errorf("section %s has %.3g %% imbalance, more than the %.3g %% of --fail-above", id, 100*worst, s.above)}
	}
	return nil
}

// textOptions fit the text to where it goes: colour and width are a terminal's.
func textOptions(w io.Writer, program string) text.Options {
	opt := text.Options{Source: sources(program)}
	if dir, err := os.Getwd(); err == nil {
		opt.Dir = dir
	}
	if f, ok := w.(*os.File); ok && terminal(w) {
		opt.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			opt.Width = width
		}
	}
	return opt
}

// code reads the program's instructions and their lines, where its file is
// still there and still the one that ran. Nothing else would be right, and
// nothing is worth an error: without them there is a line for each block.
func code(p profile.Program) (opt callgrind.Options, done func()) {
	done = func() {}
	if p.BuildID == "" {
		return opt, done
	}
	instructions, err := profiler.Instructions(p)
	if err != nil || instructions == nil {
		return opt, done
	}
	opt.Instructions = instructions
	if lines, err := profiler.OpenLines(p.Path, p.Libraries...); err == nil {
		done = func() { lines.Close() }
		opt.Locate = func(a profile.Addr) (profile.Location, bool) {
			l := lines.Locate(a)
			return l, l.Known()
		}
	}
	return opt, done
}

// sources reads source lines, and knows when the program was built.
func sources(program string) source.Lines {
	s := &source.Files{}
	if info, err := os.Stat(program); err == nil {
		s.Built = info.ModTime()
	}
	return s
}
