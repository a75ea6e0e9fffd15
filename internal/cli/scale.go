package cli

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/skewlens/skewlens/internal/atomicfile"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/html"
	"github.com/skewlens/skewlens/report/plot"
	"github.com/skewlens/skewlens/report/scaling"
	"github.com/skewlens/skewlens/report/text"
)

// scaleCommand times a program on several numbers of cores and says where its
// speedup goes. How programs are timed and profiled are fields, so that the command can
// be tested without one.
type scaleCommand struct {
	run     func(context.Context, profiler.ScaleConfig) (*profiler.ScaleRuns, error)
	profile func(context.Context, profiler.Config) (*profile.Profile, error)
	record  recorder
	byTurns turnsRecorder
}

// scaleFlags are the flags of the command.
type scaleFlags struct {
	format, output    string
	plot, stack       string
	lines             string
	threads           []int
	baseline, elision string
	runs, warmup      int
	recorded          int
	pin, over         bool
	noLines, noWaits  bool
	noTurns, caches   bool
	forecast          bool
	env               []string
}

func (o *scaleFlags) flags() *flag.FlagSet {
	fs := flag.NewFlagSet("scale", flag.ContinueOnError)
	fs.StringVar(&o.format, "format", "text", "report as `FORMAT`: text, html or json (default text)")
	fs.StringVar(&o.output, "o", "", "write the report to `FILE`, - for standard output (default standard error)")
	fs.StringVar(&o.plot, "plot", "", "also draw the factored speedups into `FILE`, a picture by its name: .svg, .png or .pdf")
	fs.StringVar(&o.stack, "plot-stack", "", "draw what the cores' time went to, a stack for each number of cores, into `FILE`, likewise")
	fs.StringVar(&o.lines, "plot-lines", "", "draw the lines whose work grows with the cores into `FILE`, likewise, if there are any")
	fs.Func("threads", "run with each of `LIST` threads, as 1,2,4; 1 is always run (default 1, 2, 4, … and as many as there are cores)", func(s string) error {
		o.threads = nil
		for _, f := range strings.Split(s, ",") {
			p, err := strconv.Atoi(strings.TrimSpace(f))
			if err != nil || p < 1 || p > 1<<16 {
				return errors.New("want numbers as 1,2,4")
			}
			o.threads = append(o.threads, p)
		}
		return nil
	})
	fs.StringVar(&o.baseline, "baseline", "", "compare with the best sequential program, which the shell runs by `COMMAND` (default: the program itself with 1 thread)")
	fs.StringVar(&o.elision, "elision", "", "also time the program with its parallelism taken out, which the shell runs by `COMMAND`: what creating threads and tasks costs")
	fs.Func("env", "set `NAME=VALUE` for the program; {threads} in it is replaced. May be repeated", func(s string) error {
		if name, _, ok := strings.Cut(s, "="); !ok || name == "" {
			return errors.New("want NAME=VALUE")
		}
		o.env = append(o.env, s)
		return nil
	})
	fs.IntVar(&o.runs, "runs", 5, "run each `N` times (default 5)")
	fs.IntVar(&o.warmup, "warmup", 1, "before that, run each `N` times without counting (default 1)")
	fs.BoolVar(&o.pin, "pin", false, "keep the program on as many cores as it has threads")
	fs.BoolVar(&o.over, "oversubscribe", false, "allow more threads than there are cores; their figures are marked")
	fs.BoolVar(&o.noLines, "no-lines", false, "do not sample which lines take more work with more cores; they take about 1 % of the CPU time, up to 3 % on a busy machine")
	fs.BoolVar(&o.noWaits, "no-waits", false, "do not record runs: neither sections nor what threads wait for are known then")
	fs.IntVar(&o.recorded, "recorded", 3, "record when threads meet, work and wait in `N` more runs of each, which says where in the program speedup is lost (default 3)")
	fs.BoolVar(&o.noTurns, "no-turns", false, "do not run as many threads on one core, by turns, to say how much of the inflation comes from running at the same time")
	fs.BoolVar(&o.caches, "caches", false, "simulate this machine's caches in two more runs, 5 to 50 times as long, to divide the inflation by what they missed")
	fs.BoolVar(&o.forecast, "forecast", false, "profile one more run, with units, and put beside the measured speedups what its tasks allow, with more threads, too")
	return fs
}

const scaleNotes = `{threads} in the program's arguments and in --env is replaced by the number of threads, which OMP_NUM_THREADS has, too.
The program runs as it is: nothing is put into it, a clock of the kernel samples it. A few more runs are recorded, to say
what each section takes and what threads wait for; their times are not among those. Its output is its own, every run's; its input is given to each run anew.
Exit status: 0 the report was written, 1 wrong usage, 2 a run failed, which ends all.
`

