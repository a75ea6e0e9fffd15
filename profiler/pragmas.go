package profiler

import (
	"maps"
	"os"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
)

// Where gcc's implicit barriers stand. At the end of a worksharing construct gcc and
// gfortran call the runtime with whatever line came before: that of the loop's body,
// or of something before a single. Which construct it is tells the call before it in
// the function, by which that began; where it stands tells the source, which is asked
// for the nearest pragma of that kind. The line stays what it is where the source
// cannot be read, or is younger than the program.
//
//	call GOMP_single_start     line 16, of the loop before
//	call GOMP_barrier          line 16 ─▶ #pragma omp single in line 18

// construct is a kind of worksharing construct; "" is none.
type construct string

const (
	noConstruct construct = ""
	ofLoop      construct = "loop"
	ofSections  construct = "sections"
	ofSingle    construct = "single"
	ofScope     construct = "scope"  // which begins by no call of its own
	noWait      construct = "nowait" // one that ends in no barrier
)

// begins tells by what calls a construct begins, ends which end it there; those of
// noConstruct end what began last.
var (
	constructBegins = map[string]construct{"omp_get_num_threads": ofLoop, "omp_get_thread_num": ofLoop, "GOMP_single_start": ofSingle, "GOMP_scope_start": ofScope,
		"GOMP_sections_start": ofSections, "GOMP_sections2_start": ofSections, "GOMP_sections_next": ofSections}
	constructEnds = map[string]construct{"GOMP_barrier": noConstruct, "GOMP_barrier_cancel": noConstruct, "GOMP_loop_end": ofLoop,
		"GOMP_loop_end_cancel": ofLoop, "GOMP_sections_end": ofSections, "GOMP_sections_end_cancel": ofSections, copies: ofSingle}
)

// copies is clang's end of a single of which the others get copies.
const copies = "__kmpc_copyprivate"

// barrierLines finds the lines of the implicit barriers of a program, by the calls'
// addresses, and those of regions.
func barrierLines(im *image.Image, locate func(profile.Addr) profile.Location, read func(file string) []string) map[uint64]moved {
	slots, entries := map[uint64]bool{}, map[uint64]bool{}
	asks := func(name string) bool {
		_, ends := constructEnds[name]
		return ends || name == "GOMP_sections_next" // after which those of a region have no end of their own
	}
	for a, name := range im.GOT {
		slots[a] = asks(name)
	}
	names := gompEntries(im)
	for a, name := range names {
		entries[a] = asks(name)
	}
	found := regionLines(im, locate, read)
	asked := map[uint64]bool{}
	for i := range im.Sections {
		s := &im.Sections[i]
		if !s.Exec || strings.HasPrefix(s.Name, ".plt") {
			continue
		}
		candidates(s, slots, entries, func(addr uint64) {
			if f := im.FuncAt(addr); f != nil && !asked[f.Addr] {
				asked[f.Addr] = true
				linesIn(runtimeCalls(im, f, names), locate(profile.Addr(f.Addr)), locate, read, found)
			}
		})
	}
	return found
}

// gompEntries are the functions that a program calls directly, by their entries: by its
// stubs, and where gcc's runtime is linked to it.
func gompEntries(im *image.Image) map[uint64]string {
	names := map[uint64]string{}
	maps.Copy(names, im.PLT)
	for i := range im.Funcs {
		f := &im.Funcs[i]
		if _, begins := constructBegins[f.Name]; begins || strings.HasPrefix(f.Name, "GOMP_") {
			names[f.Addr] = f.Name
		}
	}
	return names
}

// loopCall recognises the calls by which a thread takes rounds of a loop.
func loopCall(name, what string) bool {
	return strings.HasPrefix(name, "GOMP_loop_") && strings.HasSuffix(name, what)
}

// moved is where something stands that the debug information puts elsewhere: on a line
// of the function that is out calls further outwards than the innermost inlined one.
type moved struct{ line, out int }

// to is a location, moved there.
func (m moved) to(l profile.Location) profile.Location {
	for range min(m.out, len(l.InlinedAt)) {
		l.Frame, l.InlinedAt = l.InlinedAt[0], l.InlinedAt[1:]
	}
	l.Line, l.Column = m.line, 0
	return l
}

// linesIn finds the lines of the implicit barriers of a function, and of what decides
// who executes a single or which section, or takes rounds of a loop.
func linesIn(calls []runtimeCall, region profile.Location, locate func(profile.Addr) profile.Location, read func(file string) []string, found map[uint64]moved) {
	began, by := onlyConstruct(calls)
	taken := map[int]*runtimeCall{} // lines of pragmas, by the call that began there
	for i := range calls {
		c := &calls[i]
		of, ends := constructEnds[c.name]
		switch {
		case loopCall(c.name, "_next"):
			if by.addr > 0 && began == ofLoop {
				c.decideAt(moved{line: locate(profile.Addr(by.addr)).Line}, calls, locate, found)
			}
		case !ends:
			if began, by = beginsAt(c.name), c; began != ofLoop {
				c.decideAt(placeOf(locate(profile.Addr(c.addr)), began, true, read, func(int) bool { return true }), calls, locate, found)
			}
		default:
			switch {
			case c.last >= 0:
				began, by = beginsAt(calls[c.last].name), &calls[c.last]
			case c.last == ended && began != ofLoop:
				began, by = ofLoop, &runtimeCall{}
			}
			if of == noConstruct {
				of = began
			}
			at, of := endOf(c, by, of, region, locate, read, func(line int) bool { return taken[line] == nil || taken[line] == by })
			if at.line == 0 {
				continue
			}
			found[c.addr], taken[at.line] = at, by
			if of != ofLoop {
				by.decideAt(at, calls, locate, found)
			}
		}
	}
}

