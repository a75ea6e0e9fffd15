// Package scaling is the report on where a program's speedup goes: what package
// attribution makes of timed runs, in a stable form for programs, and with what is
// said in words.
//
//	attribution.Scaling ─┐
//	lines that inflate ──┼─▶ New ─▶ Report ─┬─▶ WriteJSON
//	the command ─────────┘                  ├─▶ report/text
//	                                        └─▶ report/html
//
// Numbers that are not known are absent, never zero.
package scaling

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/skewlens/skewlens/attribution"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
)

// version of the JSON form. Fields are added, never renamed.
const version = 1

// Report is where the speedup goes. All times are means of runs, in seconds; what
// ends in _sd is the standard deviation of one run.
type Report struct {
	Version    int            `json:"version"`
	Program    report.Program `json:"program"`
	Setting    Setting        `json:"setting"`
	BaselineS  float64        `json:"baseline_s"` // T_s
	BaselineSD *float64       `json:"baseline_sd,omitempty"`
	Baseline   string         `json:"baseline,omitempty"` // its command; none: the program on one core
	ElisionS   *float64       `json:"elision_s,omitempty"`
	ElisionSD  *float64       `json:"elision_sd,omitempty"`
	Elision    string         `json:"elision,omitempty"`
	Points     []Point        `json:"points"`
	Lines      []Line         `json:"inflated_lines"`
	Serial     []Serial       `json:"serial_lines"`
	Recorded   []Recordings   `json:"recorded,omitempty"` // the runs that sections and waits are of
	Sections   []Section      `json:"sections,omitempty"` // those that lose most first
	Waits      *Waits         `json:"waits,omitempty"`    // absent: not known, or little idles
	Together   *Together      `json:"together,omitempty"` // absent: not known, or little inflates
	Caches     *Caches        `json:"caches,omitempty"`   // absent: none were simulated, or they did not tell
	Forecast   *Forecast      `json:"forecast,omitempty"` // absent: no run was profiled, or it did not tell
	Notes      []Note         `json:"notes"`              // what the curves say
	// What the core time at the last point was lost to most: "idle", "inflation" or
	// "overhead"; "scales": nothing much; "speedup": not known.
	Main     string           `json:"main,omitempty"`
	Warnings []report.Warning `json:"warnings"`
}

// Setting is how it was measured.
type Setting struct {
	Cores       int      `json:"cores"`          // there are so many hardware threads,
	Whole       int      `json:"physical_cores"` // on so many cores
	Warmup      int      `json:"warmup"`         // runs before the first that counts
	Pinned      bool     `json:"pinned"`         // to as many cores as threads
	Environment []string `json:"environment"`    // set for the program beside its own
	// The CPU time between two samples, of which inflated_lines are made.
	SamplePeriodS *float64 `json:"sample_period_s,omitempty"`
}

// Point is the program on P cores.
type Point struct {
	P              int       `json:"p"`
	Runs           int       `json:"runs"`
	TimeS          float64   `json:"time_s"` // T_P: wall_s without the cores' part of queued_s
	TimeSD         *float64  `json:"time_sd,omitempty"`
	WallS          float64   `json:"wall_s"`
	WallSD         *float64  `json:"wall_sd,omitempty"`
	CPUS           *float64  `json:"cpu_s,omitempty"`
	CPUSD          *float64  `json:"cpu_sd,omitempty"`
	QueueS         *float64  `json:"queue_s,omitempty"`  // for which threads were ready but had no core
	QueuedS        *float64  `json:"queued_s,omitempty"` // how much of it was taken off
	IdleS          *float64  `json:"idle_s,omitempty"`
	IdleSD         *float64  `json:"idle_sd,omitempty"`
	WorkS          *float64  `json:"work_s,omitempty"`
	WorkSD         *float64  `json:"work_sd,omitempty"`
	InflationS     *float64  `json:"inflation_s,omitempty"`
	InflationSD    *float64  `json:"inflation_sd,omitempty"`
	Disturbed      bool      `json:"disturbed,omitempty"`
	Oversubscribed bool      `json:"oversubscribed,omitempty"` // P is more than there are cores
	Speedup        Speedups  `json:"speedup"`
	Low            *Speedups `json:"speedup_low,omitempty"` // of an interval of 99 %
	High           *Speedups `json:"speedup_high,omitempty"`
	// Stack divides the core time; none where idle time is not known.
	Stack []Component `json:"stack,omitempty"`
}

// Speedups are the factored speedups.
type Speedups struct {
	Linear            float64  `json:"linear"`
	Elision           *float64 `json:"elision,omitempty"`
	Maximal           *float64 `json:"maximal,omitempty"`
	IdleSpecific      *float64 `json:"idle_specific,omitempty"`
	InflationSpecific *float64 `json:"inflation_specific,omitempty"`
	Actual            *float64 `json:"actual,omitempty"`
	Forecast          *float64 `json:"forecast,omitempty"` // what the tasks of a profiled run allow
}

// Line is a line whose work grows with the cores.
type Line struct {
	Location   *report.Location `json:"location"`
	P          int              `json:"p"`
	W1S        float64          `json:"w1_s"` // its work on one core
	WPS        float64          `json:"wp_s"` // and on P
	InflationS float64          `json:"inflation_s"`
	LowS       float64          `json:"low_s"` // of an interval of 99 %
	HighS      float64          `json:"high_s"`
	Share      float64          `json:"share"`             // of what all lines that grew have grown
	TurnsS     *float64         `json:"turns_s,omitempty"` // its work when as many threads take turns on one core
	Work       []LineWork       `json:"work"`              // on each number of cores that was measured
}

