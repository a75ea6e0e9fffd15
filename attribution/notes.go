package attribution

import (
	"fmt"
	"strings"
)

// Note is what the curves say, in words and with the numbers that say so.
type Note struct{ Code, Message string }

const (
	flat    = 0.25 // of the first slope: a curve that rises no more than that has flattened
	matters = 0.05 // of the core time: what costs less is not mentioned
)

// notes are what sections 2.4 and 2.5 read from the gaps between the curves and
// from their curvature.
func notes(s *Scaling) []Note {
	var ns []Note
	add := func(code, format string, args ...any) { ns = append(ns, Note{code, fmt.Sprintf(format, args...)}) }
	if last := s.Last(); last.P > 1 {
		ns = append(ns, loss(s, last))
	}
	if f := rising(s, func(p *Point) *Ratio { return p.Speedup.InflationSpecific }); f.falls {
		add("inflation-falls", "the inflation-specific speedup falls from %.2f at P = %d to %.2f at P = %d: more cores make the work itself slower, typically by atomic operations, locks or false sharing of cache lines",
			f.most, f.at, f.last, f.p)
	} else if f.flattens {
		add("inflation-flattens", "the inflation-specific speedup rises by %.2f for each core at %d cores, at first by %.2f: what more cores bring becomes inflation of work, typically because memory gives no more",
			f.slope, f.p, f.first)
	}
	if f := rising(s, func(p *Point) *Ratio { return p.Speedup.IdleSpecific }); f.falls {
		add("idle-flattens", "the idle-time-specific speedup falls from %.2f at P = %d to %.2f at P = %d: what more cores bring is spent idle, so there is not enough parallel work", f.most, f.at, f.last, f.p)
	} else if f.flattens {
		add("idle-flattens", "the idle-time-specific speedup rises by %s for each core at %d cores, at first by %.2f: what more cores bring is spent idle, so there is not enough parallel work", signed(fmt.Sprintf("%.2f", f.slope)), f.p, f.first)
	}
	if p := s.At(1); p.Idle != nil && p.Idle.Mean > matters*p.Time.Mean && !p.Disturbed() { // else it may have waited for its core
		add("sleeps", "on 1 core it ran for %s and computed for %s: it sleeps, or waits for input, output or memory; that is in T_1, so it makes inflation too small (it may be negative)",
			amount(p.Time.Mean), amount(p.Work.Mean))
	}
	if e := s.Elision; e != nil {
		t1 := s.At(1).Time.Mean
		add("scheduling", "on 1 core the parallel program takes %s and without its parallelism %s: creating and scheduling tasks costs about %s (%s %%)",
			amount(t1), amount(e.Mean), amount(t1-e.Mean), signed(fmt.Sprintf("%.0f", 100*float64((t1-e.Mean)/t1))))
	}
	return ns
}

// loss says what the core time at P went to. By facts 2.1 and 2.2 it adds up:
// P·T_P = T_s + (T_1 − T_s) + I_P + F_P.
func loss(s *Scaling, p *Point) Note {
	if p.Speedup.Actual == nil { // it took no time, or cannot be compared
		return Note{"speedup", "the speedup is not known"}
	}
	core, t1 := Seconds(p.P)*p.Time.Mean, s.At(1).Time.Mean
	of := fmt.Sprintf("speedup %.2f of %d", p.Speedup.Actual.Value, p.P)
	if p.Idle == nil || p.Inflation == nil {
		return Note{"speedup", of}
	}
	share := func(x Seconds) string {
		return amount(x) + " (" + signed(fmt.Sprintf("%.0f", 100*float64(x/core))) + " %)"
	}
	parts := "work of the baseline " + share(s.Baseline.Mean)
	if s.Given {
		parts += ", overhead of being parallel " + share(t1-s.Baseline.Mean)
	}
	m := fmt.Sprintf("%s: of %s of core time, %s, idle %s, inflation %s", of, amount(core), parts, share(p.Idle.Mean), share(p.Inflation.Mean))
	return Note{Main(s, p), m}
}

// amount is a time to three digits.
func amount(x Seconds) string { return signed(fmt.Sprintf("%.3g", float64(x))) + " s" }

// signed writes a minus as people do, and none before zero.
func signed(number string) string {
	if n, negative := strings.CutPrefix(number, "-"); negative && strings.Trim(n, "0.") != "" {
		return "−" + n
	} else if negative {
		return n
	}
	return number
}

// Main is what costs most at a point: "overhead", "idle" or "inflation"; "scales"
// where none of them matters, and "speedup" where they are not known.
func Main(s *Scaling, p *Point) string {
	if p.Idle == nil || p.Inflation == nil {
		return "speedup"
	}
	what, most := "scales", matters*Seconds(p.P)*p.Time.Mean
	for _, c := range []struct {
		name string
		cost Seconds
	}{{"overhead", s.At(1).Time.Mean - s.Baseline.Mean}, {"idle", p.Idle.Mean}, {"inflation", p.Inflation.Mean}} {
		if c.cost > most {
			what, most = c.name, c.cost
		}
	}
	return what
}

// form is how a curve rises (2.5).
type form struct {
	falls, flattens bool
	p               int     // the last point
	last            float64 // there
	most            float64 // before that, the highest
	at              int     // where that is
	slope, first    float64 // of the last piece and of the first, for each core
}

// rising reads a curve's form. It falls where its last point is certainly below an
// earlier one, and flattens where its last piece is much less steep than its first,
// of two or more.
func rising(s *Scaling, of func(*Point) *Ratio) (f form) {
	var before *Point
	var high *Ratio
	points := s.real()
	for i := range points {
		p := &points[i]
		r := of(p)
		if r == nil {
			return form{}
		}
		if before != nil {
			f.slope = (r.Value - of(before).Value) / float64(p.P-before.P)
			if before == &points[0] {
				f.first = f.slope
			}
		}
		f.falls = high != nil && r.High != nil && high.Low != nil && *r.High < *high.Low
		if high == nil || r.Value > high.Value {
			if high = r; i < len(points)-1 {
				f.most, f.at = r.Value, p.P
			}
		}
		before, f.p, f.last = p, p.P, r.Value
	}
	f.flattens = len(points) > 2 && f.first > 0 && f.slope < flat*f.first
	return f
}
