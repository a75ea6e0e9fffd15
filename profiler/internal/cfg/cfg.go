// Package cfg turns the bytes of a program into control-flow graphs that are
// good enough to move the code: pure, without a process in sight.
//
//	image ──▶ decode (follow the flow from every entry)
//	      ──▶ tables (what a switch can jump to)
//	      ──▶ regions that do nothing but synchronise (gates.go)
//	      ──▶ attributes over the call graph (never returns, may not come back)
//	      ──▶ blocks and edges
//	      ──▶ shape (dominators, loops, spin loops, frequencies, live flags)
//
// Moving code forgives some mistakes and not others. A jump target too many
// costs a springboard; a jump target too few sends the program into dead bytes.
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
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Program is all functions of one executable.
type Program struct {
	Image *image.Image
	Funcs []*Func // sorted by entry; the parts of a split function are one Func

	Regions []Region // where threads may meet or idle, by address
	Waiters []uint64 // entries of functions that do nothing but wait, ascending

	every    []Func            // of the image's functions, in its order; those elsewhere than in the text have no ranges
	owner    map[uint64]*Func  // start of a part → the function that it belongs to
	throws   bool              // exceptions or longjmp can pass through frames
	labels   []uint64          // addresses inside functions that the data names
	mentions *mentions         // once they were needed
	cancels  bool              // threads can be cancelled: any library call may not come back
	catches  Catches           // what may hold a thread while its counters are read
	catching bool              // something may
	handles  bool              // signals may have handlers
	silent   bool              // see labelTargets
	all      []*image.Image    // this one, and those among which it runs
	got      uint64            // the global offset table; 0: it has none
	foreign  map[string]bool   // functions of those from which control may not come back
	wrapped  map[string]string // functions of theirs that only call another one, by name
}

// Range is [Lo, Hi).
type Range struct{ Lo, Hi uint64 }

// Func is what is known of a function with all its parts: little enough to
// keep it for every function of a large program. Its graph is made when it is
// needed.
type Func struct {
	Name   string
	Ranges []Range // the first holds the entry

	Skip     string // why it cannot be moved; empty: it can
	Go       bool   // it is written in Go, and called as Go's are
	Runtime  bool   // a language's, or of a library that deals out work: nobody expects it to be counted
	Role     string // what rules call it, if it is a runtime's within the program: see tasks.go
	NoReturn bool   // never comes back to its caller
	Leaves   bool   // may not come back: see Call.Leaves
	Insns    int    // reachable instructions; 0 where Skip says that they are not known

	part     bool                // only a part of another function
	named    bool                // its symbol says so
	ends     bool                // its name is one that never returns
	stays    bool                // Skip was known before it was looked at
	setJmp   bool                // its name is one that may return twice
	nameless bool                // only the unwind table knows it
	tables   map[uint64][]uint64 // indirect jump → targets
	pads     []uint64            // landing pads, and starts of merged parts
	starts   []byte              // a bit for every byte of the parts, in words of 64: an instruction begins there
	*search                      // nil: what was found out was written before

	usesGS   bool   // addresses memory through GS
	blind    bool   // has a jump through a pointer whose targets are not known
	astray   bool   // calls or goes where control may not come back from, other than callees
	plain    bool   // neither calls nor stops: leaves by a return only
	reads    bool   // may look at return addresses: see stack
	framed   bool   // has a frame pointer
	switches bool   // goes to another stack
	kernel   bool   // makes system calls itself
	syncs    bool   // may do something to other threads, or wait for them
	gates    []gate // of regions, by address
}

// search is what is known of a function as long as others are looked for.
type search struct {
	gotos      map[uint64][]uint64 // computed goto → where its targets are loaded
	alone      []uint64            // jumps to what was made before: likewise
	looked     int                 // how often these were looked for
	fromLabels []uint64            // tables of how far labels lie from another: see BuildSilent
	labelled   []uint64            // jumps that may go to all labels,
	labels     []uint64            // which are these
	tailFrom   []uint64            // targets of jumps that leave the function
	callees    []uint64            // entries that it calls or jumps to
}

// Graph is the control-flow graph of a function.
type Graph struct {
	*Func
	Code   []x86.Insn // sorted by address
	Blocks []*Block   // sorted by address
	Edges  []*Edge
	Entry  *Block
	Loops  []*Loop // outermost first
	Calls  int     // calls in all blocks
	Large  bool    // it has addresses of functions in 64 bits: see fix
	Torn   uint64  // control falls through to here, where no instruction is known; 0: nowhere

	index   []partIndex
	peeled  []peeled
	blockOf []int32 // instruction → its block
}

