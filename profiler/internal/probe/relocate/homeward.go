package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Return addresses in the copies of Go's functions. Its runtime walks up stacks whenever
// it likes, but by few functions, which are led elsewhere before they go to the next
// frame (package goroutine): a return address in the copy becomes the original one then,
// on the stack too, where a springboard leads back. So the program's functions call each
// other from the copy, which is two jumps less for each call. The runtime, and what is
// written in assembly, is called by the original instruction: some of its functions look
// at their own return addresses.
//
// What the original one is says a no-op behind each of these calls.

// choose decides about a call in Go: how it is made, and whether its original
// instruction is made use of.
func (pl *planner) choose(b *cfg.Block, call int) (how callMode, inPlace bool) {
	c := &b.Calls[call]
	if c.NoReturn || pl.heldAround(b, call) || tooClose(pl.draft.g, b, call) {
		return 0, true
	}
	switch {
	case c.Callee != nil && c.Callee.Skip == "":
		return fromCopy, false
	case !c.Known() && !c.Insn.HasMem:
		return wherever, true
	}
	return 0, true
}

// heldAround reports whether code stays in place behind a block's call, or between the
// arrival before it and the call.
func (pl *planner) heldAround(b *cfg.Block, call int) bool {
	before := b.Start
	if call > 0 {
		before = b.Calls[call-1].Insn.End()
	}
	return pl.held(before) || pl.held(b.Calls[call].Insn.End())
}

// tooClose: there is no room for a jump between a call and the next one, so that what
// comes back there would go on into that.
func tooClose(g *cfg.Graph, b *cfg.Block, call int) bool {
	end, next := b.Calls[call].Insn.End(), b.Calls[call+1:]
	if len(next) == 0 {
		if b = g.BlockAt(end); b == nil || len(b.Calls) == 0 {
			return false
		}
		next = b.Calls
	}
	return next[0].Insn.Addr <= end+1
}

// home emits what stands behind a call from the copy.
func (m *emitter) home(in *x86.Insn) {
	if m.ofGo() {
		m.Home(in.End())
	}
}

const none asm.Label = -1

// callWherever emits a call through a register: from here to a copy where the target is
// one of the site's two, else by the original instruction.
func (m *emitter) callWherever(c *cfg.Call) {
	in := c.Insn
	other := m.outOfLine(func() { m.callInPlace(in) })
	if m.callSite[c.Index] < 0 {
		m.Jmp(other)
		return
	}
	m.countTarget(in, m.callSite[c.Index], false, other)
	m.copyInsn(in)
	m.home(in)
}

// callInPlace jumps to the original call.
func (m *emitter) callInPlace(in *x86.Insn) {
	at := m.Len()
	m.JmpTo(in.Addr)
	m.note(in, at)
}
