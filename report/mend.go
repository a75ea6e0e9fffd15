package report

import "github.com/skewlens/skewlens/lime/dealing"

// CauseUnits are a section's units as its first decision has them: what other dealings
// would have to work with.
type CauseUnits struct {
	Location *Location `json:"location"` // of the loop whose rounds they are
	Count    uint64    `json:"count"`
	Mean     float64   `json:"mean"`
	Max      uint64    `json:"max"`
	Measure  string    `json:"measure"` // what mean and max are of: instructions
}

// CauseDealing is what a dealing of the units would bring, at a number of threads.
type CauseDealing struct {
	Kind    string  `json:"kind"`            // blocks, cyclic, dynamic, guided, longest-first, stealing; bound: no dealing does with less
	Chunk   int     `json:"chunk,omitempty"` // units that are taken at a time, if it is dynamic
	Threads int     `json:"threads"`
	Span    uint64  `json:"span"` // instructions of the longest parts
	Gain    float64 `json:"gain"` // how much less that is than today, at as many threads as there were
}

// kindOf are the dealings whose names are others in a cause.
var kindOf = map[dealing.Kind]string{dealing.Turns: "cyclic", dealing.Demand: "dynamic"}

// mend says what dealings would bring, at the run's number of threads, and at 2, 4 and 8
// times as many where that can be foreseen.
func (c *Cause) mend(u *Units, o *dealing.Outlook) {
	c.Units = &CauseUnits{Location: u.Location, Count: u.Count, Mean: u.Mean, Max: u.Largest, Measure: "instructions"}
	add := func(threads int, list []dealing.Dealing, bound uint64) {
		for _, d := range append(list[:len(list):len(list)], dealing.Dealing{Kind: "bound", Most: bound}) {
			x := CauseDealing{Kind: string(d.Kind), Chunk: d.Chunk, Threads: threads, Span: d.Most, Gain: round(1 - float64(d.Most)/float64(o.Today))}
			if name := kindOf[d.Kind]; name != "" {
				x.Kind = name
			}
			c.Dealings = append(c.Dealings, x)
		}
	}
	if len(o.Forecast) == 0 {
		add(o.Parts, o.Dealings, o.Bound)
	}
	for _, f := range o.Forecast {
		add(f.Threads, f.Dealings, f.Bound)
	}
}
