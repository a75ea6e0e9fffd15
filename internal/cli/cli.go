// Package cli is the command line.
//
//	main ─▶ app.start ─▶ command table ─▶ profile   runs a program, reports on it
//	         ▲                            report    reports on a saved profile
//	         │                            compare   puts two of them side by side
//	         │                            scale     times a program on several numbers of cores
//	         │                            explain   says what a kind of cause means
//	         └ the examples               demo      an example and its fix, side by side
//	                                      serve     answers editors
//	                                      doctor    what this machine allows, and how to fix the rest
//	                                      version, help
//
// Each command is a file of its own and a function of context, standard output,
// standard error and arguments, which parses its flags, calls the package that
// does the work, and shows the outcome. An error is one line on standard error;
// exit.go says which exit status it has. What is reported, and how, is up to
// package report; format.go lets the user choose.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/skewlens/skewlens/internal/examples"
	"github.com/skewlens/skewlens/internal/garbage"
	"github.com/skewlens/skewlens/profiler"
)

// command is one row of the command table.
type command struct {
	name    string
	args    string // for the usage line
	summary string
	run     func(ctx context.Context, stdout, stderr io.Writer, args []string) error
	flags   func() *flag.FlagSet // nil: none
	notes   string               // more to say than flags do
}

// app is the command line, with what main hands to it.
type app struct{ examples examples.Set }

// commands is the command table.
func (a app) commands() []command {
	return []command{
		{"profile", "[flags] -- program [arguments]", "run a program and report where its load imbalance begins", profileCommand{run: profiler.Run}.do, new(profileFlags).flags, profileNotes},
		{"report", "[flags] file", "report on a profile that was saved with profile --save", reportCommand, new(showing).flags, ""},
		{"compare", "[flags] before after", "compare two profiles that were saved: which sections became better or worse", compareCommand, new(comparing).flags, compareNotes},
		{"scale", "[flags] -- program {threads}", "time a program on 1 core and more, and say where the speedup goes", scaleCommand{profiler.Scale, profiler.Run, profiler.Record, profiler.RecordTurns}.do, new(scaleFlags).flags, scaleNotes},
		{"demo", "[flags] [example]", "build an example, report on it, and compare with its fix", demoCommand{examples: a.examples, run: profiler.Run}.do, new(demoFlags).flags, ""},
		{"explain", "[kind]", "say what a kind of cause means, and what to do about it", explainCommand, nil, ""},
		{"serve", "", "show findings in an editor: a language server on standard input and output", serveCommand, nil, ""},
		{"doctor", "[program]", "check what this machine allows, and say how to fix the rest", doctorCommand, nil, ""},
		{"completion", "bash|zsh|fish", "print what a shell needs to complete skewlens' command line", a.completionCommand, nil, completionNotes},
		{"man", "", "print the manual page", a.manCommand, nil, ""},
		{"version", "", "print the version", versionCommand, nil, ""},
		{"help", "[command]", "explain a command", a.helpCommand, nil, ""},
	}
}

// Main runs the command line of this process and ends it. embedded holds the
// folder examples.
func Main(embedded fs.FS) {
	a := app{examples: examples.Set{FS: embedded}}
	os.Exit(a.start(context.Background(), os.Stdout, os.Stderr, os.Args[1:]))
}

// start runs a command and returns the exit status.
func (a app) start(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	if len(args) == 0 {
		a.usage(stderr)
		return exitUsage
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-v", "-version", "--version":
		name = "version"
	}
	c, ok := a.find(name)
	if !ok {
		return fail(stderr, a.noCommand(args))
	}
	if len(args) > 1 && (args[1] == "-h" || args[1] == "-help" || args[1] == "--help") {
		explain(stdout, c)
		return 0
	}
	if name != "serve" { // which lives long
		defer garbage.Pace(100)()
	}
	err := c.run(ctx, stdout, stderr, args[1:])
	if errors.Is(err, errHelp) { // a later -h, after other flags
		explain(stdout, c)
		return 0
	}
	return fail(stderr, err)
}

func (a app) find(name string) (command, bool) {
	for _, c := range a.commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// noCommand says what was probably meant: mostly a program, or flags, before the command.
func (a app) noCommand(args []string) error {
	name := args[0]
	if strings.HasPrefix(name, "-") {
		return usageError("%s stands before any command, and flags stand behind theirs: skewlens profile [flags] -- program; see skewlens help", name)
	}
	if _, err := profiler.Find(name, ""); err == nil {
		return usageError("no command is called %q, but a program is: skewlens profile -- %s", name, strings.Join(args, " "))
	}
	return usageError("no command is called %q: see skewlens help", name)
}

// fail prints an error as the one line that it is, and chooses the status.
func fail(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{exitFailed, err}
	}
	if e.err != nil {
		fmt.Fprintf(stderr, "skewlens: %s\n", oneLine(e.err.Error()))
	}
	return e.status
}
