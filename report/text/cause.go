package text

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/internal/words"
)

func (t *writer) cause(s *report.Section, c *report.Cause) {
	head := []string{fmt.Sprintf("  %s  %s", t.paint(bold+red, fmt.Sprintf("#%d %4s", c.Rank, units.Percent(c.Share))), t.paint(bold, t.paths.Place(c.Location.Place)))}
	head = append(head, words.Kind(c))
	if c.Gain != nil {
		g := "gain up to " + words.Gain(s, c.Gain)
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
	for _, at := range t.paths.Inlined(c.Location.InlinedAt) {
		t.line(indent, words.Cut(at, t.opt.Width-len(indent)))
	}
	t.excerpt(indent, '│', c.Location.Place)
	if c.To != nil && c.To.Known() && c.To.File == c.Location.File && c.To.Line != c.Location.Line {
		t.excerpt(indent, '↳', *c.To)
	}
	if len(c.Counts) > 0 {
		t.bars(indent, words.Counted(c), c.Counts, units.Count, "×")
	}
	if l := s.Memory.OfLine(c.Location.Place); l != nil && len(c.Misses) > 0 {
		t.facts(indent, indent+"  ", l.Words())
	}
	t.prose(indent, indent, c.Message)
	if calls := words.Callers(c.Path); calls != nil {
		t.facts(indent, indent+"  ", calls)
	}
	t.members(indent, c)
}

// members lists the other lines whose counts go with the cause: what it
// steers. Many events share a line; each line is named once.
func (t *writer) members(indent string, c *report.Cause) {
	const shown = 6
	lines, seen := []string{}, map[string]bool{c.Location.Short(): true}
	for _, m := range c.Members {
		name := units.Printable(m.Place.Short())
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

// excerpt shows a source line; bar says what it is: the line, or where it leads.
func (t *writer) excerpt(indent string, bar rune, p report.Place) {
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
	t.line(t.paint(dim, lead), words.Cut(around(line, p.Column, room), room)+t.paint(yellow, tail))
}

// around is the part of a source line that holds a column (of bytes, from 1;
// 0: not known), from its start if that fits.
func around(line string, column, room int) string {
	at := min(max(column-1, 0), len(line))
	before, after := units.Printable(strings.TrimLeft(line[:at], " \t")), units.Printable(strings.TrimSpace(line[at:]))
	if strings.HasSuffix(line[:at], " ") && before == "" {
		return after
	}
	if width(before) <= room/2 || width(before)+width(after) <= room {
		return before + after
	}
	return "…" + words.Columns.TruncateLeft(before, width(before)-room/2, "") + after
}
