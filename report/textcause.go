package report

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
)

func (t *text) threadBars(s *Section) {
	if len(s.Threads) == 0 {
		return
	}
	work := make([]uint64, len(s.Threads))
	busy := make([]uint64, len(s.Threads))
	timed := true
	for i, th := range s.Threads {
		work[i] = th.Instructions
		if timed = timed && th.BusyS != nil; timed {
			busy[i] = uint64(*th.BusyS * 1e9)
		}
	}
	t.bars("  ", "work", work, units.Compact, " instructions")
	if timed {
		t.bars("  ", "busy", busy, func(ns uint64) string {
			return units.SecondsOf(float64(ns)/1e9, float64(ns)/1e9)
		}, "")
	}
}

// bars shows one number per thread as one bar each, and the least and the most.
func (t *text) bars(indent, label string, n []uint64, show func(uint64) string, unit string) {
	least, most := n[0], n[0]
	for _, x := range n {
		least, most = min(least, x), max(most, x)
	}
	span := show(least) + " … " + show(most) + unit
	if least == most {
		span = show(most) + unit
	}
	lead := fmt.Sprintf("%s%-6s ", indent, label)
	for i, chunk := range sparkline(n, most, t.opt.Width-width(lead)-width(span)-2) {
		if i == 0 {
			t.line(lead, t.paint(cyan, chunk)+"  "+span)
		} else {
			t.line(strings.Repeat(" ", width(lead)), t.paint(cyan, chunk))
		}
	}
}

var blocks = []rune("▁▂▃▄▅▆▇█")

// sparkline draws a bar per number, in rows of at most columns bars; zero is a dot.
func sparkline(n []uint64, most uint64, columns int) []string {
	columns = max(columns, 8)
	rows := []string{}
	for len(n) > 0 {
		k := min(columns, len(n))
		row := make([]rune, k)
		for i, x := range n[:k] {
			row[i] = '·'
			if x > 0 {
				row[i] = blocks[int(float64(x)/float64(most)*float64(len(blocks)-1)+0.5)]
			}
		}
		rows, n = append(rows, string(row)), n[k:]
	}
	return rows
}

func (t *text) cause(s *Section, c *Cause) {
	head := []string{fmt.Sprintf("  %s  %s", t.paint(bold+red, fmt.Sprintf("#%d %4s", c.Rank, units.Percent(c.Share))), t.paint(bold, t.place(c.Location.Place)))}
	kind := c.Leader
	if kind == "" {
		kind = c.Kind
	}
	head = append(head, kind)
	if c.Gain != nil {
		g := "gain up to " + t.gain(s, c.Gain)
		if w := c.Gain.WholeUnits; w != nil && *w < 0.9*c.Gain.Fraction {
			g += ", " + units.Percent(*w) + " in whole units"
		}
		head = append(head, g)
	}
	if c.Score != nil {
		head = append(head, fmt.Sprintf("score %.2f", *c.Score))
	}
	const indent = "      "
	t.facts("", indent, head)
	for _, at := range t.inlined(c.Location.InlinedAt) {
		t.line(indent, cut(at, t.opt.Width-len(indent)))
	}
	t.excerpt(indent, '│', c.Location.Place)
	if c.To != nil && c.To.Known() && c.To.File == c.Location.File && c.To.Line != c.Location.Line {
		t.excerpt(indent, '↳', *c.To)
	}
	if len(c.Counts) > 0 {
		t.bars(indent, counted(c), c.Counts, units.Count, "×")
	}
	t.prose(indent, indent, c.Message)
	if way := t.way(c.Path); way != nil {
		t.facts(indent, indent+"  ", way)
	}
	t.members(indent, c)
}

