package cli

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skewlens/skewlens/internal/atomicfile"
	"github.com/skewlens/skewlens/internal/launch"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
)

// profileCommand runs a program and reports on it. How programs are run is a
// field, so that the command can be tested without one.
type profileCommand struct {
	run func(context.Context, profiler.Config) (*profile.Profile, error)
}

// profileFlags are the flags of the command.
type profileFlags struct {
	showing
	threads   int
	backend   string
	events    string
	machine   string
	save      string
	propagate bool
	noCache   bool
	libraries []string
	follow    bool
	cores     int
	units     bool
	verify    bool
	sample    int
	sizes     sizes
	probe     string
	rank      *profile.Rank // of the launcher that started this process; nil: none did
	launcher  []string      // a command that starts ranks, before the program's own; none: the program is started itself
	kept      bool          // another process waits for this one, which the launcher may kill
	ranks     string        // the directory that --save names, for those of all ranks; "": it names a file
}

func (o *profileFlags) flags() *flag.FlagSet {
	fs := flag.NewFlagSet("profile", flag.ContinueOnError)
	o.define(fs)
	fs.IntVar(&o.threads, "threads", 0, "set OMP_NUM_THREADS to `N`, and put N in place of {threads} in the arguments")
	fs.BoolVar(&o.units, "units", false, "look how much work each unit was that a section's threads dealt out among them, and say what other dealings would bring")
	fs.IntVar(&o.cores, "cores", 0, "keep threads together as if they ran on `N` cores, however many there are: who takes work from a queue or counter then takes what it would there")
	fs.StringVar(&o.backend, "backend", "auto", "count with `BACKEND`: auto, native, or perf, which counts no control flow but what the kernel and the processor do (default auto)")
	fs.StringVar(&o.events, "events", "", "count `EVENTS`: edges, which is the control flow; edges,cache, which simulates caches; edges,hardware, with what the kernel and the processor count; or hardware alone (default edges; with --backend perf hardware)")
	fs.StringVar(&o.machine, "machine", "", "simulate the caches of `MACHINE`: host, paper, server64, or a file (default host)")
	fs.Func("sizes", "instead of one machine's, simulate caches of `SIZES` at once, and show misses over size: \"16K,64K\", or \"16K,...,32M\" for all between", o.sizes.parse)
	fs.Func("sample-sets", "simulate `1/N` of the caches' sets and take them for all: 1/2 to 1/32 (default all)", func(s string) (err error) {
		o.sample, err = profiler.ParseSample(s)
		return err
	})
	fs.BoolVar(&o.verify, "verify", false, "where cache misses are causes, run the program once more, without output and with these misses as hits, and say how much of the imbalance that removes")
	fs.StringVar(&o.save, "save", "", "save the profile to `FILE`, for skewlens report; each rank that mpirun or srun starts, to a file of its own in DIR/")
	fs.BoolVar(&o.propagate, "propagate", false, "exit with the program's own status")
	fs.Func("lib", "also count the shared libraries that `PATTERN` matches, as \"libfft*\", beside those that the program needs; none: only those that other patterns match. May be repeated", func(s string) error {
		if _, err := path.Match(s, ""); err != nil || s == "" {
			return errors.New("want a pattern as libfft or \"libfft*.so*\"")
		}
		o.libraries = append(o.libraries, s)
		return nil
	})
	fs.Func("launcher", "start the program by `COMMAND`, as \"mpirun -n 4\", and report on all ranks. May be repeated, for more words", func(s string) error {
		o.launcher = append(o.launcher, strings.Fields(s)...)
		return nil
	})
	fs.BoolVar(&o.noCache, "no-cache", false, "analyse the program anew, and keep nothing for the next run")
	fs.BoolVar(&o.follow, "follow-exec", false, "when the program replaces itself by another one, as env and launchers do, profile that one")
	fs.StringVar(&o.probe, "probe", "", "to measure the profiler itself, do without `LIST`: no-counters, no-tree, no-induction, no-align, no-leaf; or lay the copy out otherwise: layout-1, layout-2, …")
	return fs
}

