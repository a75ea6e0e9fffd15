// Package cfg turns the bytes of a program into control-flow graphs that are
// good enough to move the code: pure, without a process in sight.
//
//	image ──▶ decode (follow the flow from every entry)
//	      ──▶ tables (what a switch can jump to)
//	      ──▶ attributes over the call graph (never returns, may not come back)
//	      ──▶ blocks and edges
//	      ──▶ shape (dominators, loops, spin loops, frequencies, live flags)
//
// Moving code forgives some mistakes and not others. A jump target too many
// costs a landing; a jump target too few sends the program into dead bytes.
// So the package over-approximates targets where it may and skips the whole
// function, with a reason, where it is unsure. A skipped function runs
// where it always ran and is reported as not counted.
//
// An edge is uncountable where no counter can stand on it: a call that never
// comes back because an exception passes through it, a thread that is caught
// inside a call while its counters are read. Such edges carry flow all the
// same, and package probe derives it.
package cfg

import (
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Program is all functions of one executable.
type Program struct {
	Image *image.Image
	Funcs []*Func // sorted by entry; the parts of a split function are one Func

	byEntry  map[uint64]*Func
	owner    map[uint64]*Func // start of a part → the function that it belongs to
	throws   bool             // exceptions or longjmp can pass through frames
	labels   []uint64         // addresses inside functions that the data names
	scratch  []x86.Insn       // for decoding
	cancels  bool             // threads can be cancelled: any library call may not come back
	catches  Catches          // what may hold a thread while its counters are read
	catching bool             // something may
}

// Range is [Lo, Hi).
type Range struct{ Lo, Hi uint64 }

// Func is a function with all its parts.
type Func struct {
	Name   string
	Ranges []Range    // the first holds the entry
	Insns  []x86.Insn // reachable ones, sorted by address
	Blocks []*Block   // sorted by address
	Edges  []*Edge
	Entry  *Block
	Loops  []*Loop // outermost first

	Skip     string // why it cannot be moved; empty: it can
	NoReturn bool   // never comes back to its caller
	Leaves   bool   // may not come back: see Call.Leaves

	part     bool                // only a part of another function
	named    bool                // its symbol says so
	tables   map[uint64][]uint64 // indirect jump → targets
	pads     []uint64            // landing pads, and starts of merged parts
	tailFrom []uint64            // targets of jumps that leave the function
	callees  []uint64
	index    []partIndex
	leaf     int8 // 1: yes, −1: no, 0: not looked at
}

// Block is a basic block. Calls end one only where they may not come back.
type Block struct {
	ID         int
	Start, End uint64
	Insns      []x86.Insn
	Calls      []Call
	Succ, Pred []*Edge
	Func       *Func

	LiveIn, LiveOut x86.Flags
	Freq            float64 // estimated executions per call of the function
	Loop            *Loop   // innermost
	Spin            bool    // of a loop that only waits for memory to change
	TableTarget     bool    // a switch can jump here
	Pad             bool    // an exception can land here, or a merged part begins
	idom            *Block
	rpo             int
}

// Last is the block's last instruction.
func (b *Block) Last() *x86.Insn { return &b.Insns[len(b.Insns)-1] }

// Call is a call instruction in a block.
type Call struct {
	Insn   *x86.Insn
	Callee *Func  // a function of the program, else nil
	Import string // a library function's name, where known
	// NoReturn: control never comes back. Leaves: it may not come back, or
	// the thread may be caught inside while its counters are read: an
	// exception, longjmp, pthread_exit, a wait that ends a section.
	NoReturn, Leaves, SetJmp bool
}

// Known reports whether the call's target is known before the run.
func (c *Call) Known() bool { return c.Callee != nil || c.Import != "" || c.Insn.Kind == x86.Call }

// EdgeKind says how control goes along an edge.
type EdgeKind uint8

const (
	Fall  EdgeKind = iota
	Taken          // of a conditional jump
	Jump
	Table   // of a switch
	Exit    // returns, or leaves the function by a jump
	Entry   // START → entry
	Pad     // START → landing pad
	Caught  // a call that does not come back, or has not yet: uncountable
	Resumed // setjmp returns again: uncountable
)

// Edge is a control-flow edge; From nil is START, To nil is outside.
type Edge struct {
	ID          int
	From, To    *Block
	Kind        EdgeKind
	Freq        float64
	Uncountable bool
}

// Loop is a natural loop.
type Loop struct {
	Head   *Block
	Blocks body
	Parent *Loop
}

// body is the blocks of a cycle.
type body map[*Block]bool

// Inner reports whether no other loop of the function lies in it.
func (l *Loop) Inner() bool {
	for _, m := range l.Head.Func.Loops {
		if m.Parent == l {
			return false
		}
	}
	return true
}

// BlockAt returns the block that starts at an address, or nil.
func (f *Func) BlockAt(a uint64) *Block {
	i := sort.Search(len(f.Blocks), func(i int) bool { return f.Blocks[i].Start >= a })
	if i < len(f.Blocks) && f.Blocks[i].Start == a {
		return f.Blocks[i]
	}
	return nil
}

// InsnAt returns the instruction at an address, or nil.
func (f *Func) InsnAt(a uint64) *x86.Insn {
	i := sort.Search(len(f.Insns), func(i int) bool { return f.Insns[i].Addr >= a })
	if i < len(f.Insns) && f.Insns[i].Addr == a {
		return &f.Insns[i]
	}
	return nil
}

// Targets returns where an indirect jump can go, when that is known.
func (f *Func) Targets(jump uint64) ([]uint64, bool) {
	t, ok := f.tables[jump]
	return t, ok
}

// In reports whether an address lies in one of the function's parts.
func (f *Func) In(a uint64) bool {
	for _, r := range f.Ranges {
		if a >= r.Lo && a < r.Hi {
			return true
		}
	}
	return false
}

// Size is the bytes of the function's parts.
func (f *Func) Size() int {
	n := 0
	for _, r := range f.Ranges {
		n += int(r.Hi - r.Lo)
	}
	return n
}

// Leaf reports whether the function calls nothing and surely returns: nobody
// looks at the return address while it runs.
func (f *Func) Leaf() bool {
	if f.Skip != "" || f.Leaves || len(f.Blocks) == 0 || len(f.Ranges) > 1 {
		return false
	}
	if f.leaf == 0 {
		f.leaf = 1
		for _, b := range f.Blocks {
			last := b.Last()
			_, known := f.tables[last.Addr]
			if len(b.Calls) > 0 || b.Pad || last.Kind == x86.Stop || last.Kind == x86.JmpInd && !known || last.Kind.IsJump() && !f.In(last.Target) {
				f.leaf = -1
				break
			}
		}
	}
	return f.leaf > 0
}

// FuncAt returns the function that starts at an address, or nil.
func (p *Program) FuncAt(entry uint64) *Func {
	if f := p.byEntry[entry]; f != nil && !f.part {
		return f
	}
	return nil
}

// HasFunc reports whether the program defines a function of that name.
func (p *Program) HasFunc(name string) bool {
	for _, f := range p.Funcs {
		if f.Name == name {
			return true
		}
	}
	return false
}

// Owner returns the function that an address belongs to, also by a merged part.
func (p *Program) Owner(a uint64) *Func {
	g := p.Image.FuncAt(a)
	if g == nil {
		return nil
	}
	return p.owner[g.Addr]
}
