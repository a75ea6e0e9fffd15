package unwind

import (
	"encoding/binary"
	"io"
	"slices"

	"github.com/go-delve/delve/pkg/dwarf/frame"
)

// Calls that were recorded while the program ran are unwound later, from what
// was copied of the registers and of the stack: a [Piece]. A program calls
// from few places, again and again. So what a walk depended on is kept with its
// result, and a piece that agrees in these few words needs no walk.

// Piece is a copy of the stack from the stack pointer on, and of registers
// that functions restore; the instruction pointer is a return address.
type Piece struct {
	Regs  Regs
	Words []byte
}

// Read implements Memory.
func (p *Piece) Read(b []byte, addr uint64) error {
	at := addr - p.Regs[regSP]
	if at >= uint64(len(p.Words)) || uint64(len(b)) > uint64(len(p.Words))-at {
		return io.ErrUnexpectedEOF
	}
	copy(b, p.Words[at:])
	return nil
}

// Chain is where calls return to.
type Chain struct {
	Returns []uint64 // innermost first, the piece's own first of all; translated by Original
	// Lost is the return address that lies in no known module, where the walk
	// ended because of it; else 0.
	Lost uint64
	// Kept is whatever the caller of Of keeps with the chain.
	Kept any

	words   int // bytes of the piece, where it ended because of them; −1: it did not
	depends []dependency
}

// dependency is a value that a walk depended on: of the word at an offset of
// the piece, or of register −1−at; relative ones less the stack pointer.
type dependency struct {
	at       int
	value    uint64
	relative bool
}

// Chains unwinds pieces, and keeps the results.
type Chains struct {
	u     *Unwinder
	known map[uint64][]*Chain // by the innermost return address, the last one found first
	last  *Chain              // the one asked for last
	at    uint64              // its innermost return address
}

// NewChains makes a cache of chains. It is to be forgotten when the unwinder's
// mappings are set anew.
func NewChains(u *Unwinder) *Chains { return &Chains{u: u, known: map[uint64][]*Chain{}} }

// Forget forgets what is known.
func (c *Chains) Forget() {
	clear(c.known)
	c.last = nil
}

const keptChains = 256 // of one return address

// Of returns where the calls that led to a piece return to.
func (c *Chains) Of(p *Piece) *Chain {
	ret := p.Regs[regPC]
	if c.last != nil && c.at == ret && c.last.holds(p) {
		return c.last
	}
	list := c.known[ret]
	for i, x := range list {
		if x.holds(p) {
			copy(list[1:], list[:i])
			list[0] = x
			c.last, c.at = x, ret
			return x
		}
	}
	x, again := c.u.chain(p)
	if again {
		c.known[ret] = slices.Insert(list[:min(len(list), keptChains-1)], 0, x)
		c.last, c.at = x, ret
	}
	return x
}

func (x *Chain) holds(p *Piece) bool {
	if x.words >= 0 && x.words != len(p.Words) {
		return false
	}
	for _, d := range x.depends {
		var v uint64
		if d.at < 0 {
			v = p.Regs[-1-d.at]
		} else if d.at+8 <= len(p.Words) {
			v = binary.LittleEndian.Uint64(p.Words[d.at:])
		} else {
			return false
		}
		if d.relative {
			v -= p.Regs[regSP]
		}
		if v != d.value {
			return false
		}
	}
	return true
}

// walk is a walk that notes what it depends on.
type walk struct {
	*Chain
	u     *Unwinder
	p     *Piece
	from  [17]int // where each register's value was found: as in dependency
	again bool    // all that it depends on is known
}

const elsewhere = -100 // a register's value was computed

// chain walks a piece. again: the result holds wherever what it depends on does.
func (u *Unwinder) chain(p *Piece) (x *Chain, again bool) {
	v := *u
	v.mem = p
	w := &walk{Chain: &Chain{words: -1}, u: &v, p: p, again: true}
	defer func() {
		if recover() != nil { // a table that lies
			w.again = false
		}
		x, again = w.Chain, w.again
	}()
	for i := range w.from {
		w.from[i] = -1 - i
	}
	r := p.Regs
	if u.Original != nil {
		r[regPC] = u.Original(r[regPC], false)
	}
	for n := 0; n < maxFrames; n++ {
		w.Returns = append(w.Returns, r[regPC])
		next, ok := w.step(r)
		if !ok {
			break
		}
		r = next
	}
	return
}

// step goes to the caller of the function that a call returns to.
func (w *walk) step(r Regs) (next Regs, ok bool) {
	pc := r[regPC] - 1
	l := w.u.at(pc)
	if l == nil {
		w.Lost = r[regPC]
		return next, false
	}
	fde, err := l.m.fdes.FDEForPC(pc - l.bias)
	if err != nil {
		return next, false
	}
	c, err := fde.EstablishFrame(pc - l.bias)
	if err != nil {
		return next, false
	}
	w.dependsOn(r, c)
	next, last, ok := w.u.apply(r, c)
	if !ok {
		w.words = len(w.p.Words) // more of them, and it would go on
		return next, false
	}
	if last || next[regPC] == 0 {
		return next, false
	}
	for reg, rule := range c.Regs {
		switch {
		case reg > regPC:
		case rule.Rule == frame.RuleOffset:
			w.from[reg] = int(next[regSP] + uint64(rule.Offset) - w.p.Regs[regSP])
		case rule.Rule != frame.RuleUndefined && rule.Rule != frame.RuleSameVal:
			w.from[reg] = elsewhere
		}
	}
	w.note(regPC, next[regPC], false)
	if w.u.Original != nil {
		next[regPC] = w.u.Original(next[regPC], false)
	}
	return next, true
}

// dependsOn notes what the place of a frame is computed from, but for the stack
// pointer.
func (w *walk) dependsOn(r Regs, c *frame.FrameContext) {
	switch {
	case c.CFA.Rule != frame.RuleCFA:
		w.again = false
	case c.CFA.Reg != regSP && c.CFA.Reg < regPC:
		w.note(int(c.CFA.Reg), r[c.CFA.Reg]-w.p.Regs[regSP], true)
	}
}

func (w *walk) note(reg int, value uint64, relative bool) {
	if w.from[reg] == elsewhere {
		w.again = false
		return
	}
	w.depends = append(w.depends, dependency{w.from[reg], value, relative})
}
