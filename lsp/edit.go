package lsp

import "strings"

// edit replaces what is between two points of a text.
type edit struct {
	from, to point
	end      point // of what was inserted, in the new text
}

// replace makes the edited text.
func (t *text) replace(from, to point, insert string) (*text, edit) {
	if to.before(from) {
		from, to = to, from
	}
	a, b := t.offset(from), t.offset(to)
	out := newText(t.s[:a] + insert + t.s[b:])
	return out, edit{from: out.at(min(a, len(out.s))), to: to, end: out.at(a + len(insert))}
}

// change is the edit between two whole texts: all but what they begin and end
// with alike. It never cuts a line end or a character in two.
func change(old, new *text) (from, to point, insert string) {
	a, b := old.s, new.s
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	i = old.starts[old.at(i).line] // whole lines: what is moved with a line is all of it
	if i > 0 && (i > len(b) || new.starts[new.at(i).line] != i) {
		i = min(i, new.starts[new.at(min(i, len(b))).line])
	}
	j := 0
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	for j > 0 && (old.starts[old.at(len(a)-j).line] != len(a)-j || new.starts[new.at(len(b)-j).line] != len(b)-j) {
		j--
	}
	return old.at(i), old.at(len(a) - j), b[i : len(b)-j]
}

// move is where the character at p is after the edit; for one that was
// deleted, where it was, and gone is true.
func (e edit) move(p point) (q point, gone bool) {
	switch {
	case p.before(e.from):
		return p, false
	case p.before(e.to):
		return e.from, true
	case p.line == e.to.line:
		return point{e.end.line, e.end.col + p.col - e.to.col}, false
	}
	return point{p.line + e.end.line - e.to.line, p.col}, false
}

// anchor is a place of a result in a file, which stays with its line.
type anchor struct {
	path string
	orig point  // when the program was run
	now  point  //
	line string // its text at that time, trimmed; empty: unknown
}

// follow moves an anchor through an edit. A line that was replaced as a whole,
// by a formatter or a paste, is looked for in what replaced it.
func (a *anchor) follow(e edit, old, new *text) {
	q, gone := e.move(a.now)
	if gone {
		was := strings.TrimSpace(old.line(a.now.line))
		if l, ok := nearest(new, was, a.now.line, e.from.line, e.end.line); ok {
			q = point{l, min(a.now.col, len(new.line(l)))}
		}
	}
	q.line = min(q.line, new.lines()-1)
	q.col = min(q.col, len(new.line(q.line)))
	a.now = q
}

// settle puts an anchor into a text that it has not followed: another program
// changed the file, or the server was not running.
func (a *anchor) settle(t *text) {
	a.now = a.orig
	if a.line != "" {
		if l, ok := nearest(t, a.line, a.orig.line, 0, t.lines()-1); ok {
			a.now.line = l
		}
	}
	a.now.line = min(a.now.line, t.lines()-1)
	a.now.col = min(a.now.col, len(t.line(a.now.line)))
}

// nearest finds the line with a text that is nearest to a line, within bounds.
func nearest(t *text, want string, line, first, last int) (int, bool) {
	if want == "" {
		return 0, false
	}
	first, last = max(first, 0), min(last, t.lines()-1)
	for d := 0; line-d >= first || line+d <= last; d++ {
		for _, l := range [2]int{line - d, line + d} {
			if l >= first && l <= last && strings.TrimSpace(t.line(l)) == want {
				return l, true
			}
		}
	}
	return 0, false
}