const profileNotes = `The program's input and output are its own; the report goes to standard error.
Exit status: 0 the report was written, 1 wrong usage, 2 the program could not be profiled,
3 imbalance above --fail-above; with --propagate the program's own when it is not 0.
`

func (o *profileFlags) checkAll(fs *flag.FlagSet) error {
	if err := o.check(fs); err != nil {
		return err
	}
	if err := o.checkEvents(); err != nil {
		return err
	}
	if err := o.checkCaches(); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return usageError("no program to profile: skewlens profile -- program arguments")
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["threads"] && o.threads < 1 {
		return usageError("--threads %d: give the number of threads, 1 or more", o.threads)
	}
	if given["cores"] && (o.cores < 1 || o.cores > 1<<16) {
		return usageError("--cores %d: give the number of cores, 1 or more", o.cores)
	}
	if !given["threads"] && strings.Contains(strings.Join(fs.Args()[1:], " "), "{threads}") {
		return usageError("the arguments have {threads} but there is no --threads: add --threads 8")
	}
	if o.output == "" && o.binary() {
		return usageError("--format %s is no text, and standard error is the program's too: add -o FILE", o.format)
	}
	if launch.Starts(fs.Arg(0)) && !o.follow {
		return usageError("%s starts the ranks itself, so skewlens goes behind it: %s -n 4 skewlens profile --save DIR/ -- program, then skewlens report DIR; or: skewlens profile --launcher \"%s -n 4\" -- program", fs.Arg(0), fs.Arg(0), fs.Arg(0))
	}
	if o.save != "" && o.save == o.output {
		return usageError("-o and --save name the same file, %s: choose two", o.save)
	}
	return nil
}

// checkEvents says what is counted where nobody has, and refuses what counts nothing of
// what is asked for.
func (o *profileFlags) checkEvents() error {
	if err := choose("backend", o.backend, []string{"auto", "native", "perf"}, "valgrind"); err != nil {
		return err
	}
	if o.events == "" {
		if o.events = "edges"; o.backend == "perf" {
			o.events = "hardware"
		}
	}
	if err := choose("events", o.events, []string{"edges", "edges,cache", "edges,hardware", "hardware"}); err != nil {
		return err
	}
	if o.events == "hardware" && (o.cores > 0 || o.units || o.backend == "native") {
		return usageError("--cores, --units and the native backend count the control flow, and --events hardware does not: add it, --events edges,hardware")
	}
	if r := profile.Response(o.response); (r == profile.HardwareCycle || r == profile.TaskClock) && !strings.HasSuffix(o.events, "hardware") {
		return usageError("--response %s is what the processor or the kernel counts, and nobody asks them: add --events edges,hardware", r)
	}
	return nil
}

// caches reports whether they are simulated.
func (o *profileFlags) caches() bool { return strings.HasSuffix(o.events, ",cache") }

// checkCaches refuses what asks something of simulated caches where there are none.
func (o *profileFlags) checkCaches() error {
	if o.machine != "" && !o.caches() {
		return usageError("--machine %s says whose caches are simulated, and none are: add --events edges,cache", o.machine)
	}
	if len(o.sizes) > 0 && !o.caches() {
		return usageError("--sizes says which caches are simulated, and none are: add --events edges,cache")
	}
	if o.verify && len(o.launcher) > 0 {
		return usageError("--verify runs the program once more, which ranks that were started by --launcher cannot: leave it out")
	}
	if len(o.sizes) > 0 && (o.machine != "" || o.verify) {
		return usageError("--sizes simulates caches of all sizes instead of a machine's: leave out --machine and --verify")
	}
	if o.sample > 0 && !o.caches() {
		return usageError("--sample-sets says how much of caches is simulated, and none are: add --events edges,cache")
	}
	if o.verify && !o.caches() {
		return usageError("--verify is about misses of simulated caches, and none are simulated: add --events edges,cache")
	}
	return nil
}

