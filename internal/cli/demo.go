package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/text"
)

// demoCommand builds an example and its mend, profiles both and compares.
type demoCommand struct {
	run func(context.Context, profiler.Config) (*profile.Profile, error)
}

// showingOff are the flags of the command.
type showingOff struct {
	list, all bool
	threads   int
}

func (o *showingOff) flags() *flag.FlagSet {
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	fs.BoolVar(&o.list, "list", false, "list the examples")
	fs.BoolVar(&o.all, "all", false, "all examples in one table: what was found, predicted and saved")
	fs.IntVar(&o.threads, "threads", 8, "run with `N` threads (default 8)")
	return fs
}

func demoHelp(w io.Writer) { flags(w, new(showingOff).flags()) }

func (d demoCommand) do(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	var o showingOff
	set := o.flags()
	if err := parse(set, args); err != nil {
		return err
	}
	if o.list {
		return listExamples(stdout)
	}
	name := "owner"
	switch {
	case o.all && set.NArg() > 0:
		return usageError("demo takes --all or an example, got both")
	case set.NArg() == 1:
		name = strings.TrimSuffix(set.Arg(0), ".c")
	case set.NArg() > 1:
		return usageError("demo takes one example, got %q", set.Args())
	}
	if o.threads < 1 || o.threads > 256 {
		return usageError("--threads %d: give a number from 1 to 256", o.threads)
	}
	if _, err := fs.ReadFile(examples, "examples/"+name+".c"); err != nil {
		return usageError("no example is called %q: see skewlens demo --list", name)
	}
	// The directory must go away on Ctrl-C too, whoever gets the signal.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := d.prepare(stderr, o.threads, func(b *bench) error {
		if o.all {
			return b.tabulate(ctx, stdout)
		}
		return b.show(ctx, stdout, name)
	})
	if ctx.Err() != nil {
		return errors.New("demo: interrupted")
	}
	return err
}

// prepare makes a place to build in, and takes it away again.
func (d demoCommand) prepare(stderr io.Writer, threads int, use func(*bench) error) error {
	cc, err := compiler()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "skewlens-demo-")
	if err != nil {
		return fmt.Errorf("make a directory to build in: %w; set TMPDIR to one that you may write", err)
	}
	defer os.RemoveAll(dir)
	if err := unpack(dir); err != nil {
		return err
	}
	return use(&bench{dir: dir, cc: cc, threads: threads, run: d.run, stderr: stderr})
}

// show reports on one example, and compares it with its mend.
func (b *bench) show(ctx context.Context, stdout io.Writer, name string) error {
	fmt.Fprintf(stdout, "$ %s -O2 -g -pthread %s.c -o %s && skewlens profile -- ./%[3]s %d\n\n", strings.Join(b.cc, " "), name, name, b.threads)
	before, err := b.measure(ctx, name, name)
	if err != nil {
		return err
	}
	opt := textOptions(stdout, before)
	opt.Dir = b.dir
	if err := text.Write(stdout, before, opt); err != nil {
		return err
	}
	after, err := b.measure(ctx, name, name+"-fixed", "-DFIXED")
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\nand with the fix, -DFIXED:\n\n")
	return compareFix(stdout, before, after)
}

func exampleNames() []string {
	names := []string{}
	entries, _ := fs.ReadDir(examples, "examples") // embedded: it is there
	for _, e := range entries {
		if n, ok := strings.CutSuffix(e.Name(), ".c"); ok {
			names = append(names, n)
		}
	}
	return names
}

func listExamples(w io.Writer) error {
	for _, n := range exampleNames() {
		text, err := fs.ReadFile(examples, "examples/"+n+".c")
		if err != nil {
			return err
		}
		about, _, _ := strings.Cut(strings.TrimPrefix(string(text), "/* "), "\n")
		fmt.Fprintf(w, "%-10s %s …\n", n, about)
	}
	return nil
}

func unpack(dir string) error {
	names, err := fs.Glob(examples, "examples/*")
	if err != nil {
		return err
	}
	for _, n := range names {
		text, err := fs.ReadFile(examples, n)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(n)), text, 0o666); err != nil {
			return fmt.Errorf("unpack the examples: %w", err)
		}
	}
	return nil
}

// compiler finds a C compiler: $CC, which may carry flags, else the usual names.
func compiler() ([]string, error) {
	if cc := strings.Fields(os.Getenv("CC")); len(cc) > 0 {
		if _, err := exec.LookPath(cc[0]); err != nil {
			return nil, fmt.Errorf("run the C compiler %s: not found; CC names it: unset CC, or set it to another", cc[0])
		}
		return cc, nil
	}
	for _, cc := range []string{"cc", "gcc", "clang"} {
		if _, err := exec.LookPath(cc); err == nil {
			return []string{cc}, nil
		}
	}
	return nil, errors.New("demo: no C compiler found; install one (Debian, Ubuntu: apt install gcc libc6-dev; Fedora: dnf install gcc glibc-devel), or set CC")
}

// bench builds and measures in one directory.
type bench struct {
	dir     string
	cc      []string
	threads int
	percent int // of the usual work; 0: all of it
	run     func(context.Context, profiler.Config) (*profile.Profile, error)
	stderr  io.Writer
}

func (b *bench) compile(ctx context.Context, source, out string, flags ...string) error {
	args := append(append(append([]string{}, b.cc[1:]...), "-O2", "-g", "-pthread"), flags...)
	// A relative name would make the debug information depend on where it is read.
	cmd := exec.CommandContext(ctx, b.cc[0], append(args, filepath.Join(b.dir, source+".c"), "-o", filepath.Join(b.dir, out))...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile %s.c with %s: %w: %s", source, b.cc[0], err, strings.TrimSpace(string(text)))
	}
	return nil
}

func (b *bench) measure(ctx context.Context, source, out string, flags ...string) (*report.Report, error) {
	if err := b.compile(ctx, source, out, flags...); err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	pr := newProgress(b.stderr)
	c := profiler.Config{
		Path: filepath.Join(b.dir, out), Args: []string{strconv.Itoa(b.threads)}, Backend: "auto",
		Stdin: null, Stdout: null, Stderr: os.Stderr,
	}
	if b.percent > 0 {
		c.Args = append(c.Args, strconv.Itoa(b.percent))
	}
	if pr != nil {
		c.Progress = pr.show
	}
	p, err := b.run(ctx, c)
	pr.erase()
	if err != nil {
		return nil, err
	}
	return report.New(p, report.Options{})
}
