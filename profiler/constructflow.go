package profiler

import (
	"sort"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Which call began the construct that another one ends is told by how control comes
// there, and not by which stands before it: compilers make copies for where there is
// nothing to do, and put them in between.
//
//	omp_get_thread_num ─┬─▶ GOMP_barrier ─▶ GOMP_single_start ─▶ … nothing to do
//	                    └─▶ loop ─▶ GOMP_barrier     of the loop, behind the other's single

// runtimeCall is a call of one of the functions that constructs begin and end by, and
// the jumps behind it, up to the next call, that decide by what it returns.
type runtimeCall struct {
	addr  uint64
	name  string
	jumps []uint64
	table int // so many of these choose by a table, which of a construct, whatever line they have
	last  int // the call before it: see before
}

const mostJumps = 16

// beginsAt is the construct that begins by a call, or has begun.
func beginsAt(name string) construct {
	if _, ends := constructEnds[name]; ends {
		return noConstruct
	}
	if is, begins := constructBegins[name]; begins {
		return is
	}
	return ofLoop
}

// runtimeCalls are a function's calls of those that constructs begin and end by.
func runtimeCalls(im *image.Image, f *image.Func, names map[uint64]string) (calls []runtimeCall) {
	var turns []turn
	decides := false
	eachInsn(im, f, func(in *x86.Insn) {
		n, call := len(calls), noCall
		switch name := calledBy(im, in, names); {
		case name != "":
			calls, call, decides = append(calls, runtimeCall{addr: in.Addr, name: name}), n, true
		case in.Kind.IsCall():
			decides = false
		case decides && (in.Kind == x86.Jcc || in.Kind == x86.JmpInd && in.RIPOff == 0) && len(calls[n-1].jumps) < mostJumps:
			c := &calls[n-1]
			c.jumps = append(c.jumps, in.Addr)
			if in.Kind == x86.JmpInd && len(c.jumps) <= 2 && beginsAt(c.name) == ofSections { // maybe behind one that looks whether it is in the table
				c.table = len(c.jumps)
			}
		}
		if s, is := turnAt(in, call); is {
			turns = append(turns, s)
		}
	})
	for i, last := range before(turns, calls) {
		calls[i].last = last
	}
	return calls
}

// calledBy is which of these functions an instruction calls, or jumps to; "": none.
func calledBy(im *image.Image, in *x86.Insn, names map[uint64]string) string {
	var name string
	switch in.Kind {
	case x86.Call, x86.Jmp:
		name = names[in.Target]
	case x86.CallInd, x86.JmpInd:
		name = im.GOT[in.RIPTarget]
	}
	_, begins := constructBegins[name]
	_, ends := constructEnds[name]
	if begins || ends || loopCall(name, "_start") || loopCall(name, "_next") {
		return name
	}
	return ""
}

// turn is an instruction behind which control may go elsewhere, or the runtime was called.
type turn struct {
	addr, target uint64
	goes, on     bool // to the target, and to what stands behind it
	call         int  // of the function's calls of the runtime; noCall: none
}

// Which call came before, where it is none of them.
const (
	noCall  = -1 // none did,
	ended   = -2 // or what began then has ended: of loops the number of a thread may be known from before
	unknown = -3 // control was not seen to come there,
	several = -4 // or by different ones
)

func turnAt(in *x86.Insn, call int) (s turn, is bool) {
	s = turn{addr: in.Addr, target: in.Target, call: call, on: true}
	switch {
	case call != noCall && in.Kind.IsCall():
	case in.Kind == x86.Jcc:
		s.goes = true
	case in.Kind == x86.Jmp && call == noCall:
		s.goes, s.on = true, false
	case in.Kind == x86.Jmp, in.Kind == x86.JmpInd, in.Kind == x86.Ret:
		s.on = false
	default:
		return s, false
	}
	return s, true
}

// before is the call that came last before each of a function's calls, on every way
// from where the function begins.
func before(turns []turn, calls []runtimeCall) []int {
	came := make([]int, len(turns))
	for i := range came {
		came[i] = unknown
	}
	var todo []int
	come := func(i, by int) {
		if i >= len(turns) {
			return
		}
		if by = meet(came[i], by, calls); by != came[i] {
			came[i], todo = by, append(todo, i)
		}
	}
	for come(0, noCall); len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		s, by := &turns[i], came[i]
		if s.call != noCall {
			by = s.call
			if beginsAt(calls[by].name) == noConstruct {
				by = ended
			}
		}
		if s.on {
			come(i+1, by)
		}
		if s.goes && s.target >= turns[0].addr {
			come(sort.Search(len(turns), func(k int) bool { return turns[k].addr >= s.target }), by)
		}
	}
	last := make([]int, len(calls))
	for i := range turns {
		if c := turns[i].call; c != noCall {
			last[c] = came[i]
		}
	}
	return last
}

// meet is what came before where two ways lead to. Who knows a thread's number has it
// in the next round of a loop, too.
func meet(a, b int, calls []runtimeCall) int {
	switch {
	case a == b || b == unknown:
		return a
	case a == unknown:
		return b
	case a == several || b == several:
		return several
	case max(a, b) < 0:
		return ended
	case min(a, b) < 0 && strings.HasPrefix(calls[max(a, b)].name, "omp_get_"):
		return max(a, b)
	}
	return several
}