func (c profileCommand) do(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	var o profileFlags
	fs := o.flags()
	if err := parse(fs, args); err != nil {
		return err
	}
	if err := o.checkAll(fs); err != nil {
		return err
	}
	path, err := profiler.Find(fs.Arg(0), "")
	if err != nil {
		return err
	}
	if o.output == "" { // else only the program itself writes there
		behind(stderr, fs, args)
	}
	if len(o.launcher) > 0 {
		return o.launch(ctx, stdout, stderr, fs.Args())
	}
	ctx = o.keptBy(ctx)
	if err := o.findRank(); err != nil {
		return err
	}
	if o.verify && o.rank != nil {
		return usageError("--verify runs the program once more, and one rank cannot run without the others: leave it out")
	}
	if o.keeps() {
		return keep()
	}
	for _, name := range []string{o.save, o.output} {
		if name != "" && name != "-" {
			if err := atomicfile.Writable(name); err != nil {
				return err
			}
		}
	}
	pr := newProgress(stderr)
	config := o.config(path, fs.Args(), pr)
	if o.ranks != "" {
		m := launch.NewMark(o.save)
		defer m.Remove()
		config.Progress = func(r profiler.Progress) { m.Tell(r.Instances) }
	}
	again, err := o.prepare(&config)
	if err != nil {
		return err
	}
	p, err := c.run(ctx, config)
	pr.erase()
	if p == nil {
		return err
	}
	return o.finish(stdout, stderr, p, err, func(r *report.Report) error { return c.verify(ctx, r, p, again) })
}

// config runs what was asked for; words are the program as it was called, and
// its arguments.
func (o *profileFlags) config(path string, words []string, pr *progress) profiler.Config {
	c := profiler.Config{
		Probe: o.probe, Cores: o.cores, Units: o.units, Libraries: o.libraries, FollowExec: o.follow,
		Path: path, Name: words[0], Args: words[1:], Backend: o.backend, Events: strings.Split(o.events, ","), Machine: o.machine, SampleSets: o.sample, Reuse: len(o.sizes) > 0,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Rank: o.rank,
	}
	if pr != nil {
		c.Progress = pr.show
	}
	if dir := cacheDir(); dir != "" && !o.noCache {
		c.Analyses = filepath.Join(dir, "analyses")
	}
	if o.threads > 0 {
		n := strconv.Itoa(o.threads)
		c.Env = with(os.Environ(), "OMP_NUM_THREADS", n)
		c.Args = make([]string, len(words)-1)
		for i, a := range words[1:] {
			c.Args[i] = strings.ReplaceAll(a, "{threads}", n)
		}
	}
	return c
}

// cacheDir is where things are kept from run to run, which may be deleted at
// any time: $XDG_CACHE_HOME/skewlens or ~/.cache/skewlens; empty for nowhere.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "skewlens")
}

// with sets a variable in an environment. Only one setting may remain: C
// programs take the first they find.
func with(env []string, name, value string) []string {
	out := []string{}
	for _, e := range env {
		if !strings.HasPrefix(e, name+"=") {
			out = append(out, e)
		}
	}
	return append(out, name+"="+value)
}

// finish saves and reports. What was measured must not be lost, so it is saved
// before anything is made of it, and a full disk does not keep the report back.
func (o *profileFlags) finish(stdout, stderr io.Writer, p *profile.Profile, failed error, verify func(*report.Report) error) error {
	errs := []error{failed}
	if o.save != "" {
		errs = append(errs, atomicfile.Write(o.save, func(w io.Writer) error { return profile.Write(w, p) }))
	}
	var r *report.Report
	if o.ranks == "" || o.output != "" {
		var err error
		opt := o.options()
		opt.Sizes, opt.Checked = o.sizes, true // by profiler.Run
		if r, err = report.New(p, opt); err == nil && failed == nil && o.verify {
			err = verify(r)
		}
		if err == nil {
			err = o.write(stdout, stderr, p, r)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if o.propagate {
		if status := targetStatus(p.Run); status != 0 {
			return &exitError{status: status}
		}
	}
	if r == nil {
		return nil
	}
	return o.verdict(r)
}
