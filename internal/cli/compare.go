package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/skewlens/skewlens/internal/atomicfile"
	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/html"
	"github.com/skewlens/skewlens/report/sarif"
	"github.com/skewlens/skewlens/report/text"
)

// comparing are the flags of the command.
type comparing struct {
	format   string
	output   string
	method   string
	response string
	worse    float64
}

func (c *comparing) flags() *flag.FlagSet {
	fs := flag.NewFlagSet("compare", flag.ContinueOnError)
	fs.StringVar(&c.format, "format", "text", "compare as `FORMAT`: text, html, json or sarif (default text)")
	fs.StringVar(&c.output, "o", "-", "write to `FILE`, - for standard output (default -)")
	fs.StringVar(&c.method, "method", string(lime.Exact), "analyse by `METHOD`: exact, or paper for the LIME paper's own rules (default exact)")
	fs.StringVar(&c.response, "response", "", "let `QUANTITY` stand for a thread's time, as in report")
	fs.Float64Var(&c.worse, "fail-worse", -1, "exit with status 3 when a section that matters is more imbalanced than before by more than `POINTS` (percent)")
	return fs
}

const compareNotes = `Takes two profiles that were saved with profile --save: the one before, then the one after.
Sections are matched by kind, file and function, so lines put above them do not matter, nor another directory.
Exit status: 0 compared, 1 wrong usage, 2 a file could not be read or written,
3 more imbalance than before, above --fail-worse.
`

func (c *comparing) check(fs *flag.FlagSet) error {
	for _, err := range []error{
		choose("format", c.format, []string{"text", "html", "json", "sarif"}),
		choose("method", c.method, []string{string(lime.Exact), string(lime.Paper)}),
		choose("response", c.response, []string{"", string(profile.Instructions), string(profile.BusyTime), string(profile.ModelCycles), string(profile.HardwareCycle), string(profile.TaskClock)}),
	} {
		if err != nil {
			return err
		}
	}
	if fs.NArg() != 2 {
		return usageError("compare takes two saved profiles, the one before and the one after, got %d: see skewlens help compare", fs.NArg())
	}
	given := false
	fs.Visit(func(f *flag.Flag) { given = given || f.Name == "fail-worse" })
	if given && !(c.worse >= 0 && c.worse <= 100) {
		return usageError("--fail-worse %v: give points from 0 to 100", c.worse)
	}
	return nil
}

// compareCommand compares two saved profiles.
func compareCommand(_ context.Context, stdout, _ io.Writer, args []string) error {
	var c comparing
	fs := c.flags()
	if err := parseAll(fs, args); err != nil {
		return err
	}
	if err := c.check(fs); err != nil {
		return err
	}
	var runs [2]*report.Report
	for i := range runs {
		p, err := load(fs.Arg(i))
		if err != nil {
			return err
		}
		if runs[i], err = report.New(p, report.Options{Lime: lime.Options{Method: lime.Method(c.method), Response: profile.Response(c.response)}}); err != nil {
			return fmt.Errorf("%s: %w", fs.Arg(i), err)
		}
	}
	compared := report.Compare(runs[0], runs[1])
	var err error
	if c.output == "-" || c.output == "" {
		err = c.render(stdout, compared)
	} else {
		err = atomicfile.Write(c.output, func(w io.Writer) error { return c.render(w, compared) })
	}
	if err != nil {
		return err
	}
	return c.verdict(compared)
}

func (c *comparing) render(w io.Writer, compared *report.Comparison) error {
	dir, _ := os.Getwd() // without it paths are absolute
	switch c.format {
	case "json":
		return report.WriteComparisonJSON(w, compared)
	case "html":
		return html.WriteComparison(w, compared, html.Options{Dir: dir})
	case "sarif":
		return sarif.WriteComparison(w, compared, sarif.Options{Dir: dir, Version: version()})
	}
	return text.WriteComparison(w, compared)
}

// verdict is the exit status that the comparison itself asks for.
func (c *comparing) verdict(compared *report.Comparison) error {
	if c.worse < 0 {
		return nil
	}
	if p, by, worse := compared.Worsened(); worse && 100*by > c.worse {
		return &exitError{exitAbove, fmt.Errorf("section %s has %.3g points more imbalance than before, more than the %.3g of --fail-worse", p.Name(), 100*by, c.worse)}
	}
	return nil
}