// LineWork is the work of a line at a point.
type LineWork struct {
	P      int      `json:"p"`
	WorkS  float64  `json:"work_s"`
	WorkSD *float64 `json:"work_sd,omitempty"` // of a run
}

// Serial is a line that runs while nothing else of the program does.
type Serial struct {
	Location *report.Location `json:"location"`
	P        int              `json:"p"`
	AloneS   float64          `json:"alone_s"`
	LowS     float64          `json:"low_s"` // of an interval of 99 %
	HighS    float64          `json:"high_s"`
	IdleS    float64          `json:"idle_s"` // of the other cores meanwhile
}

// Note is what the curves say.
type Note struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Study is what a report is made of.
type Study struct {
	Program           report.Program
	Setting           Setting
	Baseline, Elision string // commands; "": none
	Scaling           *attribution.Scaling
	Lines             []Line
	Serial            []Serial
	Doubts            []profile.Warning // about how it was measured
}

// New makes the report.
func New(s Study) *Report {
	x := s.Scaling
	r := &Report{
		Version: version, Program: s.Program, Setting: s.Setting,
		BaselineS: float64(x.Baseline.Mean), BaselineSD: seconds(x.Baseline.SD), Baseline: s.Baseline, Elision: s.Elision,
		Points: []Point{}, Lines: append([]Line{}, s.Lines...), Serial: append([]Serial{}, s.Serial...), Notes: []Note{}, Warnings: []report.Warning{},
	}
	if r.Setting.Environment == nil {
		r.Setting.Environment = []string{}
	}
	r.ElisionS, r.ElisionSD = estimate(x.Elision)
	for i := range x.Points {
		r.Points = append(r.Points, r.point(&x.Points[i]))
	}
	r.stack()
	for _, n := range x.Notes {
		r.Notes = append(r.Notes, Note(n))
	}
	if last := x.Last(); last.P > 1 {
		r.Main = attribution.Main(x, last)
	}
	for _, w := range append(s.Doubts, x.Warnings...) {
		r.Warnings = append(r.Warnings, report.Warning(w))
	}
	return r
}

func (r *Report) point(p *attribution.Point) Point {
	out := Point{P: p.P, Runs: p.Runs, Disturbed: p.Disturbed(), Oversubscribed: p.P > r.Setting.Cores}
	out.TimeS, out.TimeSD = float64(p.Time.Mean), seconds(p.Time.SD)
	out.WallS, out.WallSD = float64(p.Wall.Mean), seconds(p.Wall.SD)
	out.CPUS, out.CPUSD = estimate(p.CPU)
	out.QueueS, _ = estimate(p.Queue)
	out.QueuedS, _ = estimate(p.Queued)
	out.IdleS, out.IdleSD = estimate(p.Idle)
	out.WorkS, out.WorkSD = estimate(p.Work)
	out.InflationS, out.InflationSD = estimate(p.Inflation)
	out.Speedup = speedups(&p.Speedup, func(r *attribution.Ratio) *float64 { return &r.Value })
	if a := p.Speedup.Actual; a != nil && a.Low != nil {
		low := speedups(&p.Speedup, func(r *attribution.Ratio) *float64 { return r.Low })
		high := speedups(&p.Speedup, func(r *attribution.Ratio) *float64 { return r.High })
		out.Low, out.High = &low, &high
	}
	return out
}

func speedups(s *attribution.Speedups, of func(*attribution.Ratio) *float64) Speedups {
	get := func(r *attribution.Ratio) *float64 {
		if r == nil {
			return nil
		}
		return of(r)
	}
	return Speedups{Linear: s.Linear, Elision: get(s.Elision), Maximal: get(s.Maximal), IdleSpecific: get(s.IdleSpecific),
		InflationSpecific: get(s.InflationSpecific), Actual: get(s.Actual)}
}

func seconds(s *attribution.Seconds) *float64 {
	if s == nil {
		return nil
	}
	f := float64(*s)
	return &f
}

func estimate(e *attribution.Estimate) (mean, sd *float64) {
	if e == nil {
		return nil, nil
	}
	return seconds(&e.Mean), seconds(e.SD)
}

// ReadJSON reads what WriteJSON wrote.
func ReadJSON(f io.Reader) (*Report, error) {
	var r Report
	if err := json.NewDecoder(f).Decode(&r); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if err := r.Check(); err != nil {
		return nil, fmt.Errorf("read report: %w: measure again", err)
	}
	return &r, nil
}

// Check reports what a report lacks that all have.
func (r *Report) Check() error {
	if r.Version != version || len(r.Points) == 0 {
		return fmt.Errorf("it has version %d and %d points, want version %d", r.Version, len(r.Points), version)
	}
	at := []*report.Location{}
	for _, l := range r.Lines {
		at = append(at, l.Location)
	}
	for _, l := range r.Serial {
		at = append(at, l.Location)
	}
	if slices.Contains(at, nil) {
		return errors.New("a line has no location")
	}
	return nil
}

// WriteJSON writes the stable, versioned form.
func WriteJSON(w io.Writer, r *Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
