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
	c := report.Compare(before, after)
	worst, ok := c.Worst()
	if !ok {
		return nil
	}
	was, is := worst.Before, worst.After
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
	_, err := fmt.Fprint(w, saving(c, worst))
	return err
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
		worst, ok := report.Compare(before, after).Worst()
		if !ok {
			fmt.Fprintf(t, "%s\tno section was found\n", name)
			continue
		}
		fmt.Fprintln(t, row(name, worst))
	}
	return t.Flush()
}

func row(name string, p report.Pair) string {
	was, is, saving := p.Before, p.After, p.Saving()
	cause, share, predicted, whole := "none", "", "", ""
	if len(was.Causes) > 0 {
		c := was.Causes[0]
		cause, share, predicted = fmt.Sprintf("%s %s", c.Location.Short(), c.Leader), pct(&c.Share), pct(saving.Predicted)
		if c.Gain != nil {
			whole = pct(c.Gain.WholeUnits)
		}
	}
	return strings.Join([]string{name, imbalance(was), cause, share, predicted, whole, pct(saving.Work), imbalance(is)}, "\t")
}

func pct(x *float64) string {
	if x == nil {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100**x)
}

func saving(c *report.Comparison, p report.Pair) string {
	saved := p.Saving()
	if saved.Work == nil || len(p.Before.Causes) == 0 {
		return "\nNothing to save, and nothing was predicted.\n"
	}
	s := "\n"
	if saved.Predicted != nil {
		s += fmt.Sprintf("Predicted: up to %s less work on the busiest thread. ", pct(saved.Predicted))
	}
	s += "Saved: " + pct(saved.Work)
	if saved.CPU != nil {
		s += fmt.Sprintf(", %s of its CPU time", pct(saved.CPU))
	}
	shared := c.SharedCores()
	if !shared && saved.Time != nil {
		s += fmt.Sprintf(", %s of the section's seconds", pct(saved.Time))
	}
	s += ".\n"
	if shared {
		s += fmt.Sprintf("(%d threads shared %d cores here, so the section's seconds show little of it.)\n", c.Before.Run.Threads, c.Before.Run.Cores)
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
