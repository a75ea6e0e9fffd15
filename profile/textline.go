package profile

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// textLine is one line taken apart. Its methods take words and pairs out of
// it; the first error sticks, and what is left over is an error too, so that
// a misspelt key in a golden is found.
type textLine struct {
	number int
	what   string
	plain  []string
	pairs  map[string]string
	err    error
}

func (l *textLine) fail(f string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(f, args...)
	}
}

// done returns the first error.
func (l *textLine) done() error {
	if l.err == nil && len(l.plain) > 0 {
		l.fail("%q does not belong here", l.plain[0])
	}
	if l.err == nil && len(l.pairs) > 0 {
		least := ""
		for k := range l.pairs {
			if least == "" || k < least {
				least = k
			}
		}
		l.fail("%q= does not belong here", least)
	}
	return l.err
}

// word takes the next plain word.
func (l *textLine) word() string {
	if len(l.plain) == 0 {
		l.fail("a word is missing")
		return ""
	}
	w := l.plain[0]
	l.plain = l.plain[1:]
	return w
}

// flag takes the next plain word if it is this one.
func (l *textLine) flag(name string) bool {
	if len(l.plain) > 0 && l.plain[0] == name {
		l.plain = l.plain[1:]
		return true
	}
	return false
}

// lookup takes a pair.
func (l *textLine) lookup(key string) (string, bool) {
	v, ok := l.pairs[key]
	delete(l.pairs, key)
	return v, ok
}

func (l *textLine) pair(key string) string {
	v, _ := l.lookup(key)
	return v
}

func (l *textLine) parseInt(s string, bits int) int64 {
	n, err := strconv.ParseInt(s, 10, bits)
	if err != nil {
		l.fail("%q is not a number of %d bits", s, bits)
	}
	return n
}

func (l *textLine) int(key string, bits int) int64 {
	v, ok := l.lookup(key)
	if !ok {
		return 0
	}
	return l.parseInt(v, bits)
}

func (l *textLine) parseAddr(s string) Addr {
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		l.fail("%q is not an address", s)
	}
	return Addr(n)
}

func (l *textLine) addr(key string) Addr {
	v, ok := l.lookup(key)
	if !ok {
		return 0
	}
	return l.parseAddr(v)
}

// span takes a word like 0x1000-0x1040.
func (l *textLine) span() (Addr, Addr) {
	from, to, ok := strings.Cut(l.word(), "-")
	if !ok {
		l.fail("want addresses as 0x1000-0x1040")
		return 0, 0
	}
	return l.parseAddr(from), l.parseAddr(to)
}

func (l *textLine) nanos(key string) int64 {
	v, ok := l.lookup(key)
	if !ok {
		return 0
	}
	n, ok := strings.CutSuffix(v, "ns")
	if !ok {
		l.fail("%s=%q: want nanoseconds, as 120ns", key, v)
		return 0
	}
	return l.parseInt(n, 64)
}

func (l *textLine) float(key string) float64 {
	v, ok := l.lookup(key)
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		l.fail("%s=%q is not a number", key, v)
		return 0
	}
	return f
}

// ratio takes a pair like functions=17/18.
func (l *textLine) ratio(key string) (int, int) {
	v, ok := l.lookup(key)
	if !ok {
		return 0, 0
	}
	part, whole, ok := strings.Cut(v, "/")
	if !ok {
		l.fail("%s=%q: want two numbers, as 17/18", key, v)
		return 0, 0
	}
	return int(l.parseInt(part, 64)), int(l.parseInt(whole, 64))
}

// kind finds a word among names.
func (l *textLine) kind(names []string, w string) int {
	for i, n := range names {
		if n == w {
			return i
		}
	}
	l.fail("%q is none of %s", w, strings.Join(names, ", "))
	return 0
}

// index finds what a name stands for.
func (l *textLine) index(in map[string]int, what, name string) int {
	i, ok := in[name]
	if !ok {
		l.fail("there is no %s %q", what, name)
	}
	return i
}

func (l *textLine) frame() Frame {
	return Frame{File: l.pair("file"), Line: int(l.int("line", 64)), Column: int(l.int("column", 64)), Function: l.pair("function")}
}

// begin makes c the vector that the count lines which follow go to.
func (t *textReader) begin(c *Counts) {
	t.counts = c
	t.open = append(t.open, c)
}

// blockOf is the block of a label; "-" is outside the graph.
func (t *textReader) blockOf(l *textLine, name string) BlockID {
	if name == "-" {
		return NoBlock
	}
	return BlockID(l.index(t.block, "block", name))
}

// eventOf is the event that a pair names; NoEvent without one.
func (t *textReader) eventOf(l *textLine, key string) EventID {
	name, ok := l.lookup(key)
	if !ok {
		return NoEvent
	}
	return EventID(l.index(t.event, "event", name))
}
