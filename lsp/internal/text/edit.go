package text

import (
	"strings"

	"go.lsp.dev/protocol"
)

// Edit replaces what is between two points of a text.
type Edit struct {
	Old, New *Text

	from, to Point // in the old text
	end      Point // of what was inserted, in the new text
}

// Apply makes a client's change: insert instead of a range, or of everything
// where there is none. An edit of everything is reduced to what it really
// changes, so that what stands around that stays where it is.
func (t *Text) Apply(e Encoding, where *protocol.Range, insert string) Edit {
	var from, to Point
	if where != nil {
		from, to = t.Point(e, where.Start), t.Point(e, where.End)
	}
	if where == nil || from == (Point{}) && t.offset(to) == len(t.s) {
		from, to, insert = change(t, New(insert))
	}
	return t.replace(from, to, insert)
}

// replace makes the edited text.
func (t *Text) replace(from, to Point, insert string) Edit {
	if to.before(from) {
		from, to = to, from
	}
	a, b := t.offset(from), t.offset(to)
	out := New(t.s[:a] + insert + t.s[b:])
	return Edit{Old: t, New: out, from: out.at(min(a, len(out.s))), to: to, end: out.at(a + len(insert))}
}

// change is the edit between two whole texts: all but what they begin and end
// with alike. It never cuts a line end or a character in two.
func change(old, new *Text) (from, to Point, insert string) {
	a, b := old.s, new.s
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	i = old.starts[old.at(i).Line] // whole lines: what is moved with a line is all of it
	if i > 0 && (i > len(b) || new.starts[new.at(i).Line] != i) {
		i = min(i, new.starts[new.at(min(i, len(b))).Line])
	}
	j := 0
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	for j > 0 && (old.starts[old.at(len(a)-j).Line] != len(a)-j || new.starts[new.at(len(b)-j).Line] != len(b)-j) {
		j--
	}
	return old.at(i), old.at(len(a) - j), b[i : len(b)-j]
}

// move is where the character at p is after the edit; for one that was
// deleted, where it was, and gone is true.
func (e Edit) move(p Point) (q Point, gone bool) {
	switch {
	case p.before(e.from):
		return p, false
	case p.before(e.to):
		return e.from, true
	case p.Line == e.to.Line:
		return Point{e.end.Line, e.end.Col + p.Col - e.to.Col}, false
	}
	return Point{p.Line + e.end.Line - e.to.Line, p.Col}, false
}

// Follow is where a point of the old text is in the new one. One whose line
// was replaced as a whole, by a formatter or a paste, goes to where that line
// stands in what replaced it.
func (e Edit) Follow(p Point) Point {
	q, _ := e.Track(p)
	return q
}

// Track is Follow, and says whether the point's line is still there: one that was
// deleted with all its text is not, nor one that other lines replaced of which
// nobody knows which it is.
func (e Edit) Track(p Point) (q Point, there bool) {
	q, gone := e.move(p)
	if !gone {
		return e.New.within(q), true
	}
	if l, ok := e.replaced(p.Line); ok {
		return e.New.within(Point{l, p.Col}), true
	}
	if e.from.Line == e.to.Line {
		return e.New.within(q), !e.took(p.Line)
	}
	before, behind := e.left(p.Line)
	if behind && !before {
		q = e.end
	}
	return e.New.within(q), before || behind
}

// replaced is the line of the new text that stands for one that was replaced: the one with its
// text, or but other spaces, or, where an edit is of many lines (a branch that was checked
// out, a text that was sent whole), the one that is changed between two that are not.
func (e Edit) replaced(line int) (int, bool) {
	was := e.Old.Line(line)
	if l, ok := nearest(e.New, strings.TrimSpace(was), line, e.from.Line, e.end.Line); ok || e.from.Line == e.to.Line {
		return l, ok
	}
	if want := squeezed(was); want != "" {
		if l, ok := closest(line, e.from.Line, e.end.Line, func(l int) bool { return squeezed(e.New.Line(l)) == want }); ok {
			return l, true
		}
	}
	if line == 0 || line+1 >= e.Old.Lines() {
		return 0, false
	}
	above, below := squeezed(e.Old.Line(line-1)), squeezed(e.Old.Line(line+1))
	if len(above)+len(below) < 4 { // braces and the like, as they stand everywhere
		return 0, false
	}
	return closest(line, e.from.Line, e.end.Line, func(l int) bool {
		return l > 0 && l+1 < e.New.Lines() && squeezed(e.New.Line(l-1)) == above && squeezed(e.New.Line(l+1)) == below
	})
}

// squeezed is a line without its spaces.
func squeezed(line string) string { return strings.Join(strings.Fields(line), "") }

// left reports whether text of a line was not in the edit: some before it, some behind it.
func (e Edit) left(line int) (before, behind bool) {
	text := e.Old.Line(line)
	before = line == e.from.Line && strings.TrimSpace(text[:min(e.from.Col, len(text))]) != ""
	behind = line == e.to.Line && strings.TrimSpace(text[min(e.to.Col, len(text)):]) != ""
	return before, behind
}

// Back is where an edit puts a line with a text again, near a point of the old text.
func (e Edit) Back(line string, near Point) (Point, bool) {
	q, _ := e.move(near)
	l, ok := nearest(e.New, line, q.Line, e.from.Line, e.end.Line)
	return Point{l, near.Col}, ok && e.end != e.from
}

// took reports whether an edit deleted all text of a line, and put nothing in its
// place.
func (e Edit) took(line int) bool {
	text := e.Old.Line(line)
	first, last := 0, len(text)
	if e.from.Line == line {
		first = e.from.Col
	}
	if e.to.Line == line {
		last = min(e.to.Col, last)
	}
	return strings.TrimSpace(text[:min(first, len(text))]) == "" && strings.TrimSpace(text[last:]) == "" && e.end == e.from
}
