package report

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report/internal/reporttest"
)

// The contract again, written down independently of the types that write it:
// a field renamed or lost there fails here. Pointers are fields that may be
// absent; all others must be there.
type (
	wantPlace struct {
		File, Function, Offset, Address *string
		Line, Column                    *int
	}
	wantLocation struct {
		File, Function, Offset, Address *string
		Line, Column                    *int
		InlinedAt                       *[]wantPlace `json:"inlined_at"`
	}
	wantGain struct {
		Seconds    *float64
		Fraction   float64
		WholeUnits *float64 `json:"whole_units"`
	}
	wantWarning struct{ Code, Message string }
	wantThread  struct {
		Slot         int
		ID           *int
		Instructions uint64
		BusyS        *float64 `json:"busy_s"`
		WaitS        *float64 `json:"wait_s"`
	}
	wantMember struct {
		Kind                            string
		File, Function, Offset, Address *string
		Line, Column                    *int
		Corr                            *float64
	}
	wantPartner struct {
		File, Function, Offset, Address *string
		Line, Column                    *int
		InlinedAt                       *[]wantPlace `json:"inlined_at"`
		Thread                          *int
	}
	wantPath struct {
		Thread int
		Calls  []wantPlace
		Start  *wantPlace
	}
	wantCause struct {
		Rank           int
		Kind           string
		Leader         *string
		Share          float64
		Score, Beta, P *float64
		LeaderScore    *float64 `json:"leader_score"`
		Gain           *wantGain
		Location       wantLocation
		To             *wantPlace
		Counts         []uint64
		Members        []wantMember
		Path           *wantPath
		Level          *string
		Miss           *string
		Sharing        *string
		Partner        *wantPartner
		Misses         *[]uint64
		Erased         *float64
		Waker          *wantWaker
		Units          *struct {
			Location  wantLocation
			Count     uint64
			Mean, Max float64
			Measure   string
		}
		Dealings *[]struct {
			Kind    string
			Chunk   *int
			Threads int
			Span    uint64
			Gain    float64
		}
		Message string
	}
	wantWait struct {
		Kind     string
		Location *wantLocation
		Seconds  float64
		Threads  int
		Waker    *wantWaker
	}
	wantWaker struct {
		Location       wantLocation
		Seconds, Share float64
		Threads        int
		Thread         *int
	}
	wantUnits struct {
		Location     wantLocation
		Dealt        string
		Count        uint64
		Instances    int
		Mean         float64
		Largest      uint64
		LargestShare float64 `json:"largest_share"`
		Bound        float64
		Limit        *int
		Costs        []float64
		Message      string
	}
	wantDealing struct {
		How    string
		Chunk  *int
		Saving float64
	}
	wantForecast struct {
		Threads int
		Today   *float64
		Best    float64
		How     string
		Chunk   *int
		Limited bool
	}
	wantVirtual struct {
		Cores int
		Span  uint64  `json:"span_cycles"`
		Wait  uint64  `json:"wait_cycles"`
		Gain  *uint64 `json:"gain_cycles"`
	}
	wantLevel struct {
		Level  string
		Misses uint64
		MPKI   *float64
		Rate   *float64 `json:"miss_rate"`
		Doubt  *float64
	}
	wantMemory struct {
		Accesses uint64
		Levels   []wantLevel
		Lines    []struct {
			Location wantPlace
			Cycles   uint64
			Accesses *uint64
			Share    *float64
			Levels   []wantLevel
		}
	}
	wantSizes struct {
		Bytes    []int64
		Accesses uint64
		Misses   []uint64
		Rate     []float64 `json:"miss_rate"`
		Cycles   []uint64
		Shared   []uint64 `json:"shared_misses"`
		Knee     *int64   `json:"knee_bytes"`
		Comm     *float64 `json:"comm_factor"`
		Threads  *[]struct {
			Misses []uint64
			Shared []uint64 `json:"shared_misses"`
		}
		Lines []struct {
			Location wantPlace
			Misses   []uint64
			Shared   []uint64 `json:"shared_misses"`
			Cycles   []uint64
		}
	}
	wantCriticalPath struct {
		Seconds, Parallelism float64
		BusyS                float64  `json:"busy_s"`
		WorkS                float64  `json:"work_s"`
		AtMostS              *float64 `json:"at_most_s"`
		AtLeast              *bool    `json:"at_least"`
		FromS                *float64 `json:"from_s"`
		OutsideS             float64  `json:"outside_s"`
		Tasks                struct{ Work, Create, Join, Barrier, Sync int }
		Waits                []wantWait
		Handed               []struct {
			Kind     string
			Location *wantLocation
			Times    int
		} `json:"handed_over"`
		Lines []struct {
			Location       wantLocation
			Seconds, Share float64
		}
		Slack []struct {
			Location wantLocation
			WorkS    float64 `json:"work_s"`
			SlackS   float64 `json:"slack_s"`
		} `json:"slack_lines"`
		Steps []struct {
			Thread  int
			Section *string
			FromS   float64 `json:"from_s"`
			ToS     float64 `json:"to_s"`
			Seconds float64
		}
		StepsLeft *int `json:"steps_left"`
		WhatIf    []struct {
			Section string
			Cause   wantLocation
			Seconds float64
			SavedS  float64 `json:"saved_s"`
			Gain    *wantGain
		} `json:"what_if"`
		Warnings []wantWarning
	}
	wantOnPath struct {
		Seconds, Share float64
		SlackS         float64 `json:"slack_s"`
	}
	wantSection struct {
		ID, Kind    string
		Location    *wantLocation
		Instances   int
		Imbalance   *float64
		Balanced    bool
		TimeS       *float64 `json:"time_s"`
		IdleS       *float64 `json:"idle_s"`
		Virtual     *wantVirtual
		R2          *float64
		JointGain   *wantGain `json:"joint_gain"`
		Threads     []wantThread
		BusyCounted *float64 `json:"busy_counted"`
		Waits       []wantWait
		Negligible  bool
		Causes      []wantCause
		Lines       []struct {
			Location wantLocation
			Share    float64
		}
		Units    *wantUnits
		Dealings *[]wantDealing
		Forecast *[]wantForecast
		Memory   *wantMemory
		Sizes    *wantSizes `json:"cache_sizes"`
		Verified *struct {
			Erased float64
			Causes int
		}
		OnPath   *wantOnPath `json:"on_critical_path"`
		Warnings []wantWarning
	}
	wantReport struct {
		Version int
		Program struct {
			Path    string
			Args    []string
			BuildID *string `json:"build_id"`
		}
		Run struct {
			Backend  string
			Threads  int
			Cores    *int
			Virtual  *int `json:"virtual_cores"`
			Machine  *string
			WallS    *float64 `json:"wall_s"`
			Response string
			Slowdown *float64
			ExitCode int `json:"exit_code"`
			Signal   *string
		}
		Coverage struct {
			Functions       int
			FunctionsTotal  int      `json:"functions_total"`
			InstructionsPct *float64 `json:"instructions_pct"`
			Skipped         []struct{ Function, Reason string }
		}
		Sections []wantSection
		Memory   *wantMemory
		Sizes    *wantSizes        `json:"cache_sizes"`
		Path     *wantCriticalPath `json:"critical_path"`
		Warnings []wantWarning
	}
)

