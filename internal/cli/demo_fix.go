package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/skewlens/skewlens/report"
)

// compareFix shows what a fix really saved beside what was predicted.
func compareFix(w io.Writer, before, after *report.Report) error {
	if len(before.Sections) == 0 || len(after.Sections) == 0 {
		return nil
	}
	was, is := matching(before, after)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintf(t, "%s\tas written\tfixed\n", was.ID)
	fmt.Fprintf(t, "imbalance\t%s\t%s\n", imbalance(was), imbalance(is))
	fmt.Fprintf(t, "busiest thread\t%s\t%s\n", millions(was.Critical), millions(is.Critical))
	for _, row := range []struct {
		name    string
		was, is *float64
	}{{"its CPU time", was.CriticalBusyS, is.CriticalBusyS}, {"section", was.TimeS, is.TimeS}} {
		if row.was != nil && row.is != nil {
			fmt.Fprintf(t, "%s\t%.3f s\t%.3f s\n", row.name, *row.was, *row.is)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, saving(before, was, is))
	return err
}

// matching is the section that lost most, before and after the fix. The fix
// may have moved it: then it is the one that loses most now.
func matching(before, after *report.Report) (was, is *report.Section) {
	was, is = &before.Sections[0], &after.Sections[0]
	for i := range after.Sections {
		if s := &after.Sections[i]; s.ID == was.ID {
			is = s
		}
	}
	return was, is
}

// tabulate profiles every example and its fix: one row each.
func (b *bench) tabulate(ctx context.Context, w io.Writer, names []string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "example\timbalance\tfirst cause\tshare\tpredicted\tfirst in whole units\tsaved\tfixed\n")
	for _, name := range names {
		before, err := b.measure(ctx, name, name)
		if err != nil {
			return err
		}
		after, err := b.measureFixed(ctx, name)
		if err != nil {
			return err
		}
		if len(before.Sections) == 0 || len(after.Sections) == 0 {
			fmt.Fprintf(t, "%s\tno section was found\n", name)
			continue
		}
		fmt.Fprintln(t, row(name, before, after))
	}
	return t.Flush()
}

func row(name string, before, after *report.Report) string {
	was, is := matching(before, after)
	cause, share, predicted, whole := "none", "", "", ""
	if len(was.Causes) > 0 {
		c := was.Causes[0]
		cause, share = fmt.Sprintf("%s %s", c.Location.Short(), c.Leader), pct(&c.Share)
		if g := was.JointGain; g != nil {
			predicted = pct(&g.Fraction)
		}
		if c.Gain != nil {
			whole = pct(c.Gain.WholeUnits)
		}
	}
	saved := ""
	if was.Critical > 0 {
		f := 1 - float64(is.Critical)/float64(was.Critical)
		saved = pct(&f)
	}
	return strings.Join([]string{name, imbalance(was), cause, share, predicted, whole, saved, imbalance(is)}, "\t")
}

func pct(x *float64) string {
	if x == nil {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100**x)
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
	if was.CriticalBusyS != nil && is.CriticalBusyS != nil {
		s += fmt.Sprintf(", %.1f %% of its CPU time", 100*(1 - *is.CriticalBusyS / *was.CriticalBusyS))
	}
	shared := before.Run.Cores > 0 && before.Run.Threads > before.Run.Cores
	if !shared && was.TimeS != nil && is.TimeS != nil {
		s += fmt.Sprintf(", %.1f %% of the section's seconds", 100*(1 - *is.TimeS / *was.TimeS))
	}
	s += ".\n"
	if shared {
		s += fmt.Sprintf("(%d threads shared %d cores here, so the section's seconds show little of it.)\n", before.Run.Threads, before.Run.Cores)
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
