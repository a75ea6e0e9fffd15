package report

import (
	"math"
	"strconv"

	"github.com/skewlens/skewlens/profile"
)

// known is a number for the report, or nothing if there is none. Six digits
// are more than any of these numbers is good for, and keep the reports of one
// profile equal where the last bits of a sum are not.
func known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	x = round(x)
	return &x
}

func round(x float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil { // Inf: parsed back from its own text it cannot be anything else
		return x
	}
	return r
}

// positive is for numbers of which zero means "not measured".
func positive(x float64) *float64 {
	if x <= 0 {
		return nil
	}
	return known(x)
}

func seconds(ns int64) *float64 { return positive(float64(ns) / 1e9) }

// gain is a fraction of the section's time, with what it makes in seconds.
func gain(fraction, whole float64, time *float64) *Gain {
	f := known(fraction)
	if f == nil {
		return nil
	}
	g := &Gain{Fraction: *f, WholeUnits: known(whole)}
	if time != nil {
		g.Seconds = known(fraction * *time)
	}
	return g
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func warnings(ws []profile.Warning) []Warning {
	out := []Warning{}
	for _, w := range ws {
		out = append(out, Warning(w))
	}
	return out
}