// field is the JSON name of a field of the types above.
func field(f reflect.StructField) string {
	if tag := f.Tag.Get("json"); tag != "" {
		return tag
	}
	return strings.ToLower(f.Name)
}

// complete checks that every field that must be there is, that none is null,
// and that there is no other.
func complete(t *testing.T, where string, v any, want reflect.Type) {
	t.Helper()
	if want.Kind() == reflect.Pointer {
		want = want.Elem()
	}
	switch want.Kind() {
	case reflect.Slice:
		list, ok := v.([]any)
		if !ok {
			t.Errorf("%s is %v, want a list", where, v)
		}
		for _, e := range list {
			complete(t, where+"[]", e, want.Elem())
		}
	case reflect.Struct:
		object, ok := v.(map[string]any)
		if !ok {
			t.Errorf("%s is %v, want an object", where, v)
		}
		known := map[string]bool{}
		for i := range want.NumField() {
			f := want.Field(i)
			name := field(f)
			known[name] = true
			e, there := object[name]
			if !there {
				if f.Type.Kind() != reflect.Pointer {
					t.Errorf("%s.%s is missing", where, name)
				}
				continue
			}
			complete(t, where+"."+name, e, f.Type)
		}
		for name := range object {
			if !known[name] {
				t.Errorf("%s.%s is not in the contract", where, name)
			}
		}
	default:
		if v == nil {
			t.Errorf("%s is null", where)
		}
	}
}

