package native

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/goroutine"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
	"github.com/skewlens/skewlens/profiler/internal/unwind"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// A function's counters tell where control went as long as it leaves each function
// that it enters. Panics leave them behind, and so do runtime.Goexit, the end of the
// program and a fault in a loop: what is left is looked up on the goroutine's stack.

// goStack walks over the stack of the runtime.g at an address, from where it stands
// while it does not run or, with regs, from there, up to the frame with a stack
// pointer, 0 for all.
func (k *stacks) goStack(g, upTo uint64, regs *[17]uint64) (frames []goroutine.Frame) {
	l := k.in.golang.layout
	word := func(at int64) uint64 {
		v, err := k.p.Word(g + uint64(at))
		if err != nil {
			return 0
		}
		return v
	}
	lo, hi := word(l.StackLow), word(l.StackHigh)
	pc, sp, called := word(l.PC), word(l.SP), true
	if regs != nil && regs[unwind.SP] > lo && regs[unwind.SP] < hi {
		pc, sp, called = regs[unwind.PC], regs[unwind.SP], false
	}
	if sp <= lo || sp >= hi {
		return nil
	}
	if upTo > sp && upTo < hi {
		hi = upTo + 8 // nobody asks for what is above
	}
	stack, ok := k.stackFrom(sp, hi)
	if !ok {
		return nil
	}
	frames = k.in.golang.walker.Walk(&stack, pc, sp, called)
	if upTo > 0 {
		if i := slices.IndexFunc(frames, func(f goroutine.Frame) bool { return f.SP > upTo }); i >= 0 {
			frames = frames[:i]
		}
	}
	return frames
}

// injected: a function comes in between two instructions of the one below it on the
// stack, which has not called it.
func (m *module) injected(link uint64) bool {
	f := m.im.FuncAt(link)
	return f != nil && (strings.HasPrefix(f.Name, goPreempts) || strings.HasPrefix(f.Name, "runtime.sigpanic"))
}

// stackFrom reads a goroutine's stack from sp up to hi.
func (k *stacks) stackFrom(sp, hi uint64) (s goroutine.Stack, ok bool) {
	s = goroutine.Stack{At: sp, Words: make([]byte, hi-sp)}
	return s, k.p.Read(s.Words, sp) == nil
}

// ofGoroutine are the counters of the frames of a goroutine that are left for good.
func (k *stacks) ofGoroutine(g, upTo uint64, regs *[17]uint64) (left []record.Delta) {
	if regs == nil {
		return k.ofFrames(nil, k.goStack(g, upTo, nil), relocate.Before, nil)
	}
	l, pc, sp := &k.in.golang.layout, regs[unwind.PC], regs[unwind.SP]
	lo, _ := k.p.Word(g + uint64(l.StackLow))
	hi, err := k.p.Word(g + uint64(l.StackHigh))
	c := k.in.golang.code
	switch {
	case err != nil:
		return nil
	case sp <= lo || sp >= hi:
		return k.elsewhere(g, upTo, regs, lo, hi)
	case k.in.ours(pc):
		return k.ofHeld(regs, hi)
	case pc-c.Base < uint64(len(c.Bytes)):
		return k.ofCalled(sp, hi)
	}
	how := relocate.Before
	if m := k.in.cacheOf(pc); m != nil {
		if _, looks := k.in.lookout(pc); looks != nil {
			return k.ofHeld(regs, hi)
		}
		x := m.stand(pc - m.cache)
		if x.How == relocate.Nowhere { // before its first block
			return k.ofCalled(sp, hi)
		}
		regs[unwind.PC], how = x.Addr+m.bias, x.How
	}
	if a, ok := k.in.addr(regs[unwind.PC]); ok {
		left = append(left, k.loops(a, how, regs)...)
	}
	return k.ofFrames(left, k.goStack(g, upTo, regs), how, regs)
}

// elsewhere is ofGoroutine of one whose thread is on another stack, as its own is from lo to
// hi: in the handler of a signal that came to it, as of one that ends the program; or it
// stands where it was left.
func (k *stacks) elsewhere(g, upTo uint64, regs *[17]uint64, lo, hi uint64) []record.Delta {
	at := unwind.Regs(*regs)
	for {
		under, apart, ok := k.unwinder.Signalled(at)
		if sp := under[unwind.SP]; ok && apart && sp > lo && sp < hi {
			return k.ofGoroutine(g, upTo, (*[17]uint64)(&under))
		} else if !ok || !apart || sp <= at[unwind.SP] { // else a signal came to a handler
			return k.ofGoroutine(g, upTo, nil)
		}
		at = under
	}
}

