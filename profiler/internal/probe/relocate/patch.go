package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// patcher writes what leads from the original code to the copy.
type patcher struct {
	m       *emitter
	c       *Code
	written []uint64 // bits: the bytes of the text, from the lowest on, that are patched
	direct  []directCall
}

// directCall is a call in place whose target becomes the copy: the address
// behind it, where its displacement ends.
type directCall struct {
	end uint64
	to  *Plan
	at  uint64 // or the hook of a function that stays where it is
}

func newPatcher(m *emitter, c *Code) *patcher {
	im := m.s.Program.Image
	return &patcher{m: m, c: c, written: make([]uint64, (im.Highest-im.Lowest)/64+1)}
}

// springboards writes the jumps from a function's original code into the copy
// that was just emitted.
func (w *patcher) springboards(q *Plan) {
	for _, list := range [][]arrival{q.springboards, q.islands} {
		for _, a := range list {
			w.jump(a.at, w.m.Addr(w.m.label(a.to)))
		}
	}
	for _, h := range q.hops {
		b := asm.ShortJump(h.at, h.to)
		w.c.jumps = append(w.c.jumps, h.at)
		w.write(h.at, b[:])
	}
}

func (w *patcher) jump(at, to uint64) {
	w.c.jumps = append(w.c.jumps, at)
	b := asm.Jump(at, to)
	w.write(at, b[:])
}

// stubs lets the stubs of the procedure linkage table jump to their hooks.
func (w *patcher) stubs() {
	for _, s := range w.m.plt {
		b := asm.Jump(s.addr, s.hook)
		w.write(s.addr, b[:])
	}
}

// noteCalls remembers the direct calls of the function that was just emitted
// which run at their original place.
func (w *patcher) noteCalls() {
	for _, b := range w.m.g.Blocks {
		for i := range b.Calls {
			c := &b.Calls[i]
			if w.m.q.is(c, fromCopy) || c.Insn.Kind != x86.Call {
				continue
			}
			if at := w.m.hookOf(c.Insn.Target); at != c.Insn.Target {
				w.direct = append(w.direct, directCall{end: c.Insn.End(), at: at})
			} else if to := w.m.s.byFunc[c.Callee]; to != nil {
				w.direct = append(w.direct, directCall{end: c.Insn.End(), to: to})
			}
		}
	}
}

// calls lets these calls go to the copy of their callee without a detour over
// its springboard.
func (w *patcher) calls() {
	for _, x := range w.direct {
		if x.to != nil {
			x.at = w.m.Addr(w.m.entrance(x.to))
		}
		d := asm.Relative(x.end, x.at)
		w.write(x.end-uint64(len(d)), d[:])
	}
}

// write replaces bytes of the program's text, each at most once.
func (w *patcher) write(at uint64, b []byte) {
	for i := range w.c.Texts {
		t := &w.c.Texts[i]
		o := at - t.Addr
		if o >= uint64(len(t.New)) || o+uint64(len(b)) > uint64(len(t.New)) {
			continue
		}
		copy(t.New[o:], b)
		first := at - w.m.s.Program.Image.Lowest
		for k := first; k < first+uint64(len(b)); k++ {
			if w.written[k/64]&(1<<(k%64)) != 0 {
				w.m.Fail("patches overlap at %#x", at)
			}
			w.written[k/64] |= 1 << (k % 64)
		}
		return
	}
	w.m.Fail("no code at %#x", at)
}
