package scaling

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/attribution"
	"github.com/skewlens/skewlens/internal/golden"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
)

// runs are n runs that differ by a per cent.
func runs(n int, wall, cpu, queue float64) (rs []attribution.Run) {
	for i := range n {
		d := 1 + 0.01*float64(i-n/2)
		c, q := attribution.Seconds(cpu*d), attribution.Seconds(queue*d)
		rs = append(rs, attribution.Run{Wall: attribution.Seconds(wall * d), CPU: &c, Queue: &q})
	}
	return rs
}

func studyInput() *attribution.Input {
	return &attribution.Input{
		Cores: 4, Baseline: runs(5, 6, 6, 0), Elision: runs(5, 7, 7, 0),
		Runs: map[int][]attribution.Run{1: runs(5, 8, 8, 0), 2: runs(5, 5, 8.5, .5), 4: runs(5, 4, 9.5, .1), 8: runs(5, 4.1, 16, 14)},
	}
}

// study has all that a report can show; the renderers test with it, too.
func study(t *testing.T) Study {
	t.Helper()
	period := 0.002
	x, err := attribution.Factor(*studyInput())
	if err != nil {
		t.Fatal(err)
	}
	return Study{
		Program:  report.Program{Path: "/src/solver", Args: []string{"--threads", "{threads}"}},
		Setting:  Setting{Cores: 4, Whole: 2, Warmup: 1, Pinned: true, Environment: []string{"OMP_WAIT_POLICY=passive"}, SamplePeriodS: &period},
		Baseline: "./sequential", Elision: "./elision <x>", Scaling: x,
		Lines: []Line{
			{Location: &report.Location{Place: report.Place{File: "/src/owner.c", Line: 12, Function: "work"}, InlinedAt: []report.Place{{File: "/src/owner.c", Line: 40, Function: "main"}}},
				P: 4, W1S: .5, WPS: 1.5, InflationS: 1, LowS: .8, HighS: 1.2, Share: .75, Work: []LineWork{{1, .5, &period}, {2, .75, nil}, {4, 1.5, nil}, {8, 3, nil}}},
			{Location: &report.Location{Place: report.Place{Function: "memcpy", Library: "/lib/libc.so.6"}}, P: 4, WPS: .25, InflationS: .25, LowS: .2, HighS: .3, Share: .2, Work: []LineWork{}},
		},
		Serial: []Serial{{Location: &report.Location{Place: report.Place{File: "/src/owner.c", Line: 50, Function: "main"}}, P: 4, AloneS: .8, LowS: .75, HighS: .85, IdleS: 2.4}},
		Doubts: []profile.Warning{{Code: "oversubscribed", Message: "more threads than cores"}},
	}
}

