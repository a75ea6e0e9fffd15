package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/skewlens/skewlens/internal/examples"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report/text"
)

// demoCommand builds an example and its fix, profiles both and compares. How
// programs are run is a field, so that the command can be tested without one.
type demoCommand struct {
	examples examples.Set
	run      func(context.Context, profiler.Config) (*profile.Profile, error)
}

// demoFlags are the flags of the command.
type demoFlags struct {
	list, all bool
	threads   int
}

func (o *demoFlags) flags() *flag.FlagSet {
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	fs.BoolVar(&o.list, "list", false, "list the examples")
	fs.BoolVar(&o.all, "all", false, "all examples in one table: what was found, predicted and saved")
	fs.IntVar(&o.threads, "threads", 8, "run with `N` threads (default 8)")
	return fs
}

func (d demoCommand) do(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	var o demoFlags
	fs := o.flags()
	if err := parse(fs, args); err != nil {
		return err
	}
	if o.list {
		return d.list(stdout)
	}
	name, err := d.choose(o, fs.Args())
	if err != nil {
		return err
	}
	// The directory must go away on Ctrl-C too, whoever gets the signal.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = d.prepare(stderr, o.threads, func(b *bench) error {
		if o.all {
			return b.tabulate(ctx, stdout, d.examples.Names())
		}
		return b.show(ctx, stdout, name)
	})
	if ctx.Err() != nil {
		return errors.New("demo: interrupted")
	}
	return err
}

// choose checks what was asked for; without a name the example is owner.
func (d demoCommand) choose(o demoFlags, args []string) (name string, err error) {
	name = "owner"
	switch {
	case o.all && len(args) > 0:
		return "", usageError("demo takes --all or an example, got both")
	case len(args) == 1:
		name = strings.TrimSuffix(args[0], ".c")
	case len(args) > 1:
		return "", usageError("demo takes one example, got %q", args)
	}
	if o.threads < 1 || o.threads > 256 {
		return "", usageError("--threads %d: give a number from 1 to 256", o.threads)
	}
	if !d.examples.Has(name) {
		return "", usageError("no example is called %q: see skewlens demo --list", name)
	}
	return name, nil
}

func (d demoCommand) list(w io.Writer) error {
	for _, n := range d.examples.Names() {
		about, err := d.examples.About(n)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%-10s %s …\n", n, about)
	}
	return nil
}

// prepare makes a place to build in, and takes it away again.
func (d demoCommand) prepare(stderr io.Writer, threads int, use func(*bench) error) error {
	cc, err := examples.FindCompiler()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "skewlens-demo-")
	if err != nil {
		return fmt.Errorf("make a directory to build in: %w; set TMPDIR to one that you may write", err)
	}
	defer os.RemoveAll(dir)
	if err := d.examples.Unpack(dir); err != nil {
		return err
	}
	return use(&bench{dir: dir, cc: cc, threads: threads, run: d.run, stderr: stderr})
}

// show reports on one example, and compares it with its fix.
func (b *bench) show(ctx context.Context, stdout io.Writer, name string) error {
	fmt.Fprintf(stdout, "$ %s -O2 -g -pthread %s.c -o %s && skewlens profile -- ./%[3]s %d\n\n", b.cc, name, name, b.threads)
	before, err := b.measure(ctx, name, name)
	if err != nil {
		return err
	}
	opt := textOptions(stdout, before.Program.Path)
	opt.Dir = b.dir
	if err := text.Write(stdout, before, opt); err != nil {
		return err
	}
	after, err := b.measureFixed(ctx, name)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\nand with the fix, -DFIXED:\n\n")
	return compareFix(stdout, before, after)
}