// Block is a basic block. Calls end one only where they may not come back.
type Block struct {
	ID         int
	Start, End uint64
	Insns      []x86.Insn
	Calls      []Call
	Succ, Pred []*Edge

	LiveIn, LiveOut x86.Flags
	Freq            float64   // estimated executions per call of the function
	Loop            *Loop     // innermost
	Spin            bool      // of a loop that only waits for memory to change
	TableTarget     bool      // a switch can jump here
	Pad             bool      // an exception can land here, or a merged part begins
	Enters, Leaves  bool      // a region begins, or ends, before it: a thread may be caught here
	reads, kills    x86.Flags // what the block as a whole reads before it writes, and what it writes
}

// Last is the block's last instruction.
func (b *Block) Last() *x86.Insn { return &b.Insns[len(b.Insns)-1] }

// Call is a call instruction in a block.
type Call struct {
	Insn   *x86.Insn
	Index  int    // among the calls of the function
	Callee *Func  // a function of the program, else nil
	Import string // a library function's name, where known
	// NoReturn: control never comes back. Leaves: it may not come back, or
	// the thread may be caught inside while its counters are read: an
	// exception, longjmp, pthread_exit, a wait that ends a section.
	NoReturn, Leaves, SetJmp bool
}

// CallOf is the call that an instruction of the block is; nil: it is none.
func (b *Block) CallOf(in *x86.Insn) *Call {
	for i := range b.Calls {
		if b.Calls[i].Insn == in {
			return &b.Calls[i]
		}
	}
	return nil
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
	Resumed // setjmp returns again, or a part begins behind a region: uncountable
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
	Blocks []*Block // sorted by address
	Parent *Loop
	Inner  bool  // no other loop lies in it
	latch  int32 // place of its first latch in reverse postorder
	waits  waiting
}

// Has reports whether a block is of the loop.
func (l *Loop) Has(b *Block) bool {
	for x := b.Loop; x != nil; x = x.Parent {
		if x == l {
			return true
		}
	}
	return false
}

// bitset is a set of blocks by number.
type bitset []uint64

func (s bitset) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }
func (s bitset) put(i int)      { s[i>>6] |= 1 << (i & 63) }

// BlockAt returns the block that starts at an address, or nil.
func (g *Graph) BlockAt(a uint64) *Block {
	if k := g.at(a); k >= 0 {
		if b := g.Blocks[g.blockOf[k]]; b.Start == a {
			return b
		}
	}
	return nil
}

// BlockOf returns the block that holds an address, or nil.
func (g *Graph) BlockOf(a uint64) *Block {
	i := sort.Search(len(g.Blocks), func(i int) bool { return g.Blocks[i].End > a })
	if i < len(g.Blocks) && g.Blocks[i].Start <= a {
		return g.Blocks[i]
	}
	return nil
}

// InsnAt returns the instruction at an address, or nil.
func (g *Graph) InsnAt(a uint64) *x86.Insn {
	if k := g.at(a); k >= 0 {
		return &g.Code[k]
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
	return f.Skip == "" && !f.Leaves && f.plain && !f.reads && f.Insns > 0 && len(f.Ranges) == 1 && len(f.pads) == 0
}

// CallsKernel reports whether the function makes system calls itself.
func (f *Func) CallsKernel() bool { return f.kernel }

// FallsOut reports whether control runs out of the function's end, into another one.
func (f *Func) FallsOut() bool { return strings.HasPrefix(f.Skip, fallsOut) }

const fallsOut = "falls out of its range"

// Callees returns the functions that a function calls or jumps to directly.
func (p *Program) Callees(f *Func) (list []*Func) {
	if f.search == nil {
		return nil
	}
	for _, a := range f.callees {
		if g := p.FuncAt(a); g != nil {
			list = append(list, g)
		}
	}
	return list
}

// at is the function, or part, that starts at an address, or nil.
func (p *Program) at(entry uint64) *Func { return p.nth(p.find(entry), entry) }

// find is the number of the first of every that starts at or behind an address.
func (p *Program) find(entry uint64) int {
	return sort.Search(len(p.every), func(i int) bool { return p.Image.Funcs[i].Addr >= entry })
}

// nth is the i-th of every, if it is a function that starts at an address, or nil.
func (p *Program) nth(i int, entry uint64) *Func {
	if i < len(p.every) && p.Image.Funcs[i].Addr == entry && p.every[i].Ranges != nil {
		return &p.every[i]
	}
	return nil
}

// FuncAt returns the function that starts at an address, or nil.
func (p *Program) FuncAt(entry uint64) *Func {
	if f := p.at(entry); f != nil && !f.part {
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