// The contract again, written down independently of the types that write it:
// a field renamed or lost there fails here. Pointers may be absent.
type (
	wantSpeedup struct {
		Linear                   float64
		Elision, Maximal, Actual *float64
		IdleSpecific             *float64 `json:"idle_specific"`
		InflationSpecific        *float64 `json:"inflation_specific"`
		Forecast                 *float64
	}
	wantPlace struct {
		File, Function, Address string
		Line                    int
	}
	wantReport struct {
		Version int
		Program struct {
			Path string
			Args []string
		}
		Setting struct {
			Cores, Warmup int
			Whole         int `json:"physical_cores"`
			Pinned        bool
			Environment   []string
			SamplePeriodS *float64 `json:"sample_period_s"`
		}
		BaselineS         float64  `json:"baseline_s"`
		BaselineSD        *float64 `json:"baseline_sd"`
		Baseline, Elision *string
		ElisionS          *float64 `json:"elision_s"`
		ElisionSD         *float64 `json:"elision_sd"`
		Points            []struct {
			P, Runs                   int
			TimeS                     float64  `json:"time_s"`
			TimeSD                    *float64 `json:"time_sd"`
			WallS                     float64  `json:"wall_s"`
			WallSD                    *float64 `json:"wall_sd"`
			CPUS                      *float64 `json:"cpu_s"`
			CPUSD                     *float64 `json:"cpu_sd"`
			QueueS                    *float64 `json:"queue_s"`
			QueuedS                   *float64 `json:"queued_s"`
			IdleS                     *float64 `json:"idle_s"`
			IdleSD                    *float64 `json:"idle_sd"`
			WorkS                     *float64 `json:"work_s"`
			WorkSD                    *float64 `json:"work_sd"`
			InflationS                *float64 `json:"inflation_s"`
			InflationSD               *float64 `json:"inflation_sd"`
			Disturbed, Oversubscribed *bool
			Speedup                   wantSpeedup
			Low                       *wantSpeedup `json:"speedup_low"`
			High                      *wantSpeedup `json:"speedup_high"`
			Stack                     *[]struct {
				Name    string
				CoreS   float64 `json:"core_s"`
				Speedup float64
				How     string
			}
		}
		Lines []struct {
			Location struct {
				File, Function, Offset, Library *string
				Line                            *int
				InlinedAt                       *[]struct {
					File     string
					Line     int
					Function string
				} `json:"inlined_at"`
			}
			P          int
			W1S        float64 `json:"w1_s"`
			WPS        float64 `json:"wp_s"`
			InflationS float64 `json:"inflation_s"`
			LowS       float64 `json:"low_s"`
			HighS      float64 `json:"high_s"`
			Share      float64
			TurnsS     *float64 `json:"turns_s"`
			Work       []struct {
				P      int
				WorkS  float64  `json:"work_s"`
				WorkSD *float64 `json:"work_sd"`
			}
		} `json:"inflated_lines"`
		Serial []struct {
			Location struct {
				File, Function string
				Line           int
			}
			P      int
			AloneS float64 `json:"alone_s"`
			LowS   float64 `json:"low_s"`
			HighS  float64 `json:"high_s"`
			IdleS  float64 `json:"idle_s"`
		} `json:"serial_lines"`
		Forecast *struct {
			P      int
			WorkS  float64 `json:"work_s"`
			PathS  float64 `json:"path_s"`
			Points []struct {
				P       int
				Speedup float64
				Best    *float64
				Limited *bool
			}
			Parting *struct {
				P                  int
				Measured, Forecast float64
				CoreS              float64 `json:"core_s"`
				InflationS         float64 `json:"inflation_s"`
				IdleS              float64 `json:"idle_s"`
				Within             bool
			}
		}
		Together *struct {
			P, Runs   int
			TurnsS    float64  `json:"turns_s"`
			TurnsSD   *float64 `json:"turns_sd"`
			BesideS   float64  `json:"beside_s"`
			LowS      float64  `json:"low_s"`
			HighS     float64  `json:"high_s"`
			ThreadsS  float64  `json:"threads_s"`
			Uncertain bool
		}
		Caches *struct {
			P       int
			Machine string
			LinesS  float64 `json:"lines_s"`
			SharedS float64 `json:"shared_s"`
			Cycles  uint64
			Cycles1 uint64 `json:"cycles_1"`
		}
		Recorded []struct {
			P, Runs  int
			TimeS    float64  `json:"time_s"`
			TimeSD   *float64 `json:"time_sd"`
			CPUS     float64  `json:"cpu_s"`
			Slowdown *float64
		}
		Sections []struct {
			ID, Kind string
			Location *wantPlace
			Callers  []wantPlace
			Against  string
			Main     *string
			Points   []struct {
				TurnsS                      *float64 `json:"turns_s"`
				TurnsSD                     *float64 `json:"turns_sd"`
				P, Runs, Instances, Threads int
				TimeS                       float64  `json:"time_s"`
				TimeSD                      *float64 `json:"time_sd"`
				QueuedS                     *float64 `json:"queued_s"`
				IdleS                       *float64 `json:"idle_s"`
				IdleSD                      *float64 `json:"idle_sd"`
				WorkS                       *float64 `json:"work_s"`
				WorkSD                      *float64 `json:"work_sd"`
				InflationS                  *float64 `json:"inflation_s"`
				InflationSD                 *float64 `json:"inflation_sd"`
				Disturbed                   *bool
				Speedup                     wantSpeedup
				Low                         *wantSpeedup `json:"speedup_low"`
				High                        *wantSpeedup `json:"speedup_high"`
				Stack                       []struct {
					Name    string
					CoreS   float64 `json:"core_s"`
					Speedup float64
					How     string
				}
				Waits []struct {
					Kind    string
					Seconds float64
				}
			}
		}
		Waits *struct {
			P, Runs  int
			TimeS    *float64 `json:"time_s"`
			IdleS    *float64 `json:"idle_s"`
			SpinS    *float64 `json:"spin_s"`
			Total    float64  `json:"total_s"`
			ByThread []struct {
				Thread   *int
				Kind     string
				Location *wantPlace
				Seconds  float64
				Times    *int
			} `json:"by_thread"`
			Kinds []struct {
				Kind    string
				Seconds float64
			}
			Lines []struct {
				Kind     string
				Location *struct {
					File, Function string
					Line           int
				}
				Seconds float64
				Threads int
				Waker   *struct {
					Location *struct {
						File, Function string
						Line           int
					}
					Seconds, Share float64
					Threads        int
					Thread         *int
				}
			}
		}
		Notes    []struct{ Code, Message string }
		Main     *string
		Warnings []struct{ Code, Message string }
	}
)

