// Package unwind walks the stack of a stopped thread by its call frame
// information: where in each function of the program the thread is.
//
//	registers ─▶ module of the PC ─▶ .eh_frame, .debug_frame ─▶ rules ─▶ caller's registers ─▶ …
//
// It is needed where a thread ends with frames on its stack: by exit() deep
// down, by a signal, because another thread ended the program. These frames
// entered their functions and never left them, which flow conservation has to
// be told. Delve's frame package reads the tables; the modules are the files
// that the process has mapped.
package unwind

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"sort"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/frame"
	"github.com/go-delve/delve/pkg/dwarf/op"
)

// Memory reads the thread's memory.
type Memory interface {
	Read(b []byte, addr uint64) error
}

// Mapping is a mapped file with executable pages.
type Mapping struct {
	Lo, Hi, Offset uint64
	Path           string
}

// Regs are registers by their DWARF number, 16 being the return address: the
// instruction pointer.
type Regs [17]uint64

const (
	regBP = 6
	regSP = 7
	regPC = 16

	// PC is the index of the instruction pointer in Regs.
	PC = regPC
	// SP is that of the stack pointer.
	SP = regSP
)

// Unwinder walks stacks of one process.
type Unwinder struct {
	mem Memory
	// Original translates a return address in moved code into the one it was
	// copied from, and leaves others alone; interrupted: a signal's handler
	// returns to it. May be nil.
	Original func(pc uint64, interrupted bool) uint64
	// Bridge tells of a return address in code that no table tells of, how many bytes
	// above the stack pointer, or else rbp, the next one is kept. May be nil.
	Bridge  func(pc uint64) (byRBP bool, above int64, ok bool)
	files   map[string]*module
	modules []loaded
}

// loaded is a module at its place.
type loaded struct {
	lo, hi uint64
	bias   uint64
	m      *module
}

type module struct {
	path string
	elf  []elf.ProgHeader
	fdes frame.FrameDescriptionEntries // once an address of it was met: in most libraries none is
	met  bool
	err  error
	// Of the addresses that were met: programs wait at the same few places.
	contexts map[uint64]*frame.FrameContext
}

// New makes an unwinder.
func New(mem Memory) *Unwinder { return &Unwinder{mem: mem, files: map[string]*module{}} }

// SetMappings says what is mapped now; tables that were read before are kept.
func (u *Unwinder) SetMappings(ms []Mapping) {
	u.modules = u.modules[:0]
	for _, x := range ms {
		m := u.files[x.Path]
		if m == nil {
			m = open(x.Path)
			u.files[x.Path] = m
		}
		if m.err != nil {
			continue
		}
		for _, h := range m.elf {
			if h.Type == elf.PT_LOAD && h.Flags&elf.PF_X != 0 && h.Off&^0xfff == x.Offset&^0xfff {
				u.modules = append(u.modules, loaded{x.Lo, x.Hi, x.Lo - h.Vaddr&^0xfff, m})
			}
		}
	}
	sort.Slice(u.modules, func(i, j int) bool { return u.modules[i].lo < u.modules[j].lo })
}

func open(path string) *module {
	m := &module{path: path}
	f, err := elf.Open(path)
	if err != nil {
		return &module{err: err}
	}
	defer f.Close()
	for _, p := range f.Progs {
		m.elf = append(m.elf, p.ProgHeader)
	}
	if !has(f, ehFrame) && !has(f, debugFrame) {
		return &module{err: fmt.Errorf("%s has neither %s nor %s", path, ehFrame, debugFrame)}
	}
	return m
}

const maxFrames = 100000

// Frame is where a thread is in a function.
type Frame struct {
	PC uint64
	// Called: PC is a return address, behind the call that was made; else it is
	// the next instruction: in the innermost frame, and where a signal came.
	Called bool
	// Regs are all that it goes on with where a signal came; else nil.
	Regs *Regs
}

// Stack returns a thread's frames, innermost first. complete is false where
// the walk ended before the thread's first one.
func (u *Unwinder) Stack(r Regs) (frames []Frame, complete bool) {
	defer func() {
		if recover() != nil { // a table that lies
			complete = false
		}
	}()
	frames = append(frames, Frame{PC: r[regPC]})
	for n := 0; n < maxFrames; n++ {
		pc := r[regPC]
		if frames[n].Called {
			pc-- // a return address may be the first byte of the next function
		}
		l := u.at(pc)
		if l == nil {
			over, ok := u.cross(r)
			if !ok {
				return frames, false
			}
			r = over
			frames = append(frames, Frame{PC: r[regPC], Called: true})
			continue
		}
		fde, err := l.m.fdes.FDEForPC(pc - l.bias)
		if err != nil {
			return frames, false
		}
		next, last, ok := u.step(r, l.m, fde, pc-l.bias)
		if !ok {
			return frames, false
		}
		if last || next[regPC] == 0 {
			return frames, true
		}
		r = next
		interrupted := strings.Contains(fde.CIE.Augmentation, "S") // the frame that the kernel makes for a handler
		if u.Original != nil {
			r[regPC] = u.Original(r[regPC], interrupted)
		}
		f := Frame{PC: r[regPC], Called: !interrupted}
		if interrupted {
			regs := r
			f.Regs = &regs
		}
		frames = append(frames, f)
	}
	return frames, false
}

