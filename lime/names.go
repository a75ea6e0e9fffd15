package lime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
)

// names numbers source lines, from 1 on, the same the same: a program has a hundred
// thousand blocks, and to write down the name of each one's line takes longer than all
// that is done with it.
type names struct {
	bodies map[string]bool
	texts  map[string]int32
	frames map[[3]int32]int32 // file, line, function
	pairs  map[[2]int32]int32 // of numbers; a chain of frames is one of the chain before and a frame
	last   int32              // number that was given: frames and pairs have numbers of one row
	file   numbered           // the last ones
	in     numbered
}

type numbered struct {
	text   string
	number int32
}

// newNames has room for about so many lines. Functions that threads begin in are bodies.
func newNames(bodies map[string]bool, lines int) *names {
	return &names{bodies: bodies, texts: map[string]int32{"": 0}, frames: make(map[[3]int32]int32, lines), pairs: make(map[[2]int32]int32, lines)}
}

// lines numbers the lines of the locations that are asked for, without the calls that they
// were inlined at and with these; 0: not known. That of the next instruction is mostly the same.
func (x *names) lines(list []profile.Location, asked []bool) (own, inlined []int32) {
	own, inlined = make([]int32, len(list)), make([]int32, len(list))
	for i := range list {
		switch l := &list[i]; {
		case !asked[i] || !l.Known():
		case i > 0 && asked[i-1] && sameLine(l, &list[i-1]):
			own[i], inlined[i] = own[i-1], inlined[i-1]
		default:
			own[i], inlined[i] = x.line(l)
		}
	}
	return own, inlined
}

func sameLine(a, b *profile.Location) bool {
	same := func(a, b profile.Frame) bool {
		return a.Line == b.Line && a.Function == b.Function && a.File == b.File
	}
	return same(a.Frame, b.Frame) && slices.EqualFunc(a.InlinedAt, b.InlinedAt, same)
}

// line numbers a source line, and the same with the calls that it was inlined at. Where a
// function that threads begin in was inlined in turn, the calls around that
// are left out: one thread then runs its own copy of what all run.
func (x *names) line(l *profile.Location) (own, inlined int32) {
	own = x.frame(&l.Frame)
	n, in := own, l.Function
	for i := range l.InlinedAt {
		if x.bodies[in] {
			break
		}
		n = x.pair(-n, x.frame(&l.InlinedAt[i]))
		in = l.InlinedAt[i].Function
	}
	return own, n
}

func (x *names) frame(f *profile.Frame) int32 {
	k := [3]int32{x.text(&x.file, f.File), int32(f.Line), x.text(&x.in, f.Function)}
	n := x.frames[k]
	if n == 0 {
		x.last++
		n = x.last
		x.frames[k] = n
	}
	return n
}

// text numbers a file or function; mostly it is that of the line before.
func (x *names) text(last *numbered, s string) int32 {
	if s == last.text {
		return last.number
	}
	n, is := x.texts[s]
	if !is {
		n = int32(len(x.texts))
		x.texts[s] = n
	}
	*last = numbered{s, n}
	return n
}

// pair numbers two numbers. Lines with columns, and lines with depths, are compared only with
// their like.
func (x *names) pair(a, b int32) int32 {
	k := [2]int32{a, b}
	n := x.pairs[k]
	if n == 0 {
		x.last++
		n = x.last
		x.pairs[k] = n
	}
	return n
}

// standFor makes the first block with a name stand for all that have it; 0: none.
func (x *names) standFor(of []profile.BlockID, name []int32) {
	at := make([]profile.BlockID, x.last+1)
	for b, n := range name {
		switch {
		case n == 0:
		case at[n] == 0:
			at[n] = of[b] + 1
		default:
			of[b] = at[n] - 1
		}
	}
}

// sourceLine names a source line and the calls that it was inlined at.
func sourceLine(l *profile.Location) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\x00%d\x00%s", l.File, l.Line, l.Function)
	for _, at := range l.InlinedAt {
		fmt.Fprintf(&b, "\x00%s\x00%d\x00%s", at.File, at.Line, at.Function)
	}
	return b.String()
}