func written(t *testing.T, r *Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestContract(t *testing.T) {
	r := New(study(t))
	r.DivideInflation(studyInput().Divide(4, runs(5, 8.4, 8.4, 0), runs(5, 8, 8, 0)), 5)
	r.AddSections(all(t))
	r.Waits = WaitsOf(waiting(), 4)
	r.Foresee(foreseeing(), 2)
	r.DivideIdle()
	r.Simulate(simulated(t, 1, 0, 0), simulated(t, 4, 100, 100), 4)
	turns := 1.0
	r.Lines[0].TurnsS = &turns
	b := written(t, r)
	golden.Check(t, "study.json", b)
	var want wantReport
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&want); err != nil {
		t.Fatal(err)
	}
	if want.Version != 1 || len(want.Points) != 4 || len(want.Lines) != 2 || len(want.Serial) != 1 || want.BaselineS != 6 {
		t.Errorf("%+v", want)
	}
	for _, p := range want.Points {
		if p.IdleS != nil && math.Abs(float64(p.P)*p.TimeS-*p.WorkS-*p.IdleS) > 1e-9 {
			t.Errorf("P = %d: %v s on each core are not %v of work and %v idle", p.P, p.TimeS, *p.WorkS, *p.IdleS)
		}
		if (p.Oversubscribed != nil) != (p.P > 4) {
			t.Errorf("P = %d: oversubscribed %v", p.P, p.Oversubscribed)
		}
	}
	last := want.Points[3] // on cores that are not there
	if last.IdleS != nil || last.Speedup.IdleSpecific != nil || last.Speedup.Actual == nil || *want.Main != "idle" {
		t.Errorf("what is not known is there: %+v", last)
	}
}

// With as little as there can be, the lists are empty, not absent.
func TestLeast(t *testing.T) {
	x, err := attribution.Factor(attribution.Input{Runs: map[int][]attribution.Run{1: {{Wall: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	b := string(written(t, New(Study{Scaling: x, Setting: Setting{Cores: 1, Whole: 1}})))
	for _, want := range []string{`"inflated_lines": []`, `"serial_lines": []`, `"notes": []`, `"environment": []`, `"baseline_s": 1`} {
		if !strings.Contains(b, want) {
			t.Errorf("no %s in\n%s", want, b)
		}
	}
	for _, not := range []string{"cpu_s", "idle_s", "speedup_low", "time_sd", "main", "elision"} {
		if strings.Contains(b, not) {
			t.Errorf("%s is there, and not known:\n%s", not, b)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestErrorsAreTheWriters(t *testing.T) {
	if err := WriteJSON(full{}, New(study(t))); err == nil || !strings.Contains(err.Error(), "write report: disk full") {
		t.Error(err)
	}
}

// What was written can be read again; what lacks something is refused.
func TestReadJSON(t *testing.T) {
	var first, second bytes.Buffer
	if err := WriteJSON(&first, New(study(t))); err != nil {
		t.Fatal(err)
	}
	written := first.String()
	r, err := ReadJSON(&first)
	if err == nil {
		err = WriteJSON(&second, r)
	}
	if err != nil || second.String() != written {
		t.Errorf("read and written again (%v):\n%s", err, second.String())
	}
	for text, want := range map[string]string{
		"{":             "read report",
		`{"version":2}`: "want version 1",
		`{"version":1}`: "0 points",
		`{"version":1,"points":[{"p":1}],"inflated_lines":[{}]}`: "no location",
		`{"version":1,"points":[{"p":1}],"serial_lines":[{}]}`:   "no location",
	} {
		if _, err := ReadJSON(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}
