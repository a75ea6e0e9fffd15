package profiler

import (
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Where the loops of gcc's regions stand. The jump by which a thread goes on to its next
// round of a parallel loop was written by nobody: it bears the place of what came before,
// which may be another loop's jump in it.
//
//	#pragma omp parallel for
//	for (int i = 0; i < n; i++)          ◀─┐
//	    for (int j = 0; j < m; j++)        │
//	        …            line 3: jne j ─┐  │
//	                     line 3: jne i ─┴──┘

// loopWords begin a loop, in C and Fortran.
var loopWords = pattern.New(`(?i)^\s*(?:for\b|do\b|\w+:\s*do\b)`)

// loopOf is the line of the loop of a region whose pragma stands on a line; 0: it is none.
func loopOf(text []string, line int) int {
	m := pragma().FindStringSubmatch(text[line-1])
	if m == nil {
		return 0
	}
	words, _, _ := strings.Cut(strings.ToLower(m[1]), "(")
	f := strings.FieldsFunc(words, func(r rune) bool { return r < 'a' || r > 'z' })
	if !slices.Contains(f, "parallel") || !slices.ContainsFunc(f, func(w string) bool { return w == "for" || w == "do" || w == "loop" }) {
		return 0
	}
	for at := line + 1; at <= min(line+farLoop, len(text)); at++ {
		if loopWords().MatchString(text[at-1]) {
			return at
		}
	}
	return 0
}

// farLoop is how many lines below its pragma, which may be continued, a loop begins.
const farLoop = 8

// back is a jump by which a loop goes on, or is left right before it does.
type back struct {
	decides, from, to uint64
}

// backs are those of a function.
func backs(im *image.Image, f *image.Func) (all []back) {
	var last x86.Insn // conditional jump, if that is one onwards
	eachInsn(im, f, func(in *x86.Insn) {
		switch before := in.Target < in.Addr && in.Target >= f.Addr; {
		case in.Kind == x86.Jcc && !before:
			last = *in
		case in.Kind == x86.Jcc:
			last, all = x86.Insn{}, append(all, back{in.Addr, in.Addr, in.Target})
		case in.Kind == x86.Jmp && before && last.Kind == x86.Jcc && last.Target == in.End():
			all = append(all, back{last.Addr, in.Addr, in.Target})
		}
	})
	return all
}

// loopJumps puts the jump back of a region's own loop, which begins on a line, there: the
// outermost of those that have the very place of another one within them.
func loopJumps(im *image.Image, f *image.Func, line int, locate func(profile.Addr) profile.Location, found map[uint64]moved) {
	all := backs(im, f)
	at := make([]profile.Location, len(all))
	for i := range all {
		at[i] = locate(profile.Addr(all[i].decides))
	}
	for i, b := range all {
		within, around := false, false
		for k, x := range all {
			within = within || x.from < b.from && x.to > b.to && at[k].Frame == at[i].Frame
			around = around || x.from > b.from && x.to <= b.from && outermost(at[k]).Line >= line
		}
		if within && !around && outermost(at[i]).Line > line {
			found[b.decides] = moved{line, len(at[i].InlinedAt)}
		}
	}
}
