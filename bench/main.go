// Bench measures what profiling costs: every program runs natively and under
// skewlens, by turns, so that both see the same noise, and the medians are
// compared.
//
//	go run ./bench                       the examples, scaled to about a second
//	go run ./bench -- ./solver big.in    any program
//	go run ./bench -probe no-induction   what a part of the machinery is worth
//	go run ./bench -counts               no times: every count of every program of the tests,
//	                                     in every build, against callgrind
//	go run ./bench -threads 8 -caches FILE
//	                                     what simulated caches cost the programs of a file, with one
//	                                     thread and several, beside callgrind's (minima, not medians)
//	go run ./bench -hints 50             skewlens scale of a clean program: lines that it names
//	                                     all the same, and what its runs cost beside plain ones
//
// CPU is user and system time of the program and, where it is profiled, of
// the profiler too: analysis before the run, and the report after it. Only
// ratios mean anything on a machine that others use.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"
)

func main() {
	runs := flag.Int("n", 7, "runs of each `N`")
	probe := flag.String("probe", "", "as skewlens profile --probe")
	scale := flag.String("scale", "300", "work of the examples, in percent")
	threads := flag.String("threads", "2", "of the examples")
	counts := flag.Bool("counts", false, "compare counts with callgrind's instead")
	hints := flag.Int("hints", 0, "studies by skewlens scale of a clean program, `N` of them, instead")
	caches := flag.String("caches", "", "what simulated caches cost the programs of this `FILE`, one on a line, instead")
	flag.Parse()
	if *counts {
		compareCounts()
		return
	}
	if *hints > 0 {
		if err := benchScale(*hints); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if *caches != "" {
		if err := benchCaches(*caches, *runs, *threads); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := bench(*runs, *probe, *scale, *threads, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// compareCounts runs the tests of exactness without leaving anything out.
func compareCounts() {
	test := exec.Command("go", "test", "github.com/skewlens/skewlens/profiler", "-run", "CountsEqual|Handlers|Faults", "-count=1", "-timeout=2h", "-v")
	test.Env = append(os.Environ(), "SKEWLENS_FULL=1")
	test.Stdout, test.Stderr = os.Stdout, os.Stderr
	if err := test.Run(); err != nil {
		os.Exit(1)
	}
}

// withLens builds skewlens in a folder that is there for f.
func withLens(f func(dir, lens string) error) error {
	dir, err := os.MkdirTemp("", "skewlens-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	lens := filepath.Join(dir, "skewlens")
	if out, err := exec.Command("go", "build", "-o", lens, "github.com/skewlens/skewlens").CombinedOutput(); err != nil {
		return fmt.Errorf("build skewlens: %w\n%s", err, out)
	}
	return f(dir, lens)
}

func bench(runs int, probe, scale, threads string, program []string) error {
	return withLens(func(dir, lens string) error { return compare(dir, lens, runs, probe, scale, threads, program) })
}

// compare measures every program natively and under skewlens.
func compare(dir, lens string, runs int, probe, scale, threads string, program []string) (err error) {
	programs := [][]string{program}
	if len(program) == 0 {
		if programs, err = examples(dir, threads, scale); err != nil {
			return err
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "program\tnative CPU\tprofiled\tratio\tnative wall\tprofiled\tratio\t")
	var cpu, wall []float64
	for _, p := range programs {
		var native, profiled []cost
		for range runs {
			c, err := measure(p, "")
			if err != nil {
				return err
			}
			native = append(native, c)
			if c, err = measure(append([]string{lens, "profile", "--probe", probe, "-o", os.DevNull, "--"}, p...), ""); err != nil {
				return err
			}
			profiled = append(profiled, c)
		}
		a, b := median(native), median(profiled)
		cpu, wall = append(cpu, ratio(b.cpu, a.cpu)), append(wall, ratio(b.wall, a.wall))
		fmt.Fprintf(w, "%s\t%.3f s\t%.3f s\t%.3f\t%.3f s\t%.3f s\t%.3f\t\n", filepath.Base(p[0]), a.cpu.Seconds(), b.cpu.Seconds(), cpu[len(cpu)-1],
			a.wall.Seconds(), b.wall.Seconds(), wall[len(wall)-1])
	}
	fmt.Fprintf(w, "geometric mean\t\t\t%.3f\t\t\t%.3f\t\n", geomean(cpu), geomean(wall))
	fmt.Fprintf(w, "worst\t\t\t%.3f\t\t\t%.3f\t\n", slices.Max(cpu), slices.Max(wall))
	return w.Flush()
}

// examples builds the example programs; the waiting loop of spin.c takes as
// long as the others need, so it says nothing.
func examples(dir, threads, scale string) (programs [][]string, err error) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/skewlens/skewlens").Output()
	if err != nil {
		return nil, err
	}
	sources, err := filepath.Glob(filepath.Join(string(out[:len(out)-1]), "examples", "*.c"))
	if err != nil {
		return nil, err
	}
	for _, src := range sources {
		name := filepath.Base(src[:len(src)-2])
		if name == "spin" {
			continue
		}
		bin := filepath.Join(dir, name)
		if msg, err := exec.Command("cc", "-O2", "-g", "-pthread", "-o", bin, src).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", src, err, msg)
		}
		programs = append(programs, []string{bin, threads, scale})
	}
	return programs, nil
}

func median(cs []cost) cost {
	pick := func(of func(cost) time.Duration) time.Duration {
		var d []time.Duration
		for _, c := range cs {
			d = append(d, of(c))
		}
		slices.Sort(d)
		return d[len(d)/2]
	}
	return cost{pick(func(c cost) time.Duration { return c.cpu }), pick(func(c cost) time.Duration { return c.wall })}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func geomean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += math.Log(x)
	}
	return math.Exp(s / float64(len(v)))
}
