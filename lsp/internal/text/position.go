package text

import (
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// Point is a place in a text: line and byte column, from 0.
type Point struct{ Line, Col int }

func (p Point) before(q Point) bool { return p.Line < q.Line || p.Line == q.Line && p.Col < q.Col }

// Encoding is what a client counts the characters of a line in.
type Encoding string

// The encodings of the protocol.
const (
	UTF8  Encoding = "utf-8"
	UTF16 Encoding = "utf-16" // the default
	UTF32 Encoding = "utf-32"
)

// Agree chooses among what a client offers: bytes are what everything else
// here counts in.
func Agree(offered []string) Encoding {
	for _, e := range []Encoding{UTF8, UTF16, UTF32} {
		for _, o := range offered {
			if Encoding(o) == e {
				return e
			}
		}
	}
	return UTF16
}

// units is the position of byte column col in a line, as the client counts.
func (e Encoding) units(line string, col int) int {
	col = min(max(col, 0), len(line))
	if e == UTF8 {
		return col
	}
	n := 0
	for _, r := range line[:col] {
		n++
		if e == UTF16 && r >= 0x10000 {
			n++
		}
	}
	return n
}

// column is the byte column of a client's position in a line. What is beyond
// the line is its end, what is within a character its beginning.
func (e Encoding) column(line string, units int) int {
	if e == UTF8 {
		units = min(units, len(line))
		for units > 0 && units < len(line) && !utf8.RuneStart(line[units]) {
			units--
		}
		return units
	}
	n := 0
	for i, r := range line {
		w := 1
		if e == UTF16 && r >= 0x10000 {
			w = 2
		}
		if n+w > units {
			return i
		}
		n += w
	}
	return len(line)
}

// Point is a client's position; beyond the end it is the end.
func (t *Text) Point(e Encoding, p protocol.Position) Point {
	if p.Line >= uint32(len(t.starts)) {
		last := len(t.starts) - 1
		return Point{last, len(t.Line(last))}
	}
	return Point{int(p.Line), e.column(t.Line(int(p.Line)), int(min(p.Character, 1<<30)))}
}

// Position is a point as the client counts.
func (t *Text) Position(e Encoding, p Point) protocol.Position {
	p.Line = min(max(p.Line, 0), len(t.starts)-1)
	return protocol.Position{Line: uint32(p.Line), Character: uint32(e.units(t.Line(p.Line), p.Col))}
}

// End is the position behind the last character.
func (t *Text) End(e Encoding) protocol.Position {
	return t.Position(e, Point{len(t.starts) - 1, len(t.s)})
}

// Words is a line from its first to its last character that is no space.
func (t *Text) Words(e Encoding, line int) protocol.Range {
	line = min(max(line, 0), len(t.starts)-1)
	s := t.Line(line)
	from := len(s) - len(strings.TrimLeft(s, " \t"))
	to := max(len(strings.TrimRight(s, " \t")), from)
	return protocol.Range{Start: t.Position(e, Point{line, from}), End: t.Position(e, Point{line, to})}
}