// ofFrames adds those of frames; how the first one stands is given, if it has called none, and
// its registers, if they are known.
func (k *stacks) ofFrames(left []record.Delta, frames []goroutine.Frame, how relocate.How, regs *[17]uint64) []record.Delta {
	for i, f := range frames {
		pc, at := f.PC, how
		if how = relocate.Before; f.Called {
			pc, at = pc-1, relocate.After
		}
		a, ok := k.in.addr(pc)
		if !ok {
			continue
		}
		if d, ok := k.openAt(a, at); ok {
			left = append(left, d)
		}
		if i > 0 && !f.Called {
			left = append(left, k.interrupted(frames[i-1].PC, f.SP, a, regs)...)
		}
		if i > 0 {
			regs = nil // those of who has called have changed since
		}
	}
	return left
}

// interrupted is what is missing in the loops of a function that goes on at an address of
// the profile with a stack pointer, into which one came in between that stands at by:
// where that is not a fault, which told it as it came, the registers are on the stack, or
// still in place, if those are known.
func (k *stacks) interrupted(by, sp, at uint64, regs *[17]uint64) []record.Delta {
	m, saved := k.in.modules[0], &k.in.golang.saved
	if f := m.im.FuncAt(by - m.bias); f == nil || !strings.HasPrefix(f.Name, goPreempts) {
		return nil
	}
	early := by < saved.From
	if early && regs != nil {
		return k.loops(at, relocate.Before, regs)
	}
	d := k.solver.ActiveLoops(at, relocate.Before, func(x x86.Reg) uint64 {
		w, _ := k.p.Word(sp + uint64(saved.At[x]))
		return w
	})
	if len(d) > 0 && early {
		k.solver.Forget(at)
	}
	return d
}

// openAt are the counters of a frame that is not left, or not yet. To find out takes
// a function's graph, and panics come from the same few places.
func (k *stacks) openAt(addr uint64, how relocate.How) (record.Delta, bool) {
	at := standing{addr, how}
	x, known := k.open[at]
	if !known {
		x.delta, _, x.ok = k.solver.ActiveFrame(addr, how)
		k.open[at] = x
	}
	return x.delta, x.ok
}

// recovered: a panic of the runtime.g at an address was recovered: it goes on in the
// function whose deferred one did that, and those that it called are left.
func (s *session) recovered(g uint64) {
	gs, l := s.threads.goroutines, s.in.golang.layout
	t := gs.at(g)
	if t == nil {
		return
	}
	word := func(at uint64) uint64 {
		v, err := s.p.Word(at)
		if err != nil {
			return 0
		}
		return v
	}
	s.threads.drain(t) // what it has told was before
	p := word(g + uint64(l.Panic))
	sp := word(p + uint64(l.PanicSP))
	for x := p; x != 0 && word(x+uint64(l.PanicStart)) < sp; x = word(x + uint64(l.PanicLink)) {
		if byte(word(x+uint64(l.PanicGoexit))) != 0 {
			sp = word(x + uint64(l.PanicStart))
			break
		}
	}
	t.leave(s.stacks.ofGoroutine(g, sp, nil))
}

// at is the goroutine that the runtime has at an address.
func (gs *goroutines) at(g uint64) *thread {
	for _, t := range gs.byBase {
		if t.goroutine.Runtime == g && t.area.State() == threadarea.Runs { // the runtime uses the memory of dead ones again
			return t
		}
	}
	return nil
}

// leave notes what a goroutine left without that its counters saw it.
func (t *thread) leave(d []record.Delta) {
	t.left = record.Merge(append(t.left, d...))
	t.untold = record.Merge(append(t.untold, d...))
}

// goExiting: a thread is about to end, mostly with all others.
func (s *session) goExiting(e tracee.Event) error {
	gs := s.threads.goroutines
	if gs == nil {
		return s.p.Resume(e)
	}
	delete(s.stops, e.Tid)
	if gs.strange.ends(s.p, e.Tid); !s.p.Ending(e.Tid) {
		return s.p.Resume(e)
	}
	gs.births(s.threads)
	s.stopped(e.Tid)
	s.ended(e.Tid)
	if !s.ending {
		s.threads.drainAll()
		for _, t := range gs.byBase { // what has run of others is known
			s.solver.Know(t.area.All())
		}
		s.bind()
		for _, t := range gs.byBase {
			if t.dead || t.goroutine.Runtime == 0 || t.area.State() != threadarea.Runs {
				continue
			}
			if _, since := t.area.Stints(); since == 0 {
				t.active = s.stacks.ofGoroutine(t.goroutine.Runtime, 0, nil)
			}
		}
	}
	return s.p.Resume(e)
}

