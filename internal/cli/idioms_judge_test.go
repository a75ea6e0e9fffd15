package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/skewlens/skewlens/report"
	"golang.org/x/sys/unix"
)

// judge collects what is not as it should be.
type judge struct {
	b     *idiomBench
	wrong []string
}

func (j *judge) say(format string, args ...any) {
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

// sectionAt is the section that ends at a mark, nil where there is none.
func (j *judge) sectionAt(r *report.Report, mark string) *report.Section {
	var found *report.Section
	for k := range r.Sections {
		s := &r.Sections[k]
		if s.Location == nil || !j.b.at(s.Location.Place, mark) {
			continue
		}
		if found != nil && !s.Negligible {
			j.say("two sections, %s and %s, where one should be", found.ID, s.ID)
		}
		if found == nil || s.Critical > found.Critical {
			found = s
		}
	}
	return found
}

func (j *judge) planted(before, after *report.Report) {
	was, is := j.sectionAt(before, "SECTION"), j.sectionAt(after, "SECTION")
	if was == nil {
		j.say("no section at line %v, but %s", j.b.marked("SECTION"), summary(before))
	} else {
		j.shape(was)
		if j.b.expect["path"] != "" {
			j.path(before, was)
		}
		if j.b.expect["silent"] == "" {
			j.cause(was, is)
		}
	}
	for _, line := range j.b.marked("BALANCED") {
		if s := j.sectionAt(before, "BALANCED"); s == nil {
			j.say("no section at line %d", line)
		} else if !s.Balanced {
			j.say("section %s is balanced, but said to have imbalance %s", s.ID, imbalance(s))
		}
	}
	if s := j.sectionAt(before, "NONE"); s != nil {
		j.say("section %s, where none is", s.ID)
	}
	if s := j.sectionAt(before, "SPENT"); s != nil && !s.Negligible {
		j.say("section %s has some of the work, which is all of another", s.ID)
	}
	if j.b.expect["silent"] != "" {
		j.silent("planted", before)
	}
	if kind := j.b.expect["wait"]; kind != "" && (kind != "fault" || watchesProcessors()) {
		j.waits(before, kind)
	}
}

// path: of rounds no more runs at a time than their imbalance allows.
func (j *judge) path(r *report.Report, s *report.Section) {
	const noise = 1.25 // of busy times
	if most := noise * float64(j.b.threads) * (1 - *s.Imbalance); r.CriticalPath == nil || r.CriticalPath.Parallelism > most {
		j.say("critical path %+v, where at most %.2f can work at a time", r.CriticalPath, most)
	}
}

// shape is what a section is apart from its causes.
func (j *judge) shape(s *report.Section) {
	if n := j.b.expect["instances"]; n != "" && s.Instances != number(n, j.b.threads) {
		j.say("%d instances, want %s", s.Instances, n)
	}
	if n := j.b.expect["rows"]; n != "" && len(s.Threads) != number(n, j.b.threads) {
		j.say("%d rows, want %s", len(s.Threads), n)
	}
	if k := j.b.expect["kind"]; k != "" && s.Kind != k {
		j.say("kind %s, want %s", s.Kind, k)
	}
}

func (j *judge) cause(was, is *report.Section) {
	if len(was.Causes) == 0 {
		j.say("imbalance %s, no cause", imbalance(was))
		return
	}
	c, place := &was.Causes[0], false
	for _, n := range j.b.marked("PLANTED") {
		// A start is a function, which begins on the planted line or just below it.
		place = place || c.Leader == "start" && strings.Contains(j.b.lines[n-1], c.Location.Function+"(")
	}
	if !place && !j.b.at(c.Location.Place, "PLANTED") {
		j.say("first cause %s %s of %d, want line %v", c.Leader, c.Location.Short(), len(was.Causes), j.b.marked("PLANTED"))
	}
	if kinds := j.b.expect["cause"]; kinds != "" && !slices.Contains(strings.Split(kinds, "|"), c.Leader) {
		j.say("leader %s, want %s", c.Leader, kinds)
	}
	if is == nil {
		j.say("no section in the fixed program, so the saving is not known")
	} else if j.b.expect["gain"] != "any" {
		j.gain(c, was, is)
	}
}

// gain: what the first cause promises is what the fix saves.
func (j *judge) gain(c *report.Cause, was, is *report.Section) {
	saved := 1 - float64(is.Critical)/float64(was.Critical)
	if known := j.b.expect["saving"]; known != "" {
		saved, _ = strconv.ParseFloat(known, 64)
	}
	if c.Gain == nil || math.Abs(c.Gain.Fraction-saved) > 0.10 {
		j.say("gain %s (%d causes: %s), the fix saves %.2f", fraction(c.Gain), len(was.Causes), fraction(was.JointGain), saved)
	}
	if w := j.b.expect["whole"]; w != "" {
		want, _ := strconv.ParseFloat(w, 64)
		if c.Gain == nil || c.Gain.WholeUnits == nil || math.Abs(*c.Gain.WholeUnits-want) > 0.05 {
			j.say("gain %s, want %s in whole units", fraction(c.Gain), w)
		}
	}
}

// fixed programs must have no cause.
func (j *judge) fixed(r *report.Report) {
	if j.sectionAt(r, "SECTION") == nil {
		j.say("fixed: no section at line %v", j.b.marked("SECTION"))
	}
	j.silent("fixed", r)
}

// silent: no cause in the control flow, or it is said that chance has dealt the work.
func (j *judge) silent(which string, r *report.Report) {
	for k := range r.Sections {
		s := &r.Sections[k]
		chance := slices.ContainsFunc(s.Warnings, func(w report.Warning) bool {
			return w.Code == "self-scheduled" || w.Code == "more-threads-than-cores"
		})
		if s.Negligible || chance && j.b.expect["scheduled"] == "self" {
			continue
		}
		for _, c := range s.Causes {
			if c.Kind == "control-flow" {
				j.say("%s: imbalance %s at %s, cause %s", which, imbalance(s), s.ID, c.Location.Short())
				break
			}
		}
	}
}

// watchesProcessors reports whether the kernel lets page faults be watched here.
func watchesProcessors() bool {
	a := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: unix.PERF_ATTR_SIZE_VER5, Config: unix.PERF_COUNT_SW_PAGE_FAULTS, Bits: unix.PerfBitExcludeKernel}
	fd, err := unix.PerfEventOpen(&a, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err == nil {
		unix.Close(fd)
	}
	return err == nil
}

// waits: one of a kind is shown, at its line. It is looked for in the contract.
func (j *judge) waits(r *report.Report, kind string) {
	var text bytes.Buffer
	var read struct {
		Sections []struct {
			Waits []struct {
				Kind     string
				Location report.Place
				Waker    struct{ Location report.Place }
			}
		}
	}
	if err := errors.Join(report.WriteJSON(&text, r), json.Unmarshal(text.Bytes(), &read)); err != nil {
		j.say("%v", err)
	}
	for _, s := range read.Sections {
		for _, w := range s.Waits {
			if w.Kind == kind && j.b.at(w.Location, "WAIT") {
				if mark := j.b.expect["waker"]; mark != "" && !j.b.at(w.Waker.Location, mark) {
					j.say("the wait by %s is ended at %q", kind, w.Waker.Location.Short())
				}
				return
			}
		}
	}
	j.say("no wait by %s is shown", kind)
}

func fraction(g *report.Gain) string {
	switch {
	case g == nil:
		return "unknown"
	case g.WholeUnits == nil:
		return fmt.Sprintf("%.2f", g.Fraction)
	}
	return fmt.Sprintf("%.2f (%.2f in whole units)", g.Fraction, *g.WholeUnits)
}

// summary is what was found instead.
func summary(r *report.Report) string {
	out := []string{}
	for k := range r.Sections {
		s := &r.Sections[k]
		if s.Negligible {
			continue
		}
		text := fmt.Sprintf("%s %s (%d instances, %d rows, imbalance %s", s.Kind, s.ID, s.Instances, len(s.Threads), imbalance(s))
		if len(s.Causes) > 0 {
			text += ", " + s.Causes[0].Leader + " " + s.Causes[0].Location.Short()
		}
		out = append(out, text+")")
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}
