package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// How a program is run to see what simulated caches cost.
const (
	natively = iota
	simulated
	sampled
	byCallgrind // as often as there is time: once
	together    // with all threads, natively
	simulatedTogether
	ways
)

// benchCaches measures what simulated caches cost the programs of a file: one on a line, with its
// arguments, {threads} among them where it has some, and "< FILE" last if it reads one.
func benchCaches(file string, runs int, threads string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return withLens(func(_, lens string) error {
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "CPU time of\tnative\tsimulated\t1/16 of the sets\tcallgrind\tcallgrind over simulated\t%s threads, native\tsimulated\t\n", threads)
		var all [ways][]float64 // what each program takes of what it takes natively
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			took, err := costs(lens, line, runs, threads)
			if err != nil {
				return fmt.Errorf("%s: %w", line, err)
			}
			r := took
			for way, base := range [ways]int{simulatedTogether: together} {
				r[way] = took[way] / took[base]
				all[way] = append(all[way], r[way])
			}
			fmt.Fprintf(w, "%s\t%.3f s\t%.2f\t%.2f\t%.1f\t%.1f\t%.3f s\t%.2f\t\n", strings.Fields(line)[0], took[natively],
				r[simulated], r[sampled], r[byCallgrind], r[byCallgrind]/r[simulated], took[together], r[simulatedTogether])
		}
		g := func(way int) float64 { return geomean(all[way]) }
		fmt.Fprintf(w, "geometric mean\t\t%.2f\t%.2f\t%.1f\t%.1f\t\t%.2f\t\n", g(simulated), g(sampled), g(byCallgrind), g(byCallgrind)/g(simulated), g(simulatedTogether))
		return w.Flush()
	})
}

// costs is the least CPU time, in seconds, that a program takes each way, by turns.
func costs(lens, line string, runs int, threads string) (least [ways]float64, err error) {
	line, input, _ := strings.Cut(line, "<")
	program := func(n string) []string { return strings.Fields(strings.ReplaceAll(line, "{threads}", n)) }
	profile := func(flags ...string) []string {
		return slices.Concat([]string{lens, "profile", "--events", "edges,cache"}, flags, []string{"-o", os.DevNull, "--"})
	}
	commands := [ways][]string{
		natively:          program("1"),
		simulated:         append(profile(), program("1")...),
		sampled:           append(profile("--sample-sets", "1/16"), program("1")...),
		byCallgrind:       append([]string{"valgrind", "-q", "--tool=callgrind", "--cache-sim=yes", "--callgrind-out-file=" + os.DevNull}, program("1")...),
		together:          program(threads),
		simulatedTogether: append(profile(), program(threads)...),
	}
	for i := range least {
		least[i] = math.Inf(1)
	}
	for run := range runs {
		for way, words := range commands {
			if way == byCallgrind && run > 0 {
				continue
			}
			c, err := measure(words, strings.ReplaceAll(strings.TrimSpace(input), "{threads}", threadsOf(way, threads)))
			if err != nil {
				return least, err
			}
			least[way] = min(least[way], c.cpu.Seconds())
		}
	}
	return least, nil
}

func threadsOf(way int, threads string) string {
	if way >= together {
		return threads
	}
	return "1"
}
