package lsp

import (
	"strings"
	"unicode/utf8"
)

// encoding is what a client counts the characters of a line in.
type encoding string

const (
	utf16 encoding = "utf-16" // the protocol's default
	utf8e encoding = "utf-8"
	utf32 encoding = "utf-32"
)

// agree chooses among what a client offers: bytes are what everything else
// here counts in.
func agree(offered []string) encoding {
	for _, e := range []encoding{utf8e, utf16, utf32} {
		for _, o := range offered {
			if encoding(o) == e {
				return e
			}
		}
	}
	return utf16
}

// units is the position of byte column col in a line, as the client counts.
func (e encoding) units(line string, col int) int {
	col = min(max(col, 0), len(line))
	if e == utf8e {
		return col
	}
	n := 0
	for _, r := range line[:col] {
		n++
		if e == utf16 && r >= 0x10000 {
			n++
		}
	}
	return n
}

// column is the byte column of a client's position in a line. What is beyond
// the line is its end, what is within a character its beginning.
func (e encoding) column(line string, units int) int {
	if e == utf8e {
		units = min(units, len(line))
		for units > 0 && units < len(line) && !utf8.RuneStart(line[units]) {
			units--
		}
		return units
	}
	n := 0
	for i, r := range line {
		w := 1
		if e == utf16 && r >= 0x10000 {
			w = 2
		}
		if n+w > units {
			return i
		}
		n += w
	}
	return len(line)
}

// point is a place in a text: line and byte column, from 0.
type point struct{ line, col int }

func (p point) before(q point) bool { return p.line < q.line || p.line == q.line && p.col < q.col }

// text is a text and where its lines begin. It does not change.
type text struct {
	s      string
	starts []int
}

func newText(s string) *text {
	t := &text{s: s, starts: make([]int, 1, 1+strings.Count(s, "\n"))}
	for i := 0; i < len(s); {
		j := strings.IndexAny(s[i:], "\r\n")
		if j < 0 {
			break
		}
		i += j + 1
		if s[i-1] == '\r' && i < len(s) && s[i] == '\n' {
			i++
		}
		t.starts = append(t.starts, i)
	}
	return t
}

func (t *text) lines() int { return len(t.starts) }

// line is a line without its end; empty beyond the last.
func (t *text) line(i int) string {
	if i < 0 || i >= len(t.starts) {
		return ""
	}
	end := len(t.s)
	if i+1 < len(t.starts) {
		end = t.starts[i+1]
	}
	return strings.TrimRight(t.s[t.starts[i]:end], "\r\n")
}

// point is a client's position; beyond the end it is the end.
func (t *text) point(e encoding, p position) point {
	if p.Line >= uint32(len(t.starts)) {
		last := len(t.starts) - 1
		return point{last, len(t.line(last))}
	}
	return point{int(p.Line), e.column(t.line(int(p.Line)), int(min(p.Character, 1<<30)))}
}

func (t *text) offset(p point) int { return t.starts[p.line] + p.col }

// at is the point of a byte offset.
func (t *text) at(offset int) point {
	lo, hi := 0, len(t.starts)
	for hi-lo > 1 {
		if m := (lo + hi) / 2; t.starts[m] <= offset {
			lo = m
		} else {
			hi = m
		}
	}
	return point{lo, offset - t.starts[lo]}
}

func (t *text) position(e encoding, p point) position {
	p.line = min(max(p.line, 0), len(t.starts)-1)
	return position{Line: uint32(p.line), Character: uint32(e.units(t.line(p.line), p.col))}
}

// words is a line from its first to its last character that is no space.
func (t *text) words(e encoding, line int) span {
	line = min(max(line, 0), len(t.starts)-1)
	s := t.line(line)
	from := len(s) - len(strings.TrimLeft(s, " \t"))
	to := max(len(strings.TrimRight(s, " \t")), from)
	return span{Start: t.position(e, point{line, from}), End: t.position(e, point{line, to})}
}