// check refuses what cannot be timed; cores are those there are.
func (o *scaleFlags) check(fs *flag.FlagSet, cores int) error {
	if err := choose("format", o.format, []string{"text", "html", "json"}); err != nil {
		return err
	}
	for _, file := range []string{o.plot, o.stack, o.lines} {
		if file == "" {
			continue
		}
		if _, err := plot.Format(file); err != nil {
			return usageError("%v", err)
		}
	}
	switch {
	case fs.NArg() == 0:
		return usageError("no program to time: skewlens scale -- program {threads}")
	case o.runs < 1 || o.runs > 1000:
		return usageError("--runs %d: give 1 to 1000; 5 say something about spread", o.runs)
	case o.warmup < 0 || o.warmup > 1000:
		return usageError("--warmup %d: give 0 to 1000", o.warmup)
	case o.recorded < 0 || o.recorded > 1000:
		return usageError("--recorded %d: give 0 to 1000; 3 say something about spread", o.recorded)
	}
	if o.threads == nil {
		for p := 1; p < cores; p *= 2 {
			o.threads = append(o.threads, p)
		}
		o.threads = append(o.threads, cores)
	}
	o.threads = append(o.threads, 1)
	slices.Sort(o.threads)
	o.threads = slices.Compact(o.threads)
	if most := o.threads[len(o.threads)-1]; most > cores && !o.over {
		return usageError("%d threads on %d cores would wait for each other, which is no speedup: leave them out of --threads, or add --oversubscribe, which marks their figures", most, cores)
	}
	return nil
}

func (c scaleCommand) do(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	var o scaleFlags
	fs := o.flags()
	if err := parse(fs, args); err != nil {
		return err
	}
	cores, whole, err := profiler.Cores()
	if err != nil {
		return err
	}
	if err := o.check(fs, cores); err != nil {
		return err
	}
	path, err := profiler.Find(fs.Arg(0), "")
	if err != nil {
		return err
	}
	if o.output == "" { // else only the program itself writes there
		behind(stderr, fs, args)
	}
	for _, file := range []string{o.output, o.plot, o.stack, o.lines} {
		if file != "" && file != "-" {
			if err := atomicfile.Writable(file); err != nil {
				return err
			}
		}
	}
	s := scaleStudy{o: &o, words: fs.Args(), path: path, cores: cores, whole: whole, quota: quota(cores)}
	pr := newProgress(stderr)
	config, err := s.config(stderr, pr)
	if err != nil {
		return err
	}
	runs, err := c.run(ctx, config)
	pr.erase()
	if err != nil {
		return err
	}
	r, err := s.report(runs)
	if err != nil {
		return err
	}
	s.turns(ctx, c.run, &config, r)
	s.recorded(ctx, c.record, c.byTurns, &config, r)
	s.simulate(ctx, c.profile, &config, r)
	s.forecast(ctx, c.profile, &config, r)
	pr.erase()
	o.leaveOut(r)
	return errors.Join(o.write(stdout, stderr, r), o.draw(r))
}

// leaveOut leaves out the pictures of which there is nothing to draw, and says so: that a
// busy machine hid it is no failure of what was measured besides.
func (o *scaleFlags) leaveOut(r *scaling.Report) {
	out := func(file *string, why string) {
		r.Warnings = append(r.Warnings, report.Warning{Code: "no-picture", Message: *file + " is not drawn: " + why})
		*file = ""
	}
	if o.lines != "" && len(r.Lines) == 0 {
		out(&o.lines, "no line's work certainly grows with the cores")
	}
	if o.stack != "" && !slices.ContainsFunc(r.Points, func(p scaling.Point) bool { return len(p.Stack) > 0 }) {
		out(&o.stack, "what the cores' time went to is not known on any number of cores; the other warnings say why")
	}
}

// draw writes the pictures that were asked for.
func (o *scaleFlags) draw(r *scaling.Report) error {
	var failed []error
	for _, picture := range []struct {
		file  string
		write func(io.Writer, *scaling.Report, string) error
	}{{o.plot, plot.Write}, {o.stack, plot.WriteStack}, {o.lines, plot.WriteLines}} {
		if picture.file == "" {
			continue
		}
		format, err := plot.Format(picture.file)
		if err == nil {
			err = atomicfile.Write(picture.file, func(w io.Writer) error { return picture.write(w, r, format) })
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// write puts the report where it was asked for.
func (o *scaleFlags) write(stdout, stderr io.Writer, r *scaling.Report) error {
	render := func(w io.Writer) error {
		opt := textOptions(w, r.Program.Path)
		switch o.format {
		case "json":
			return scaling.WriteJSON(w, r)
		case "html":
			return html.WriteScaling(w, r, html.Options{Dir: opt.Dir, Source: opt.Source})
		}
		return text.WriteScaling(w, r, opt)
	}
	switch o.output {
	case "":
		return render(stderr)
	case "-":
		return render(stdout)
	}
	return atomicfile.Write(o.output, render)
}

// has reports whether {threads} stands anywhere.
func (s *scaleStudy) has() bool {
	return strings.Contains(strings.Join(append(s.words[1:], s.o.env...), " "), profiler.ThreadsWord)
}

// setenv sets variables in an environment. Only one setting of each may remain.
func setenv(env, settings []string) []string {
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		env = with(env, name, value)
	}
	return env
}

// unset are those of the settings whose variable an environment does not have.
func unset(env, settings []string) (missing []string) {
	for _, s := range settings {
		name, _, _ := strings.Cut(s, "=")
		if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
			missing = append(missing, s)
		}
	}
	return missing
}

// environment is what the program gets: this process's, --env, and what makes waits
// of OpenMP runtimes passive where the user has not chosen.
func (o *scaleFlags) environment() (env, passive []string) {
	env = setenv(os.Environ(), o.env)
	passive = unset(env, []string{"OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=0", "KMP_BLOCKTIME=0"})
	return setenv(env, passive), passive
}
