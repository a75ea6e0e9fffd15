package text

import "strings"

// Anchor is a place of a finding, as it was when the program ran: it stays
// with its line.
type Anchor struct {
	Point        // when the program ran
	Was   string // the text of its line at that time, trimmed; empty: unknown
}

// Settle is where an anchor stands in a text that it has not followed: another
// program changed the file, or the server was not running.
func (a Anchor) Settle(t *Text) Point {
	p := a.Point
	if l, ok := nearest(t, a.Was, p.Line, 0, t.Lines()-1); ok {
		p.Line = l
	}
	return t.within(p)
}

// nearest finds the line with a text that is nearest to a line, within bounds.
func nearest(t *Text, want string, line, first, last int) (int, bool) {
	if want == "" {
		return 0, false
	}
	first, last = max(first, 0), min(last, t.Lines()-1)
	for d := 0; line-d >= first || line+d <= last; d++ {
		for _, l := range [2]int{line - d, line + d} {
			if l >= first && l <= last && strings.TrimSpace(t.Line(l)) == want {
				return l, true
			}
		}
	}
	return 0, false
}
