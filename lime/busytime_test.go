package lime

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

func TestInstructionsAgainstBusyTime(t *testing.T) {
	m, _ := rounds(8, 12, func(id, _ int) int { return 100 + 40*((id*3)%8) })
	withBusyTime(&m.p, 1)
	if res := analyse(t, &m.p, Options{}); hasWarning(res, "instructions-vs-busy-time") {
		t.Errorf("warnings %v", res.Warnings)
	}
	for i := range m.p.Sections[0].Instances {
		parts := m.p.Sections[0].Instances[i].Parts
		for k := range parts {
			parts[k].BusyNS += int64(k) * 3000
		}
	}
	if res := analyse(t, &m.p, Options{}); !hasWarning(res, "instructions-vs-busy-time") {
		t.Errorf("warnings %v", res.Warnings)
	}
	m.p.Warnings = []profile.Warning{{Code: "cpu-clock", Message: "none"}} // no CPU time: asleep is busy, too
	if res := analyse(t, &m.p, Options{}); hasWarning(res, "instructions-vs-busy-time") {
		t.Errorf("without CPU clocks: warnings %v", res.Warnings)
	}
}

// As many instructions, and one thread is busy for three times as long, round
// after round: the C library's work, memory, slow instructions. Not so where it is
// another thread each time, or too short for anything to follow from it.
func TestBusyTimeAlone(t *testing.T) {
	const code = "instructions-vs-busy-time"
	for _, c := range []struct {
		name      string
		threads   int
		instances int
		slow      func(round int) int // which thread
		ns        int64               // of a round
		want      bool
	}{
		{"one thread", 4, 6, func(int) int { return 2 }, 3_000_000, true},
		{"of two", 2, 6, func(int) int { return 1 }, 3_000_000, true},
		{"each in turn", 4, 8, func(round int) int { return round % 4 }, 3_000_000, false},
		{"now and then", 4, 8, func(round int) int { return round % 2 * 3 }, 30_000_000, false},
		{"short", 4, 6, func(int) int { return 2 }, 30_000, false},
		{"not so short, and hardly counted", 4, 6, func(int) int { return 2 }, 300_000, true},
		{"once", 4, 1, func(int) int { return 2 }, 3_000_000, false},
		{"once, long", 4, 1, func(int) int { return 2 }, 30_000_000, true},
	} {
		m, _ := rounds(c.threads, c.instances, func(int, int) int { return 100 })
		withBusyTime(&m.p, 1)
		for i := range m.p.Sections[0].Instances {
			parts := m.p.Sections[0].Instances[i].Parts
			for k := range parts {
				if parts[k].BusyNS = c.ns / 3; k == c.slow(i) {
					parts[k].BusyNS = c.ns
				}
			}
		}
		if res := analyse(t, &m.p, Options{}); hasWarning(res, code) != c.want {
			t.Errorf("%s: warnings %v", c.name, res.Warnings)
		}
	}
}
