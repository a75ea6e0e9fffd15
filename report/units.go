package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lime/dealing"
	"github.com/skewlens/skewlens/profile"
)

// Units are the pieces in which a section's work is dealt out: the rounds of a loop.
type Units struct {
	Location     *Location `json:"location,omitempty"` // of the loop
	Dealt        string    `json:"dealt"`              // blocks, turns, owner, demand, tasks, unknown
	Count        uint64    `json:"count"`              // in all rounds that are known
	Instances    int       `json:"instances"`          // that these are of
	Mean         float64   `json:"mean"`               // instructions of a unit
	Largest      uint64    `json:"largest"`
	LargestShare float64   `json:"largest_share"` // of the units of its instance
	Bound        float64   `json:"bound"`         // the most that any dealing saves, of what the longest parts do
	Limit        int       `json:"limit,omitempty"`
	// Costs are the means of units that follow each other, from the first to the last.
	Costs   []float64 `json:"costs"`
	Message string    `json:"message"`
}

// Dealing is a way of dealing the units out.
type Dealing struct {
	How    string  `json:"how"`              // blocks, turns, demand, guided, longest-first, stealing
	Chunk  int     `json:"chunk,omitempty"`  // units that are taken at a time, on demand
	Saving float64 `json:"saving"`           // of what the longest parts do
	Clause string  `json:"clause,omitempty"` // what the runtime that deals the units out, or its language, calls it
}

// Forecast is the speedup over one thread that is expected of a section.
type Forecast struct {
	Threads int      `json:"threads"`
	Today   *float64 `json:"today,omitempty"` // as it is dealt today
	Best    float64  `json:"best"`
	How     string   `json:"how"`
	Chunk   int      `json:"chunk,omitempty"`
	Limited bool     `json:"limited"` // by the largest unit
}

// units fills in what is known of a section's units.
func (b *builder) units(out *Section, s *profile.Section) {
	o := dealing.Of(s.Units)
	takes := slices.ContainsFunc(out.Warnings, func(w Warning) bool { return w.Code == "self-scheduled" })
	if o == nil || o.Today == 0 || takes && s.Units.Dealt != profile.DealtOnDemand && s.Units.Dealt != profile.DealtInTasks { // then what deals was not seen
		return
	}
	saving := func(most uint64) float64 { return round(1 - float64(most)/float64(o.Today)) }
	l := b.location(s.Units.Loop)
	u := &Units{Location: &l, Dealt: string(s.Units.Dealt), Count: o.Units, Instances: o.Rounds, Mean: round(o.Mean), Largest: o.Largest,
		LargestShare: round(o.Share), Bound: saving(o.Bound), Limit: o.Limit, Costs: []float64{}}
	for _, c := range o.Costs {
		u.Costs = append(u.Costs, round(c))
	}
	clause := clauses(s, out.Location, &l)
	for _, d := range o.Dealings {
		x := Dealing{How: string(d.Kind), Chunk: d.Chunk, Saving: saving(d.Most)}
		if clause != nil {
			x.Clause = clause(d.Kind, d.Chunk)
		}
		out.Dealings = append(out.Dealings, x)
	}
	for _, f := range o.Forecast {
		out.Forecast = append(out.Forecast, Forecast{f.Threads, positive(f.Today), round(f.Best), string(f.How.Kind), f.How.Chunk, f.Largest})
	}
	u.Message = u.words(out.Dealings, o.Parts)
	out.Units = u
	if i := slices.IndexFunc(out.Causes, func(c Cause) bool { return c.Kind == "control-flow" }); i >= 0 {
		out.Causes[i].mend(u, o)
	}
}

// Words are how a dealing is said.
func (d *Dealing) Words() string {
	if d.Clause != "" {
		return d.Clause
	}
	switch dealing.Kind(d.How) {
	case dealing.Blocks:
		return "in equal blocks"
	case dealing.Turns:
		return "in turns"
	case dealing.Demand:
		return fmt.Sprintf("on demand, %d at a time", d.Chunk)
	case dealing.LongestFirst:
		return "longest first"
	}
	return d.How
}

// today is how units are dealt, in words.
var today = map[profile.DealtBy]string{
	profile.DealtInBlocks: "dealt in blocks",
	profile.DealtInTurns:  "dealt in turns",
	profile.DealtByOwner:  "each done by its owner",
	profile.DealtOnDemand: "dealt on demand",
	profile.DealtOtherly:  "dealt as was fixed before",
	profile.DealtInTasks:  "dealt in tasks",
}

// worthSaying is the part of the longest parts' work that a dealing must save
// before it is said, and by which one must be better than a simpler one.
const worthSaying = 0.01

func (u *Units) words(ds []Dealing, parts int) string {
	s := units.Count(u.Count) + " units"
	if u.Instances > 1 {
		s += fmt.Sprintf(" in %d instances", u.Instances)
	}
	s += fmt.Sprintf(" (rounds of %s), %s", u.Location.Short(), today[profile.DealtBy(u.Dealt)])
	best := advice(ds)
	var list []string
	for _, d := range best {
		list = append(list, fmt.Sprintf("%s: −%s", d.Words(), units.Percent(d.Saving)))
	}
	switch {
	case u.Bound < worthSaying:
		s += "; no other dealing saves as much as 1 %"
	case len(list) == 0:
		s += fmt.Sprintf("; smaller units might save up to %s, none of the usual dealings of these does", units.Percent(u.Bound))
	default:
		s += "; " + strings.Join(list, "; ") + "; at best −" + units.Percent(u.Bound)
	}
	if u.Limit > 0 && u.Limit < 8*parts {
		s += fmt.Sprintf("; beyond %s the largest unit (%s of all) limits", units.Plural(u.Limit, "thread"), units.Percent(u.LargestShare))
	}
	return s
}

// advice are the dealings to name: the best that is fixed before, the best on
// demand, of equals with the most units at a time, and the longest first, where
// that is better than both. Units must be known before for the last one.
func advice(ds []Dealing) (list []Dealing) {
	var fixed, demand, sorted *Dealing
	for i := range ds {
		d := &ds[i]
		switch dealing.Kind(d.How) {
		case dealing.Blocks, dealing.Turns:
			if fixed == nil || d.Saving > fixed.Saving {
				fixed = d
			}
		case dealing.Demand:
			if demand == nil || d.Saving > demand.Saving {
				demand = d
			}
		case dealing.LongestFirst:
			sorted = d
		}
	}
	for i := range ds {
		if d := &ds[i]; demand != nil && d.How == demand.How && d.Chunk > demand.Chunk && d.Saving > demand.Saving-worthSaying {
			demand = d
		}
	}
	for _, d := range []*Dealing{fixed, demand, sorted} {
		better := func(x Dealing) bool { return d.Saving < x.Saving+worthSaying }
		if d == nil || d.Saving < worthSaying || slices.ContainsFunc(list, better) {
			continue
		}
		list = append(list, *d)
	}
	return list
}
