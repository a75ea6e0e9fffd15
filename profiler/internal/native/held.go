package native

import (
	"github.com/skewlens/skewlens/profiler/internal/goroutine"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/unwind"
)

// Where threads are kept together in virtual time one may be held when the program ends:
// in code of ours, which a copy has called and which has put registers on the stack. Go's
// table knows none of that. So the call is looked for on the stack: a return address
// behind a call in a copy by which a thread looks; and what the copy itself has put there,
// by trying how much it has to be for the walk to come to the goroutine's first function.

// mostPushed is how many words code of ours has on the stack, at most.
const mostPushed = 64

// held is where a goroutine stands whose thread is in code of ours, with what it has on
// its stack from sp up to hi.
func (k *stacks) held(pc, sp, hi uint64) (l relocate.Lookout, m *module, frames []goroutine.Frame) {
	stack, ok := k.stackFrom(sp, hi)
	if !ok {
		return l, nil, nil
	}
	l, m = k.in.lookout(pc)
	for at := sp; m == nil && at < min(hi, stack.At+8*mostPushed); at += 8 {
		ret, _ := stack.Word(at)
		l, m = k.in.lookout(ret - 1)
		sp = at + 8
	}
	if m == nil {
		return l, nil, nil
	}
	w := &k.in.golang.walker
	for from := sp; from < min(hi, sp+8*mostPushed); from += 8 {
		if frames = w.Walk(&stack, l.Addr+m.bias, from, false); w.Whole {
			return l, m, frames
		}
	}
	return l, nil, nil
}

// ofCalled are the counters of the frames of a goroutine whose thread is in code of ours
// that a copy calls, or a detour in a function of the runtime's (package goroutine). It
// has put something on the stack, which may be any number, one of nanoseconds say: so a
// return address is believed from which the walk comes to the goroutine's first function.
func (k *stacks) ofCalled(sp, hi uint64) []record.Delta {
	stack, ok := k.stackFrom(sp, hi)
	if !ok {
		return nil
	}
	w := &k.in.golang.walker
	entry := func(at uint64) []goroutine.Frame { // of a function whose return address lies there
		ret, _ := stack.Word(at)
		return w.Walk(&stack, ret, at+8, true)
	}
	for at := sp; at < min(hi, sp+8*mostPushed); at += 8 {
		ret, _ := stack.Word(at)
		if k.in.golang.code.Returns[ret] {
			if frames := entry(at + 8); w.Whole {
				return k.ofFrames(nil, frames, relocate.Before, nil)
			}
		}
		m := k.in.cacheOf(ret)
		if m == nil {
			continue
		}
		x := m.stand(ret - 1 - m.cache)
		frames := entry(at + 8)
		if x.How != relocate.Nowhere {
			frames = w.Walk(&stack, x.Addr+m.bias, at+8, false)
		}
		if w.Whole {
			return k.ofFrames(nil, frames, x.How, nil)
		}
	}
	if frames := entry(sp); w.Whole { // what is called has returned, or is not yet
		return k.ofFrames(nil, frames, relocate.Before, nil)
	}
	return nil
}

// lookout is the code by which a thread looks at a run-time address, if it is that.
func (in *injection) lookout(pc uint64) (relocate.Lookout, *module) {
	m := in.cacheOf(pc)
	if m == nil {
		return relocate.Lookout{}, nil
	}
	at := int(pc - m.cache)
	i := m.code.Function(uint64(at))
	if i < 0 || at >= len(m.code.Bytes) {
		return relocate.Lookout{}, nil
	}
	for _, l := range m.spec.Lookouts(m.code, i) {
		if at >= l.From && at < l.End {
			return l, m
		}
	}
	return relocate.Lookout{}, nil
}

// ours reports whether a run-time address lies in code that copies call.
func (in *injection) ours(pc uint64) bool {
	m := in.cacheOf(pc)
	return m != nil && m.code.Function(pc-m.cache) < 0
}

// ofHeld are the counters of the frames of a goroutine whose thread is in code of ours.
func (k *stacks) ofHeld(regs *[17]uint64, hi uint64) []record.Delta {
	l, m, frames := k.held(regs[unwind.PC], regs[unwind.SP], hi)
	if m == nil {
		return k.ofCalled(regs[unwind.SP], hi)
	}
	how := relocate.Before
	if l.Arrives {
		how = relocate.Arrives
	}
	return k.ofFrames(nil, frames, how, nil)
}
