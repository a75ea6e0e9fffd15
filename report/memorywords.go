package report

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
)

// Name is a level's name for people.
func (l Level) Name() string { return strings.ToUpper(l.Level) }

// Missed is the part of accesses that missed a level or, where that is not known,
// how often they did.
func (l Level) Missed() string {
	if l.Rate == nil {
		if l.Doubt == nil {
			return units.Compact(l.Misses) + "×"
		}
		return fmt.Sprintf("%s× ± %s", units.Compact(l.Misses), units.Percent(*l.Doubt))
	}
	p := 100 * *l.Rate
	s := fmt.Sprintf("%.0f", p)
	if p < 10 {
		s = few(p)
	}
	if l.Doubt != nil {
		s += " ± " + few(p**l.Doubt)
	}
	return s + " %"
}

// Words says how often a level was missed.
func (l Level) Words() string {
	s := l.Name() + " missed " + l.Missed()
	if l.MPKI != nil {
		s += fmt.Sprintf(" (%s in 1,000 instructions)", few(*l.MPKI))
	}
	return s
}

// few writes a number of which nothing below a hundredth matters.
func few(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x < 0.01:
		return "<0.01"
	}
	return units.Digits(x)
}

func levelWords(levels []Level) (facts []string) {
	for _, l := range levels {
		facts = append(facts, l.Words())
	}
	return facts
}

// Words says what the accesses did, all together.
func (m *Memory) Words() []string {
	return append([]string{units.Compact(m.Accesses) + " accesses"}, levelWords(m.Levels)...)
}

// Words says what the line's accesses did.
func (l *MemoryLine) Words() (facts []string) {
	if l.Accesses != nil && l.Share != nil {
		facts = append(facts, fmt.Sprintf("%s accesses here, %s of all", units.Compact(*l.Accesses), units.Percent(*l.Share)))
	}
	return append(facts, levelWords(l.Levels)...)
}