// endOf is where the pragma of a construct stands that ends by a call, and began by
// another. Where the call's line is one of what puts the threads' results together, far
// above, that of the other one is asked. A copy of the construct may have its pragma already.
// Where no single that waits is there, one that does not came last, before a loop that may
// have begun with what was known from the loop before.
func endOf(c, by *runtimeCall, of construct, region profile.Location, locate func(profile.Addr) profile.Location, read func(file string) []string, free func(line int) bool) (moved, construct) {
	if of == noConstruct {
		of = ofScope
	}
	l := locate(profile.Addr(c.addr))
	if o := outermost(l); by.addr > 0 && (o.File != region.File || o.Line < region.Line) {
		l = locate(profile.Addr(by.addr))
	}
	at := placeOf(l, of, false, read, free)
	if at.line == 0 && of != ofLoop {
		at = placeOf(l, of, false, read, func(int) bool { return true })
	}
	if at.line == 0 && of == ofSingle {
		return placeOf(l, ofLoop, false, read, free), ofLoop
	}
	return at, of
}

// outermost is where a location's function was not inlined any more.
func outermost(l profile.Location) profile.Frame {
	if n := len(l.InlinedAt); n > 0 {
		return l.InlinedAt[n-1]
	}
	return l.Frame
}

// placeOf is where the pragma of a construct stands whose end is at a location. What was
// inlined last before it has that line, and the pragma is where it was called. Where one
// begins, its end may wait or not.
func placeOf(l profile.Location, of construct, begins bool, read func(file string) []string, free func(line int) bool) moved {
	for out := 0; of != noConstruct; out++ {
		if text := read(l.File); l.Line >= 1 && l.Line <= len(text) {
			if line := pragmaOf(text, l.Line, of, begins, free); line > 0 {
				return moved{line, out}
			}
		}
		if len(l.InlinedAt) == 0 {
			break
		}
		l.Frame, l.InlinedAt = l.InlinedAt[0], l.InlinedAt[1:]
	}
	return moved{}
}

// decideAt puts the jumps behind a call on a line, but for those that have one of
// their own: control may also come there behind others by which such a construct goes on.
func (c *runtimeCall) decideAt(to moved, calls []runtimeCall, locate func(profile.Addr) profile.Location, found map[uint64]moved) {
	if to.line == 0 || len(c.jumps) == 0 {
		return
	}
	stale := map[int]bool{}
	for i := range calls {
		if x := &calls[i]; beginsAt(x.name) == beginsAt(c.name) {
			stale[locate(profile.Addr(x.addr)).Line] = true
		}
	}
	for i, at := range c.jumps {
		if i < c.table || stale[locate(profile.Addr(at)).Line] {
			found[at] = to
		}
	}
}

// onlyConstruct is the only kind of construct that begins in a function, if there is
// but one, and the call where it does, if that is one: compilers turn loops round, and
// then an end of it comes first.
func onlyConstruct(calls []runtimeCall) (only construct, by *runtimeCall) {
	by, begins := &runtimeCall{}, 0
	for i := range calls {
		is := constructBegins[calls[i].name]
		if loopCall(calls[i].name, "_start") {
			is = ofLoop
		}
		if is == noConstruct {
			continue
		}
		if only != noConstruct && is != only {
			return noConstruct, &runtimeCall{}
		}
		if only, by = is, &calls[i]; begins > 0 {
			by = &runtimeCall{}
		}
		begins++
	}
	return only, by
}

// pragmaOf is the line of the pragma of a construct whose end the debug information
// puts on a line: at it or above, if nothing else is nearer; else below, where the line
// is one of what came before. It is in the same function. 0: there is none.
func pragmaOf(text []string, line int, of construct, begins bool, free func(line int) bool) int {
	if _, barrier, _ := saysAt(text, line); barrier {
		return 0 // it is there
	}
	for at := line; at > 0 && !(at < line && endsFunction(text[at-1])); at-- {
		c, barrier, region := saysAt(text, at)
		if (c == of || c == ofScope && of == ofLoop || begins && beginsHere(text, at, of)) && free(at) { // who asks for its number may be the user
			return at
		}
		if c != noConstruct && c != noWait || region || barrier {
			break
		}
	}
	for at := line + 1; at <= len(text) && !endsFunction(text[at-1]); at++ {
		switch c, _, region := saysAt(text, at); {
		case region:
			return 0
		case (c == of || begins && beginsHere(text, at, of)) && free(at):
			return at
		}
	}
	return 0
}

// functionEnd ends a function, or something else that no function goes beyond: a brace
// before which nothing stands, or Fortran's words.
var functionEnd = pattern.New(`(?i)^(?:\}|\s*end\s*(?:function|subroutine|program|module)\b|\s*end\s*(?:!|$))`)

func endsFunction(line string) bool { return functionEnd().MatchString(line) }

// source is the lines of a file that is no younger than the program; nil where there
// is none.
func source(file string, program string) []string {
	src, err := os.Stat(file)
	prog, err2 := os.Stat(program)
	if err != nil || err2 != nil || !src.Mode().IsRegular() || src.Size() > 64<<20 || src.ModTime().After(prog.ModTime()) {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\n")
}