// lastStop is where a thread stood when it stopped last.
type lastStop struct {
	base uint64
	regs [17]uint64
}

// stopped notes where a thread stands. One that is killed just as it is let go on may pass
// the stop at its end untold (package tracee): it has not gone on since then.
func (s *session) stopped(tid int) {
	if s.threads.goroutines == nil {
		return
	}
	if regs, base, err := s.p.DwarfRegsGS(tid); err == nil {
		s.stops[tid] = lastStop{base, regs}
	}
}

// ended looks at the stack of the goroutine that a thread ran which has come to its end.
func (s *session) ended(tid int) {
	at, known := s.stops[tid]
	delete(s.stops, tid)
	if !known {
		return
	}
	if t := s.threads.goroutines.byBase[at.base]; t != nil && !t.dead {
		t.active = s.stacks.ofGoroutine(t.goroutine.Runtime, 0, &at.regs)
	}
}

// goFault: the thread's own instruction raised a signal, in moved code. Its goroutine
// panics, and never comes back to the loop that it is in.
func (s *signals) goFault(e tracee.Event, m *module, pc uint64) {
	base, err := s.p.GS(e.Tid)
	if err != nil || s.goroutines == nil {
		return
	}
	t := s.goroutines.byBase[base]
	regs, err := s.p.DwarfRegs(e.Tid)
	if t == nil || err != nil {
		return
	}
	if x := m.stand(pc - m.cache); x.How != relocate.Nowhere {
		t.leave(s.stacks.loops(x.Addr+m.base, x.How, &regs))
	}
}

// caught adds to what a goroutine counted until a record the frames that it was
// caught in then, less those that it was in at the record before: mostly it has left few
// of them.
func (t *thread) caught(d, open []record.Delta) []record.Delta {
	was := t.open
	for t.open = open; len(was) > 0 || len(open) > 0; {
		switch {
		case len(open) == 0 || len(was) > 0 && was[0].Counter < open[0].Counter:
			d = append(d, record.Delta{Counter: was[0].Counter, N: -was[0].N})
			was = was[1:]
		case len(was) == 0 || open[0].Counter < was[0].Counter:
			d, open = append(d, open[0]), open[1:]
		default:
			if n := open[0].N - was[0].N; n != 0 {
				d = append(d, record.Delta{Counter: open[0].Counter, N: n})
			}
			was, open = was[1:], open[1:]
		}
	}
	return d
}

// goWay is what is known of a way by which records were come to.
type goWay struct {
	calls  []uint64       // the program's, from the inside outwards: for the same ones always the same list
	open   []record.Delta // the counters of these functions, but for those with edges for not being left,
	opened bool           // once that was asked for
}

// way is that by which a call was come to that returns to ret.
func (cs *calls) way(ret uint64, s *record.Stack) *goWay {
	way := cs.in.golang.walker.Way(&goroutine.Stack{At: s.SP, Words: s.Words}, ret)
	known, ok := way.Kept.(*goWay)
	if !ok {
		known = &goWay{calls: cs.along(way)}
		way.Kept = known
	}
	return known
}

// along are the program's calls of a way.
func (cs *calls) along(way *goroutine.Way) (calls []uint64) {
	var key []byte
	for _, f := range way.Frames() {
		pc := f.PC
		if !f.Called {
			pc++
		}
		if x := cs.at(pc); x.addr != 0 {
			calls = append(calls, uint64(x.addr))
			key = binary.LittleEndian.AppendUint64(key, uint64(x.addr))
		}
	}
	if known, ok := cs.ways[string(key)]; ok {
		return known
	}
	cs.ways[string(key)] = calls
	return calls
}

// open are the counters of the functions of a program in Go that were not left when
// a record was made, but for those with edges for that.
func (cs *calls) open(rec *record.Record) []record.Delta {
	way := cs.way(rec.Site, rec.Stack)
	if !way.opened {
		for _, a := range way.calls {
			if x, ok := cs.stacks.openAt(a, relocate.After); ok {
				way.open = append(way.open, x)
			}
		}
		way.open, way.opened = record.Merge(way.open), true
	}
	return way.open
}
