// Package cli is the command line.
//
//	Main ─▶ command table ─▶ profile   runs a program, reports on it
//	                         report    reports on a saved profile
//	                         demo      an example and its mend, side by side
//	                         serve     answers editors
//	                         doctor    what this machine allows, and how to mend it
//	                         version, help
//
// Each command is a file of its own and a function of context, standard output,
// standard error and arguments. Everything they show comes from package report.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/skewlens/skewlens/profiler"
)

// command is one row of the command table.
type command struct {
	name    string
	args    string // for the usage line
	summary string
	run     func(ctx context.Context, stdout, stderr io.Writer, args []string) error
	help    func(io.Writer) // its flags; nil: none
}

func commands() []command {
	return []command{
		{"profile", "[flags] -- program [arguments]", "run a program and report where its load imbalance begins", profileCommand{run: profiler.Run}.do, profileHelp},
		{"report", "[flags] file", "report on a profile that was saved with profile --save", reportCommand, reportHelp},
		{"demo", "[flags] [example]", "build an example, report on it, and compare with its mend", demoCommand{run: profiler.Run}.do, demoHelp},
		{"serve", "", "show findings in an editor: a language server on standard input and output", serveCommand, nil},
		{"doctor", "[program]", "check what this machine allows, and say how to mend the rest", doctorCommand, nil},
		{"version", "", "print the version", versionCommand, nil},
		{"help", "[command]", "explain a command", helpCommand, nil},
	}
}

// examples holds the folder examples, which main embeds.
var examples fs.FS

// Main runs the command line of this process and ends it.
func Main(embedded fs.FS) {
	examples = embedded
	os.Exit(start(context.Background(), os.Stdout, os.Stderr, os.Args[1:]))
}

// start runs a command and returns the exit status.
func start(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	if len(args) == 0 {
		usage(stderr)
		return exitUsage
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-v", "-version", "--version":
		name = "version"
	}
	c, ok := find(name)
	if !ok {
		return fail(stderr, usageError("no command is called %q: see skewlens help", name))
	}
	if len(args) > 1 && (args[1] == "-h" || args[1] == "-help" || args[1] == "--help") {
		explain(stdout, c)
		return 0
	}
	err := c.run(ctx, stdout, stderr, args[1:])
	if errors.Is(err, errHelp) { // a later -h, after other flags
		explain(stdout, c)
		return 0
	}
	return fail(stderr, err)
}

func find(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
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
