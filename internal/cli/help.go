package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
)

func (a app) usage(w io.Writer) {
	fmt.Fprint(w, "Skewlens shows on which source line a parallel program's load imbalance begins, and what it costs.\n\n")
	for _, c := range a.commands() {
		fmt.Fprintf(w, "  skewlens %-10s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\nFor example: skewlens profile -- ./solver 8\nskewlens help COMMAND explains a command.\n")
}

func explain(w io.Writer, c command) {
	fmt.Fprintf(w, "usage: skewlens %s %s\n\n%s\n", c.name, c.args, c.summary)
	if c.flags != nil {
		fmt.Fprintln(w)
		flags(w, c.flags())
	}
	if c.notes != "" {
		fmt.Fprintf(w, "\n%s", c.notes)
	}
}

func (a app) helpCommand(_ context.Context, stdout, _ io.Writer, args []string) error {
	if len(args) == 0 {
		a.usage(stdout)
		return nil
	}
	c, ok := a.find(args[0])
	if !ok {
		return usageError("no command is called %q: see skewlens help", args[0])
	}
	explain(stdout, c)
	return nil
}

// flags prints the flags of a command as --name VALUE.
func flags(w io.Writer, fs *flag.FlagSet) {
	fs.VisitAll(func(f *flag.Flag) {
		value, what := flag.UnquoteUsage(f)
		dashes := "--"
		if len(f.Name) == 1 {
			dashes = "-"
		}
		name := dashes + f.Name
		if value != "" {
			name += " " + value
		}
		fmt.Fprintf(w, "  %-21s %s\n", name, what)
	})
}
