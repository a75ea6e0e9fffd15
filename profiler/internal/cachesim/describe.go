package cachesim

import (
	"fmt"
	"strings"
)

// EventName is the name of a class's event: that of the level which missed last,
// counted among those that the machine has, as "l2-miss" of a shared cache behind
// the L1s; or "upgrade".
func (m *Machine) EventName(c Class) string {
	if c == Upgrade {
		return c.Event()
	}
	levels := []Geometry{m.L1, m.L2, m.L3}[:c.Level()-Hit]
	n := 0
	for _, g := range levels {
		if g.Size > 0 {
			n++
		}
	}
	return [...]string{"l1d-miss", "l2-miss", "l3-miss"}[n-1]
}

// OfClass is what one of a class costs beyond its instruction.
func (l Latency) OfClass(c Class) Cycles {
	return l.Of(Outcome{Level: c.Level(), Upgrade: c == Upgrade})
}

// String describes the machine in words: its caches, and what accesses to them
// cost by its model.
func (m Machine) String() string {
	var caches []string
	var cost []string
	for i, l := range m.levels() {
		if l.Size == 0 {
			continue
		}
		of := "private "
		if i == 2 {
			of = "shared "
		}
		caches = append(caches, fmt.Sprintf("%s%s of %s in %d ways", of, strings.ToUpper(l.name), sized(l.Size), l.Ways))
		if i > 0 {
			cost = append(cost, fmt.Sprintf("%d from %s", m.Latency.OfClass(Class(i-1)*Kinds), strings.ToUpper(l.name)))
		}
	}
	cost = append(cost, fmt.Sprintf("%d from memory", m.Latency.Memory))
	return fmt.Sprintf("%s: %s, lines of %d bytes; an access takes %s cycles more", m.Name, strings.Join(caches, ", "), m.Line, strings.Join(cost, ", "))
}

// sized writes a size as files have it: "32K".
func sized(n int64) string {
	for i, unit := range []string{"G", "M", "K"} {
		if k := int64(1) << (30 - 10*i); n >= k && n%k == 0 {
			return fmt.Sprint(n/k, unit)
		}
	}
	return fmt.Sprint(n)
}
