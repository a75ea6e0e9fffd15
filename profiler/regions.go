package profiler

import (
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Where gcc's regions begin. The function that gcc and gfortran outline of a region
// begins on the line of the pragma, unless nothing is to be prepared: then it begins
// on that of the first statement, or of a construct within it. The source tells.
//
//	call GOMP_single_start     line 21 ─▶ !$omp parallel in line 20
//	                                      !$omp single   in line 21

// outlines is what stands in the names of functions that gcc outlined.
const outlines = "._omp_fn."

// regionLines finds the lines of a program's regions that the debug information puts
// further below, by the addresses of the functions, and those of jumps of their loops.
func regionLines(im *image.Image, locate func(profile.Addr) profile.Location, read func(file string) []string) map[uint64]moved {
	found := map[uint64]moved{}
	for i := range im.Funcs {
		f := &im.Funcs[i]
		if !strings.Contains(f.Name, outlines) {
			continue
		}
		l := locate(profile.Addr(f.Addr))
		if n := len(l.InlinedAt); n > 0 {
			l.Frame = l.InlinedAt[n-1]
		}
		if text := read(l.File); l.Line >= 1 && l.Line <= len(text) {
			line := regionOf(text, l.Line)
			if line > 0 && line < l.Line {
				found[f.Addr] = moved{line, len(l.InlinedAt)}
			}
			if line > 0 && loopOf(text, line) > 0 {
				loopJumps(im, f, loopOf(text, line), locate, found)
			}
		}
	}
	return found
}

// regionOf is the line of the pragma of the region that begins at a line or right above;
// 0 where that is a task's, or none is known.
func regionOf(text []string, line int) int {
	for at := line; at > 0 && !(at < line && endsFunction(text[at-1])); at-- {
		m := pragma().FindStringSubmatch(text[at-1])
		if m == nil {
			continue
		}
		if _, _, region := says(text[at-1]); region {
			return at
		}
		words := strings.FieldsFunc(strings.ToLower(m[1]), func(r rune) bool { return r < 'a' || r > 'z' })
		if len(words) > 1 && words[0] == "end" {
			words = words[1:]
		}
		if len(words) == 0 || !slices.Contains(withinRegions, words[0]) {
			return 0
		}
	}
	return 0
}

// withinRegions are the constructs by which what a region does may begin.
var withinRegions = []string{"for", "do", "loop", "workshare", "sections", "section", "single", "master", "masked", "critical", "atomic", "simd",
	"scope", "flush", "ordered"}

// regionsIn finds functions that gcc has outlined in another one: they begin on the line
// of their region's pragma, or of a task's.
func regionsIn(im *image.Image, f *image.Func, regions map[uint64]bool) {
	eachInsn(im, f, func(in *x86.Insn) {
		if g := im.FuncAt(in.RIPTarget); in.RIPOff > 0 && g != nil && g.Addr == in.RIPTarget && strings.Contains(g.Name, outlines) {
			regions[g.Addr] = true
		}
	})
}

// forks reports whether a region is at a place, and no task; also where the source does
// not say.
func forks(l profile.Location, program string) bool {
	text := source(l.File, program)
	if l.Line < 1 || l.Line > len(text) {
		return true
	}
	_, _, region := says(text[l.Line-1])
	return region
}
