package goroutine

import "slices"

// Way is a stack as its return addresses say, from the inside outwards as far as Go's
// table knows the functions: the same one for all on which the same ones lie. Programs come
// to what is recorded by few, time and again.
type Way struct {
	Kept any // what is known of it to whoever asked for it; nil: nothing yet

	step
	ret    uint64 // the return address,
	called bool   // which is one behind a call,
	inner  *Way   // and up to it; nil: it is none itself
	latest *Way   // by which it went on last
	outer  map[uint64]*Way
}

// Way is that of a stack on which a function was called that returns to ret. What was kept
// of ways is forgotten where there are too many.
func (w *Walker) Way(s *Stack, ret uint64) *Way {
	if w.ways == nil || w.many >= manySteps {
		w.ways, w.many = &Way{}, 0
	}
	at, sp := w.ways, s.At
	for range deepest {
		next := at.latest
		if next == nil || next.ret != ret {
			next = w.goesOn(at, ret)
		}
		if at = next; at.last {
			break
		}
		var ok bool
		if ret, ok = s.Word(sp + at.size); !ok || ret == 0 {
			break
		}
		sp += at.size + 8
	}
	return at
}

// goesOn is a way one step further.
func (w *Walker) goesOn(at *Way, ret uint64) *Way {
	next := at.outer[ret]
	if next == nil {
		next = &Way{step: w.step(ret), ret: ret, called: !at.injected, inner: at}
		if at.outer == nil {
			at.outer = map[uint64]*Way{}
		}
		at.outer[ret] = next
		w.many++
	}
	at.latest = next
	return next
}

// Frames are those of a way, but for where their stack pointers are, as Walk would find them.
func (x *Way) Frames() (list []Frame) {
	for ; x.inner != nil; x = x.inner {
		list = append(list, Frame{PC: x.pc, Called: x.called})
	}
	slices.Reverse(list)
	return list
}
