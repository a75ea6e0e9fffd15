package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// manCommand prints the manual page, made of the command table.
func (a app) manCommand(_ context.Context, stdout, _ io.Writer, args []string) error {
	if len(args) > 0 {
		return usageError("man takes no arguments, got %q: skewlens man | man -l -", args[0])
	}
	fmt.Fprintf(stdout, ".TH SKEWLENS 1 \"\" %q \"User Commands\"\n", "skewlens "+version())
	fmt.Fprint(stdout, `.SH NAME
skewlens \- show on which source line a parallel program's load imbalance begins
.SH SYNOPSIS
.B skewlens
.I command
.RI [ flags ]
.RI [ arguments ]
.SH DESCRIPTION
Skewlens runs an optimised program with threads, unmodified, counts exactly what every thread executed between two barriers or up to a join, and works out
which branch, loop, recursion or start function makes some threads do more than others, and what balancing it would save.
.SH COMMANDS
`)
	for _, c := range a.commands() {
		fmt.Fprintf(stdout, ".SS \"skewlens %s\"\n%s.\n", roff(strings.TrimSpace(c.name+" "+c.args)), roff(strings.ToUpper(c.summary[:1])+c.summary[1:]))
		for _, o := range c.options() {
			value := ""
			if o.value != "" {
				value = " \\fI" + roff(o.value) + "\\fR"
			}
			fmt.Fprintf(stdout, ".TP\n\\fB%s\\fR%s\n%s\n", roff(o.name), value, roff(strings.ToUpper(o.what[:1])+o.what[1:]))
		}
		if c.notes != "" {
			fmt.Fprintf(stdout, ".PP\n.nf\n%s\n.fi\n", roff(strings.TrimSpace(c.notes)))
		}
	}
	fmt.Fprint(stdout, `.SH FILES
.TP
.I .skewlens.toml
What an editor builds and runs, and what it does not show.
.TP
.I ~/.cache/skewlens
Analyses and results, kept for the next run.
.SH EXAMPLES
.nf
skewlens profile \-\- ./solver 8
skewlens profile \-\-format html \-o report.html \-\- ./solver 8
skewlens scale \-\- ./solver {threads}
.fi
`)
	return nil
}

// roff is a text in which nothing is a request of troff's.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
