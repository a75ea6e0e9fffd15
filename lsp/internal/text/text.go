package text

import (
	"crypto/sha256"
	"strings"
	"sync"
	"unicode/utf8"
)

// Text is a text and where its lines begin. It never changes, and may be used
// by several goroutines.
type Text struct {
	s      string
	starts []int // byte offsets of the lines

	once   sync.Once
	digest Digest
}

// Digest tells texts apart.
type Digest = [sha256.Size]byte

// New finds the lines of a text. They end with \n, \r\n or \r, as the protocol
// has it.
func New(s string) *Text {
	t := &Text{s: s, starts: make([]int, 1, 1+strings.Count(s, "\n"))}
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

// String is the whole text.
func (t *Text) String() string { return t.s }

// Digest is made at the first call, and kept. It is of what is the same in whatever
// encoding a file is read.
func (t *Text) Digest() Digest {
	t.once.Do(func() { t.digest = sha256.Sum256([]byte(plain(t.s))) })
	return t.digest
}

// mark begins files that some programs write as UTF-8. Editors do not show it.
const mark = "\ufeff"

// OfFile is a file's text as editors show it. What is no UTF-8 is taken for Latin-1:
// in others of one byte a character the columns are the same.
func OfFile(data []byte) *Text {
	if utf8.Valid(data) {
		return New(strings.TrimPrefix(string(data), mark))
	}
	all := make([]rune, len(data))
	for i, b := range data {
		all[i] = rune(b)
	}
	return New(string(all))
}

// Shows reports whether a text is what an editor makes of a file. Some have all lines end
// alike, though those of the file do not.
func (t *Text) Shows(data []byte) bool {
	switch {
	case string(data) == t.s:
		return true
	case utf8.Valid(data):
		return oneEnd(strings.TrimPrefix(string(data), mark)) == oneEnd(strings.TrimPrefix(t.s, mark))
	}
	return plain(string(data)) == plain(t.s) // nobody knows what it took it for
}

// oneEnd is a text whose lines all end alike.
func oneEnd(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// plain is a text without what is not ASCII, whose lines all end alike.
func plain(s string) string {
	s = oneEnd(s)
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			out = append(out, s[i])
		}
	}
	return string(out)
}

// Lines is how many there are: at least one.
func (t *Text) Lines() int { return len(t.starts) }

// Line is a line, from 0, without its end; empty beyond the last.
func (t *Text) Line(i int) string {
	if i < 0 || i >= len(t.starts) {
		return ""
	}
	end := len(t.s)
	if i+1 < len(t.starts) {
		end = t.starts[i+1]
	}
	return strings.TrimRight(t.s[t.starts[i]:end], "\r\n")
}

func (t *Text) offset(p Point) int { return t.starts[p.Line] + p.Col }

// at is the point of a byte offset.
func (t *Text) at(offset int) Point {
	lo, hi := 0, len(t.starts)
	for hi-lo > 1 {
		if m := (lo + hi) / 2; t.starts[m] <= offset {
			lo = m
		} else {
			hi = m
		}
	}
	return Point{lo, offset - t.starts[lo]}
}

// within is a point moved to where the text has characters.
func (t *Text) within(p Point) Point {
	p.Line = min(p.Line, t.Lines()-1)
	p.Col = min(p.Col, len(t.Line(p.Line)))
	return p
}
