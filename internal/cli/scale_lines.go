package cli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/skewlens/skewlens/attribution"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// sampledLines are where runs on one core, and on the most, spent their CPU time.
type sampledLines struct {
	runs *profiler.ScaleRuns
	path string // of the program
	p    int
}

// sampled reports whether there are samples.
func (l *sampledLines) sampled() bool { return l.runs.Place != nil && l.runs.NoSamples == nil }

func (l *sampledLines) period() *float64 {
	if !l.sampled() {
		return nil
	}
	s := profiler.SamplePeriod.Seconds()
	return &s
}

// inflated are the lines whose work grows, and the names of their places.
func (l *sampledLines) inflated() (out []scaling.Line, names []string) {
	if !l.sampled() || l.p == 1 {
		return nil, nil
	}
	for _, g := range attribution.Inflated(samples(l.runs.At[1]), samples(l.runs.At[l.p]), attribution.Seconds(profiler.SamplePeriod.Seconds())) {
		out = append(out, scaling.Line{
			Location: l.location(l.runs.Place(g.Line)), P: l.p, W1S: float64(g.W1), WPS: float64(g.WP),
			InflationS: float64(g.Inflation), LowS: float64(g.Low), HighS: float64(g.High), Share: g.Share, Work: l.work(g.Line),
		})
		names = append(names, g.Line)
	}
	return out, names
}

// work is what a line takes on each number of cores.
func (l *sampledLines) work(name string) []scaling.LineWork {
	out := []scaling.LineWork{}
	for _, p := range slices.Sorted(maps.Keys(l.runs.At)) {
		if e := attribution.Work(samples(l.runs.At[p]), name, attribution.Seconds(profiler.SamplePeriod.Seconds())); e != nil {
			w := scaling.LineWork{P: p, WorkS: float64(e.Mean)}
			if e.SD != nil {
				sd := float64(*e.SD)
				w.WorkSD = &sd
			}
			out = append(out, w)
		}
	}
	return out
}

// serial are the lines that ran alone at the last point.
func (l *sampledLines) serial(at *attribution.Point) (out []scaling.Serial) {
	if !l.sampled() || l.p == 1 {
		return nil
	}
	var alone []attribution.Samples[string]
	for _, r := range l.runs.At[l.p] {
		alone = append(alone, r.Samples.Alone)
	}
	queue := attribution.Seconds(0)
	if at.Queue != nil {
		queue = at.Queue.Mean
	}
	for _, s := range attribution.Serial(alone, at.Time.Mean, queue, attribution.Seconds(profiler.SamplePeriod.Seconds())) {
		out = append(out, scaling.Serial{
			Location: l.location(l.runs.Place(s.Line)), P: l.p,
			AloneS: float64(s.Alone), LowS: float64(s.Low), HighS: float64(s.High), IdleS: float64(l.p-1) * float64(s.Alone),
		})
	}
	return out
}

func samples(runs []profiler.TimedRun) (out []attribution.Samples[string]) {
	for _, r := range runs {
		out = append(out, r.Samples.Places)
	}
	return out
}

// location is a place as reports have it.
func (l *sampledLines) location(p profiler.SamplePlace) *report.Location {
	at := &report.Location{Place: place(p.Location.Frame)}
	if p.File != l.path {
		at.Library = p.File
	}
	for _, f := range p.Location.InlinedAt {
		at.InlinedAt = append(at.InlinedAt, place(f))
	}
	if !at.Known() && at.Function == "" {
		at.Function = "code without symbols"
		if p.File == "" {
			at.Function = "code of no file, or of the kernel"
		}
	}
	return at
}

func place(f profile.Frame) report.Place {
	return report.Place{File: f.File, Line: f.Line, Column: f.Column, Function: f.Function}
}

const (
	fewSamples  = 100  // in a run: that is 10 % of spread for the work of all lines together
	mostMissing = 0.15 // of the samples that the CPU time would have
)

// doubts are about the samples.
func (l *sampledLines) doubts() (ws []profile.Warning) {
	add := func(code, format string, args ...any) {
		ws = append(ws, profile.Warning{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if err := l.runs.NoSamples; err != nil {
		add("no-samples", "which lines take more work with more cores is not known: %v", err)
	}
	if !l.sampled() || l.p == 1 {
		return ws
	}
	least, seen, kernel := 0.0, 1.0, true
	for _, p := range []int{1, l.p} {
		n, cpu := 0.0, 0.0
		for _, r := range l.runs.At[p] {
			n += float64(r.Samples.Total)
			cpu += r.CPU.Seconds()
			kernel = kernel && r.Samples.Kernel
		}
		if runs := float64(len(l.runs.At[p])); p == 1 || n/runs < least {
			least = n / runs
		}
		if cpu > 0 {
			seen = min(seen, n*profiler.SamplePeriod.Seconds()/cpu)
		}
	}
	switch {
	case least < fewSamples:
		add("few-samples", "%.0f samples in a run say little about lines, so only what grows very much is named: let it work longer, for a second or more", least)
	case seen < 1-mostMissing && kernel:
		add("missing-samples", "samples account for %.0f %% of the CPU time only: threads that live shorter than %v are rarely met", 100*seen, profiler.SamplePeriod)
	case seen < 1-mostMissing:
		add("missing-samples", "samples account for %.0f %% of the CPU time only: what the kernel did for the program is not sampled, sysctl kernel.perf_event_paranoid=1 as root allows it", 100*seen)
	}
	return ws
}