// way says how the thread that met a cause most came there, from the inside
// outwards; nil where nothing calls it.
func (t *text) way(p *Path) []string {
	const shown = 6
	if p == nil || len(p.Calls) == 0 {
		return nil
	}
	var calls []string
	for _, c := range p.Calls[:min(len(p.Calls), shown)] {
		name := printable(c.Short())
		if c.Known() && c.Function != "" {
			name += " " + symbol(c.Function)
		}
		calls = append(calls, name)
	}
	if left := len(p.Calls) - shown; left > 0 {
		calls = append(calls, fmt.Sprintf("%d more", left))
	}
	calls[0] = fmt.Sprintf("thread %d comes from: %s", p.Thread, calls[0])
	return calls
}

func counted(c *Cause) string {
	switch c.Leader {
	case "branch":
		return "taken"
	case "loop":
		return "rounds"
	case "recursion":
		return "calls"
	case "start":
		return "begins"
	}
	return "counts"
}

// members lists the other lines whose counts go with the cause: what it
// steers. Many events share a line; each line is named once.
func (t *text) members(indent string, c *Cause) {
	const shown = 6
	lines, seen := []string{}, map[string]bool{c.Location.Short(): true}
	for _, m := range c.Members {
		name := printable(m.Place.Short())
		if seen[name] {
			continue
		}
		seen[name] = true
		if m.Kind != "control-flow" {
			name += " (" + m.Kind + ")"
		}
		lines = append(lines, name)
	}
	if len(lines) == 0 {
		return
	}
	if n := len(lines); n > shown {
		lines = append(lines[:shown], fmt.Sprintf("%d more", n-shown))
	}
	lines[0] = "goes with it: " + lines[0]
	t.facts(indent, indent+"  ", lines)
}

// place is a location for people: path:line:column function.
func (t *text) place(p Place) string {
	if !p.Known() {
		return printable(p.Short())
	}
	s := fmt.Sprintf("%s:%d", t.path(p.File), p.Line)
	if p.Column > 0 {
		s += fmt.Sprintf(":%d", p.Column)
	}
	if p.Function != "" {
		s += " " + symbol(p.Function)
	}
	return s
}

// excerpt shows a source line; bar says what it is: the line, or where it leads.
func (t *text) excerpt(indent string, bar rune, p Place) {
	if t.opt.Source == nil || !p.Known() {
		return
	}
	line, stale, ok := t.opt.Source.Line(p.File, p.Line)
	if !ok {
		return
	}
	lead := fmt.Sprintf("%s%5d %c ", indent, p.Line, bar)
	tail := ""
	if stale {
		tail = "  (stale: newer than the program)"
	}
	room := max(t.opt.Width-width(lead)-width(tail), 10)
	t.line(t.paint(dim, lead), cut(around(line, p.Column, room), room)+t.paint(yellow, tail))
}

// around is the part of a source line that holds a column (of bytes, from 1;
// 0: not known), from its start if that fits.
func around(line string, column, room int) string {
	at := min(max(column-1, 0), len(line))
	before, after := printable(strings.TrimLeft(line[:at], " \t")), printable(strings.TrimSpace(line[at:]))
	if strings.HasSuffix(line[:at], " ") && before == "" {
		return after
	}
	if width(before) <= room/2 || width(before)+width(after) <= room {
		return before + after
	}
	return "…" + columns.TruncateLeft(before, width(before)-room/2, "") + after
}

// inlined lists the calls a place was inlined at, without the inside of system
// headers, which would drown the user's own lines.
func (t *text) inlined(at []Place) []string {
	lines, hidden := []string{}, 0
	flush := func() {
		if hidden > 0 {
			lines = append(lines, "inlined through "+count(hidden, "line")+" of system headers")
		}
		hidden = 0
	}
	for _, p := range at {
		if systemHeader(p.File) {
			hidden++
			continue
		}
		flush()
		lines = append(lines, "inlined at "+t.place(p))
	}
	flush()
	return lines
}

func systemHeader(file string) bool {
	return strings.HasPrefix(file, "/usr/include/") || strings.HasPrefix(file, "/usr/lib/") || strings.Contains(file, "/include/c++/")
}
