package text

import "strings"

// Anchor is a place of a finding, as it was when the program ran: it stays
// with its line.
type Anchor struct {
	Point        // when the program ran
	Was   string // the text of its line at that time, trimmed; empty: unknown
}

// Settle is where an anchor stands in a text that it has not followed: another
// program changed the file, or the server was not running. False is that its line
// is not there any more: it is where it was, which is another line's place now.
func (a Anchor) Settle(t *Text) (p Point, there bool) {
	p = a.Point
	l, ok := nearest(t, a.Was, p.Line, 0, t.Lines()-1)
	if ok {
		p.Line = l
	}
	return t.within(p), ok || a.Was == ""
}

// nearest finds the line with a text that is nearest to a line, within bounds.
func nearest(t *Text, want string, line, first, last int) (int, bool) {
	if want == "" {
		return 0, false
	}
	return closest(line, first, min(last, t.Lines()-1), func(l int) bool { return strings.TrimSpace(t.Line(l)) == want })
}

// closest is the line closest to one, within bounds, of those that are right.
func closest(line, first, last int, right func(int) bool) (int, bool) {
	first = max(first, 0)
	for d := 0; line-d >= first || line+d <= last; d++ {
		for _, l := range [2]int{line - d, line + d} {
			if l >= first && l <= last && right(l) {
				return l, true
			}
		}
	}
	return 0, false
}
