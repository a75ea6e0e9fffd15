package text

import (
	"crypto/sha256"
	"strings"
	"sync"
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

// Digest is made at the first call, and kept.
func (t *Text) Digest() Digest {
	t.once.Do(func() { t.digest = sha256.Sum256([]byte(t.s)) })
	return t.digest
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
