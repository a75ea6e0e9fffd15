package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/skewlens/skewlens/report/scaling"
)

// benchScale asks two things of skewlens scale, n times, with a program that has
// nothing wrong: does it name a line all the same, and what do its runs cost beside
// plain ones, with samples, without, and recorded? What sections are said to lose is
// counted, too.
func benchScale(n int) error {
	return withLens(func(dir, lens string) error {
		out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/skewlens/skewlens/internal/cli").Output()
		if err != nil {
			return err
		}
		prog := filepath.Join(dir, "clean")
		src := filepath.Join(string(out[:len(out)-1]), "testdata", "scale", "clean.c")
		if msg, err := exec.Command("cc", "-O2", "-g", "-pthread", "-o", prog, src).CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", src, err, msg)
		}
		var c clean
		for range n {
			if err := c.once(lens, prog); err != nil {
				return err
			}
		}
		c.print(n)
		return nil
	})
}

// clean is what studies of a clean program come to.
type clean struct {
	named, disturbed, lost int
	recorded               []float64 // CPU time of recorded runs, by that of timed ones
	plain, timed, sampled  []cost
}

// once makes one study, and a run of each kind.
func (c *clean) once(lens, prog string) error {
	r, err := scaled(lens, "--", prog, "{threads}", "200000000")
	if err != nil {
		return err
	}
	c.named += min(1, len(r.Lines)+len(r.Serial))
	if slices.ContainsFunc(r.Sections, inflates) {
		c.lost++
	}
	if k := len(r.Recorded) - 1; k >= 0 && r.Recorded[k].Slowdown != nil {
		c.recorded = append(c.recorded, *r.Recorded[k].Slowdown)
	}
	if slices.ContainsFunc(r.Points, func(p scaling.Point) bool { return p.Disturbed }) {
		c.disturbed++
	}
	x, err := measure([]string{prog, "2", "800000000"}, "")
	if err != nil {
		return err
	}
	c.plain = append(c.plain, x)
	for _, x := range []struct {
		costs *[]cost
		flag  string
	}{{&c.timed, "--no-lines"}, {&c.sampled, "--no-lines=false"}} {
		if r, err = scaled(lens, x.flag, "--no-waits", "--no-turns", "--runs", "1", "--warmup", "0", "--", prog, "{threads}", "800000000"); err != nil {
			return err
		}
		p := r.Points[len(r.Points)-1]
		*x.costs = append(*x.costs, cost{seconds(*p.CPUS), seconds(p.WallS)})
	}
	return nil
}

func (c *clean) print(n int) {
	fmt.Printf("%d of %d reports name a line of a clean program, %d say that work of a section inflates; %d were of a disturbed machine\n", c.named, n, c.lost, c.disturbed)
	if slices.Sort(c.recorded); len(c.recorded) > 0 {
		fmt.Printf("CPU of recorded runs, to those that were timed: median %.3f, from %.3f to %.3f\n", c.recorded[len(c.recorded)/2], c.recorded[0], c.recorded[len(c.recorded)-1])
	}
	a, b, d := median(c.plain), median(c.timed), median(c.sampled)
	fmt.Printf("CPU of a run, to a plain one's %.3f s: %.3f timed, %.3f with samples; wall, to %.3f s: %.3f, %.3f\n",
		a.cpu.Seconds(), ratio(b.cpu, a.cpu), ratio(d.cpu, a.cpu), a.wall.Seconds(), ratio(b.wall, a.wall), ratio(d.wall, a.wall))
}

// scaled is the report of a study with up to two threads.
func scaled(lens string, args ...string) (*scaling.Report, error) {
	cmd := exec.Command(lens, append([]string{"scale", "--threads", "1,2", "--format", "json", "-o", "-"}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	r := &scaling.Report{}
	return r, json.Unmarshal(out, r)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// inflates reports whether a section's work on the most cores certainly inflates, by a
// twentieth or more.
func inflates(s scaling.Section) bool {
	p := &s.Points[len(s.Points)-1]
	if s.Kind == scaling.Outside || p.InflationS == nil || p.InflationSD == nil || p.WorkS == nil {
		return false
	}
	return *p.InflationS > *p.WorkS/20 && *p.InflationS > 3**p.InflationSD/math.Sqrt(float64(p.Runs))
}