// cross goes over a frame of ours.
func (u *Unwinder) cross(r Regs) (next Regs, ok bool) {
	if u.Bridge == nil {
		return next, false
	}
	byRBP, above, ok := u.Bridge(r[regPC])
	if !ok {
		return next, false
	}
	next = r
	at := r[regSP]
	if byRBP {
		at = r[regBP]
		if next[regBP], ok = u.word(at); !ok {
			return next, false
		}
	}
	at += uint64(above)
	if next[regPC], ok = u.word(at); !ok {
		return next, false
	}
	next[regSP] = at + 8
	if u.Original != nil {
		next[regPC] = u.Original(next[regPC], false)
	}
	return next, true
}

// StackIn is Stack of a thread of which only some memory was kept.
func (u *Unwinder) StackIn(mem Memory, r Regs) (frames []Frame, complete bool) {
	defer func(was Memory) { u.mem = was }(u.mem)
	u.mem = mem
	return u.Stack(r)
}

func (u *Unwinder) at(pc uint64) *loaded {
	i := sort.Search(len(u.modules), func(i int) bool { return u.modules[i].hi > pc })
	if i == len(u.modules) || pc < u.modules[i].lo {
		return nil
	}
	l := &u.modules[i]
	if !l.m.met {
		l.m.meet()
	}
	if l.m.err != nil {
		return nil
	}
	return l
}

// step computes the caller's registers. last: the frame is marked as the
// outermost (its return address is undefined).
func (u *Unwinder) step(r Regs, m *module, fde *frame.FrameDescriptionEntry, pc uint64) (next Regs, last, ok bool) {
	c, err := m.context(fde, pc)
	if err != nil {
		return next, false, false
	}
	return u.apply(r, c)
}

// apply computes the caller's registers by a frame's rules.
func (u *Unwinder) apply(r Regs, c *frame.FrameContext) (next Regs, last, ok bool) {
	cfa, ok := u.cfa(r, c.CFA)
	if !ok {
		return next, false, false
	}
	next = r
	next[regSP] = cfa
	if ret, has := c.Regs[c.RetAddrReg]; !has || ret.Rule == frame.RuleUndefined {
		return next, true, true
	}
	for reg, rule := range c.Regs {
		if reg > regPC || rule.Rule == frame.RuleUndefined || rule.Rule == frame.RuleSameVal {
			continue
		}
		if next[reg], ok = u.register(r, rule, cfa); !ok {
			return next, false, false
		}
	}
	return next, false, true
}

func (m *module) context(fde *frame.FrameDescriptionEntry, pc uint64) (*frame.FrameContext, error) {
	if c := m.contexts[pc]; c != nil {
		return c, nil
	}
	c, err := fde.EstablishFrame(pc)
	if err == nil {
		if m.contexts == nil {
			m.contexts = map[uint64]*frame.FrameContext{}
		}
		m.contexts[pc] = c
	}
	return c, err
}

// register is the caller's value of a register by its rule; ok is false where
// that cannot be read or is not understood.
func (u *Unwinder) register(r Regs, rule frame.DWRule, cfa uint64) (v uint64, ok bool) {
	switch rule.Rule {
	case frame.RuleOffset:
		return u.word(cfa + uint64(rule.Offset))
	case frame.RuleValOffset:
		return cfa + uint64(rule.Offset), true
	case frame.RuleRegister:
		if rule.Reg > regPC {
			return 0, false
		}
		return r[rule.Reg], true
	case frame.RuleExpression:
		a, ok := u.eval(r, rule.Expression, cfa)
		if !ok {
			return 0, false
		}
		return u.word(a)
	case frame.RuleValExpression:
		return u.eval(r, rule.Expression, cfa)
	case frame.RuleCFA:
		return cfa, true
	}
	return 0, false
}

func (u *Unwinder) cfa(r Regs, rule frame.DWRule) (uint64, bool) {
	switch rule.Rule {
	case frame.RuleCFA:
		if rule.Reg > regPC {
			return 0, false
		}
		return r[rule.Reg] + uint64(rule.Offset), true
	case frame.RuleExpression:
		return u.eval(r, rule.Expression, 0)
	}
	return 0, false
}

func (u *Unwinder) eval(r Regs, expr []byte, cfa uint64) (uint64, bool) {
	regs := make([]*op.DwarfRegister, len(r))
	for i := range r {
		regs[i] = op.DwarfRegisterFromUint64(r[i])
	}
	d := op.NewDwarfRegisters(0, regs, binary.LittleEndian, regPC, regSP, 6, 0)
	d.CFA = int64(cfa)
	v, _, err := op.ExecuteStackProgram(*d, expr, 8, func(b []byte, a uint64) (int, error) {
		if err := u.mem.Read(b, a); err != nil {
			return 0, err
		}
		return len(b), nil
	})
	return uint64(v), err == nil
}

func (u *Unwinder) word(a uint64) (uint64, bool) {
	var b [8]byte
	if err := u.mem.Read(b[:], a); err != nil {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), true
}