func TestContract(t *testing.T) {
	for name, scene := range reporttest.Scenes() {
		r := made(t, scene)
		var b bytes.Buffer
		if err := WriteJSON(&b, r); err != nil {
			t.Fatal(err)
		}
		var raw any
		if err := json.Unmarshal(b.Bytes(), &raw); err != nil {
			t.Fatal(err)
		}
		complete(t, name, raw, reflect.TypeFor[wantReport]())
		var w wantReport
		if err := json.Unmarshal(b.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for _, s := range w.Sections {
			if ids[s.ID] {
				t.Errorf("%s: two sections are called %s", name, s.ID)
			}
			ids[s.ID] = true
			for i, c := range s.Causes {
				if c.Rank != i+1 {
					t.Errorf("%s, %s: cause %d has rank %d", name, s.ID, i, c.Rank)
				}
				if len(c.Counts) != len(s.Threads) {
					t.Errorf("%s, %s #%d: %d counts for %d threads", name, s.ID, c.Rank, len(c.Counts), len(s.Threads))
				}
				if c.Message == "" || strings.Contains(c.Message, "NaN") || strings.Contains(c.Message, "\n") {
					t.Errorf("%s, %s #%d: message %q", name, s.ID, c.Rank, c.Message)
				}
			}
		}
	}
}

func TestUnknownNumbersAreAbsent(t *testing.T) {
	r := made(t, reporttest.Mixed)
	if r.Run.WallS != nil || r.Run.Slowdown != nil {
		t.Errorf("run: %+v, want neither wall time nor slowdown", r.Run)
	}
	s := r.Sections[0]
	if s.TimeS != nil || s.IdleS != nil || s.R2 != nil || s.Threads[0].BusyS != nil {
		t.Errorf("section %s has times or R² that were not measured: %+v", s.ID, s)
	}
	c := s.Causes[0]
	if c.Gain != nil {
		t.Errorf("cause 1: gain %+v, want none", c.Gain)
	}
	if g := s.Causes[1].Gain; g == nil || g.Seconds != nil || g.Fraction != .2 {
		t.Errorf("cause 2: gain %+v, want a fraction without seconds", g)
	}
	if known(math.Inf(1)) != nil || known(math.NaN()) != nil || known(0) == nil {
		t.Error("known: want NaN and infinity absent, and zero a number")
	}
}

func TestSectionsAreSortedByLoss(t *testing.T) {
	got := []string{}
	for _, s := range made(t, reporttest.Mixed).Sections {
		got = append(got, s.ID)
	}
	// The first of the two on line 50, by address, lost most; "threads" is too
	// short to matter, and no thread arrived at the last.
	want := []string{"radix.cc:50", "radix.cc:50#2", "threads", "0x1500"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("sections %v, want %v", got, want)
	}
}

// The ids lead back from a report to the profile that it was made of, also when
// the report was kept as JSON.
func TestSectionsOf(t *testing.T) {
	p, analyse := reporttest.Mixed()
	r, err := New(p, Options{Analyse: analyse})
	if err != nil {
		t.Fatal(err)
	}
	var kept Report
	if text, err := json.Marshal(r); err != nil || json.Unmarshal(text, &kept) != nil {
		t.Fatal(err)
	}
	got, err := kept.SectionsOf(p)
	want := []*profile.Section{&p.Sections[1], &p.Sections[0], &p.Sections[2], &p.Sections[3]}
	if err != nil || !reflect.DeepEqual(got, want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("sections %v, %v", got, err)
	}
	other, _ := reporttest.Owner()
	if _, err := kept.SectionsOf(other); err == nil || !strings.Contains(err.Error(), "radix.cc:50") {
		t.Errorf("in another profile: %v, want an error that names the section", err)
	}
}

func TestWorst(t *testing.T) {
	imbalance, id := made(t, reporttest.Mixed).Worst()
	if id != "radix.cc:50#2" || math.Abs(imbalance-2./3) > 1e-6 {
		t.Errorf("worst: %v at %s, want 2/3 at radix.cc:50#2", imbalance, id)
	}
}

func TestNoDebugInformation(t *testing.T) {
	p, a := reporttest.Owner()
	p.Locations = nil
	r, err := New(p, Options{Analyse: a})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 1 || r.Warnings[0].Code != "no-debug-info" || !strings.Contains(r.Warnings[0].Message, "-g") {
		t.Errorf("warnings %+v, want no-debug-info, and how to build", r.Warnings)
	}
}

// TestLinesElsewhere: lines are known, but none of where sections are and what causes them.
func TestLinesElsewhere(t *testing.T) {
	p, a := reporttest.Owner()
	p.Locations = []profile.Location{{Address: 1, Frame: profile.Frame{File: "/src/app.hs", Line: 3}}}
	r, err := New(p, Options{Analyse: a})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %+v, though there are lines", r.Warnings)
	}
}

func TestInconsistentProfile(t *testing.T) {
	p, a := reporttest.Owner()
	p.Sections[0].Instances[0].Parts[0].Counts.Event[0] = 77
	if _, err := New(p, Options{Analyse: a}); err == nil {
		t.Error("no error for a count of an event that does not exist")
	}
	if _, err := New(nil, Options{}); err == nil {
		t.Error("no error without a profile")
	}
}
