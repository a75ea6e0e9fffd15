package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/skewlens/skewlens/report"
)

// compareMend shows what a mend really saved beside what was predicted.
func compareMend(w io.Writer, before, after *report.Report) error {
	if len(before.Sections) == 0 || len(after.Sections) == 0 {
		return nil
	}
	was := &before.Sections[0]
	is := was
	for i := range after.Sections {
		if s := &after.Sections[i]; s.ID == was.ID {
			is = s
		}
	}
	if is == was { // the mend moved the section: take the one that matters most
		is = &after.Sections[0]
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintf(t, "%s\tas written\tmended\n", was.ID)
	fmt.Fprintf(t, "imbalance\t%s\t%s\n", imbalance(was), imbalance(is))
	fmt.Fprintf(t, "busiest thread\t%s\t%s\n", millions(was.Critical), millions(is.Critical))
	if was.TimeS != nil && is.TimeS != nil {
		fmt.Fprintf(t, "section\t%.3f s\t%.3f s\n", *was.TimeS, *is.TimeS)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, saving(before, was, is))
	return err
}

func saving(before *report.Report, was, is *report.Section) string {
	if was.Critical == 0 || len(was.Causes) == 0 {
		return "\nNothing to save, and nothing was predicted.\n"
	}
	g := was.JointGain
	if g == nil {
		g = was.Causes[0].Gain
	}
	s := "\n"
	if g != nil {
		s += fmt.Sprintf("Predicted: up to %.1f %% less work on the busiest thread. ", 100*g.Fraction)
	}
	s += fmt.Sprintf("Saved: %.1f %%", 100*(1-float64(is.Critical)/float64(was.Critical)))
	if was.TimeS != nil && is.TimeS != nil {
		s += fmt.Sprintf(", and %.1f %% of the section's seconds", 100*(1 - *is.TimeS / *was.TimeS))
	}
	s += ".\n"
	if c := before.Run.Cores; c > 0 && before.Run.Threads > c {
		s += fmt.Sprintf("(%d threads shared %d cores here, so seconds show only a part of what more cores would gain.)\n", before.Run.Threads, c)
	}
	return s
}

func imbalance(s *report.Section) string {
	switch {
	case s.Imbalance == nil:
		return "unknown"
	case s.Balanced:
		return fmt.Sprintf("%.1f %%, balanced", 100**s.Imbalance)
	}
	return fmt.Sprintf("%.1f %%", 100**s.Imbalance)
}

func millions(n uint64) string { return fmt.Sprintf("%.1f M instructions", float64(n)/1e6) }
