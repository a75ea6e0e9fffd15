package scaling

import (
	"slices"

	"github.com/skewlens/skewlens/report"
)

// Forecast is what speedup the tasks of one profiled run allow (rule 28). It takes all
// work to be as long as it was in that run: what memory, spinning and the system do to
// it with more cores, it cannot see.
type Forecast struct {
	P      int        `json:"p"` // threads of the run that it is made of
	WorkS  float64    `json:"work_s"`
	PathS  float64    `json:"path_s"` // its critical path
	Points []Foreseen `json:"points"` // at P, and multiples of it where it is known how the work is dealt out
	Part   *Parting   `json:"parting,omitempty"`
}

// Foreseen is a forecast at a number of cores.
type Foreseen struct {
	P       int      `json:"p"`
	Speedup float64  `json:"speedup"`           // over the baseline
	Best    *float64 `json:"best,omitempty"`    // at the best dealing of the units
	Limited bool     `json:"limited,omitempty"` // by the largest unit of a section
}

// Parting is why the measured speedup is another one than the forecast, in core time
// on P cores: what was measured less what was foreseen, CoreS = InflationS + IdleS.
type Parting struct {
	P          int     `json:"p"`
	Measured   float64 `json:"measured"`
	Forecast   float64 `json:"forecast"`
	CoreS      float64 `json:"core_s"`
	InflationS float64 `json:"inflation_s"` // work takes longer
	IdleS      float64 `json:"idle_s"`      // cores idle more, below 0: less
	Within     bool    `json:"within"`      // the forecast lies in the interval of what was measured, or within 3 % of it
}

const (
	unforeseen = 0.05 // of the critical path may be in sections of which it is not known how they are dealt out
	near       = 0.03
)

// Foresee adds a forecast from a profiled run with p threads, beside the points that
// were measured. It reports false where the run does not tell.
func (r *Report) Foresee(run *report.Report, p int) bool {
	c, one := run.CriticalPath, r.at(1)
	if c == nil || one == nil || one.TimeS <= 0 || p < 2 {
		return false
	}
	alone := c.WorkS + c.Seconds - c.BusyS // what it waits for by itself, it does alone too
	least := func(n int) float64 { return max(c.Seconds, c.WorkS/float64(n)) }
	base := r.BaselineS / one.TimeS
	f := &Forecast{P: p, WorkS: c.WorkS, PathS: c.Seconds, Points: []Foreseen{{P: p, Speedup: base * alone / least(p)}}}
	for k := 1; ; k++ {
		x := wider(run, k)
		if x == nil {
			break
		}
		n := p << k
		at := Foreseen{P: n, Speedup: base * alone / max(c.Seconds-x.saved, c.WorkS/float64(n)), Limited: x.limited}
		best := base * alone / max(c.Seconds-x.best, c.WorkS/float64(n))
		at.Best = &best
		f.Points = append(f.Points, at)
	}
	r.Forecast = f
	for i := range r.Points {
		at := &r.Points[i]
		k := slices.IndexFunc(f.Points, func(x Foreseen) bool { return x.P == at.P })
		switch {
		case at.P == 1:
			at.Speedup.Forecast = &base
		case k >= 0:
			at.Speedup.Forecast = &f.Points[k].Speedup
		}
	}
	f.Part = r.parting(f)
	return true
}

func (r *Report) at(p int) *Point {
	for i := range r.Points {
		if r.Points[i].P == p {
			return &r.Points[i]
		}
	}
	return nil
}

// saving is by how much the critical path is shorter with more threads.
type saving struct {
	saved, best float64
	limited     bool
}

// wider is that with 2^k times the threads, as the units of the sections on the path
// would be dealt out then; nil where that is not known of enough of it.
func wider(run *report.Report, k int) *saving {
	x, unknown, known := &saving{}, 0.0, false
	for i := range run.Sections {
		s := &run.Sections[i]
		if s.OnPath == nil || s.OnPath.Seconds == 0 {
			continue
		}
		if k >= len(s.Forecast) || s.Forecast[0].Today == nil || s.Forecast[k].Today == nil {
			unknown += s.OnPath.Seconds
			continue
		}
		now, then := *s.Forecast[0].Today, &s.Forecast[k]
		x.saved += s.OnPath.Seconds * (1 - now / *then.Today)
		x.best += s.OnPath.Seconds * (1 - now/then.Best)
		x.limited, known = x.limited || then.Limited, true
	}
	if !known || unknown > unforeseen*run.CriticalPath.Seconds {
		return nil
	}
	return x
}

// parting compares the forecast with what was measured at the largest number of cores
// of which both are known.
func (r *Report) parting(f *Forecast) *Parting {
	one := r.at(1)
	for i := len(r.Points) - 1; i > 0; i-- {
		p := &r.Points[i]
		if p.Speedup.Forecast == nil || p.Speedup.Actual == nil || p.IdleS == nil || p.InflationS == nil || p.Oversubscribed {
			continue
		}
		foreseen := r.BaselineS / *p.Speedup.Forecast
		x := &Parting{P: p.P, Measured: *p.Speedup.Actual, Forecast: *p.Speedup.Forecast, CoreS: float64(p.P) * (p.TimeS - foreseen), InflationS: *p.InflationS}
		x.IdleS = *p.IdleS - (float64(p.P)*foreseen - one.TimeS)
		ratio := x.Measured / x.Forecast
		x.Within = ratio > 1-near && ratio < 1+near
		if p.Low != nil && p.Low.Actual != nil && p.High.Actual != nil {
			x.Within = x.Within || *p.Low.Actual <= x.Forecast && x.Forecast <= *p.High.Actual
		}
		return x
	}
	return nil
}
