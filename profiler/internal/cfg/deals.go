package cfg

import "github.com/skewlens/skewlens/profiler/internal/x86"

// Dealer tells where threads take their work from a store that all share: a
// counter that is fetched and advanced by one instruction, a queue under a
// lock. Such a place ends in a branch that depends on what was taken: there is
// more, or there is none.
type Dealer struct {
	p     *Program
	takes map[*Func]bool // whether a function takes; false too while that is found out
}

// NewDealer is for the blocks of a program.
func NewDealer(p *Program) *Dealer { return &Dealer{p: p, takes: map[*Func]bool{}} }

const (
	smallTaker = 120 // instructions of a function that does nothing but take
	takerDepth = 4   // calls of such functions in each other
	takeBlocks = 3   // from where something is taken to the branch
)

// Deals reports whether the branch that ends a block depends on what was taken
// in it, or in the last blocks before it, whichever way control came.
func (d *Dealer) Deals(b *Block) bool {
	if b.Last().Kind != x86.Jcc || b.Loop == nil || !d.takesBefore(b, takeBlocks) {
		return false
	}
	return d.after(b, takeBlocks).flags
}

// takesBefore reports whether a block takes, or one of those that lead there.
func (d *Dealer) takesBefore(b *Block, blocks int) bool {
	if blocks == 0 {
		return false
	}
	if d.takesIn(b, 0) {
		return true
	}
	for _, e := range b.Pred {
		if e.From != nil && d.takesBefore(e.From, blocks-1) {
			return true
		}
	}
	return false
}

// after is what holds what was taken at the end of a block, as far as the last
// blocks tell; it is sure only where it is so on every way there.
func (d *Dealer) after(b *Block, blocks int) (t taken) {
	for i, e := range b.Pred {
		if e.From == nil || blocks == 1 {
			t = taken{}
			break
		}
		if u := d.after(e.From, blocks-1); i == 0 {
			t = u
		} else {
			t.meet(u)
		}
	}
	call := 0
	for i := range b.Insns {
		in := &b.Insns[i]
		if !in.Kind.IsCall() {
			t.step(in)
			continue
		}
		c := &b.Calls[call]
		call++
		t.call(locks[c.Import], c.Callee != nil && d.function(c.Callee, 1))
	}
	return t
}

// takesIn reports whether a block fetches, locks, or calls what does.
func (d *Dealer) takesIn(b *Block, depth int) bool {
	for i := range b.Insns {
		if in := &b.Insns[i]; fetches(in) {
			return true
		}
	}
	for i := range b.Calls {
		if c := &b.Calls[i]; locks[c.Import] || c.Callee != nil && d.function(c.Callee, depth+1) {
			return true
		}
	}
	return false
}

// function reports whether a function does little more than to take.
func (d *Dealer) function(f *Func, depth int) bool {
	is, known := d.takes[f]
	if known || depth > takerDepth || f.Skip != "" || f.Insns == 0 || f.Insns > smallTaker {
		return is
	}
	d.takes[f] = false // while it is looked at
	var space Space    // that of the caller's graph is in use
	for _, b := range d.p.Blocks(f, &space).Blocks {
		if d.takesIn(b, depth) {
			d.takes[f] = true
			return true
		}
	}
	return false
}

// locks are the functions behind which shared data are read.
var locks = map[string]bool{"pthread_mutex_lock": true, "pthread_mutex_trylock": true, "pthread_mutex_timedlock": true, "pthread_spin_lock": true,
	"pthread_rwlock_wrlock": true, "mtx_lock": true}

// fetches recognises instructions that read and change memory as one, and tell
// what was there: xadd, cmpxchg, xchg.
func fetches(in *x86.Insn) bool {
	return in.Lock && in.HasMem && in.Vex == 0 &&
		(in.Map == 1 && in.Opcode&0xf6 == 0xb0 || in.Map == 1 && in.Opcode&0xfe == 0xc0 || in.Map == 0 && in.Opcode&0xfe == 0x86)
}

// taken follows what was taken through straight code: the registers and slots
// of the frame that hold it or what was made of it.
type taken struct {
	regs  x86.Regs
	slots map[x86.Mem]bool
	flags bool
	held  bool // a lock is: whatever is read may be shared
}

// meet keeps what is so in both.
func (t *taken) meet(u taken) {
	t.regs &= u.regs
	t.flags, t.held = t.flags && u.flags, t.held && u.held
	for m, is := range t.slots {
		t.slots[m] = is && u.slots[m]
	}
	for m := range u.slots {
		if _, known := t.slots[m]; !known && t.slots != nil {
			t.slots[m] = false
		}
	}
}

// call: what a function returns that takes was taken; others keep only the
// registers that callees save.
func (t *taken) call(lock, takes bool) {
	const saved = 1<<x86.RBX | 1<<x86.RBP | 1<<x86.RSP | 1<<x86.R12 | 1<<x86.R13 | 1<<x86.R14 | 1<<x86.R15
	t.regs &= saved
	t.flags, t.held = false, lock
	if takes && !lock {
		t.regs |= x86.RAX.Set()
	}
}

func (t *taken) step(in *x86.Insn) {
	own := in.HasMem && (in.Mem.Base == x86.RBP || in.Mem.Base == x86.RSP) && in.Mem.Index == x86.None
	from := in.Use&t.regs != 0 || in.FlagsRead != 0 && t.flags || fetches(in)
	if in.Loads && in.HasMem {
		is, slot := t.slots[in.Mem]
		from = from || own && is || t.held && !slot && in.Mem.Base != x86.RSP
	}
	if clears := in.Map == 0 && in.Vex == 0 && (in.Opcode == 0x31 || in.Opcode == 0x33) && !in.HasMem && in.Reg == in.RM; clears {
		from = false
	}
	if in.Stores && own {
		if t.slots == nil {
			t.slots = map[x86.Mem]bool{}
		}
		t.slots[in.Mem] = from && !in.Lock
	}
	if from {
		t.regs |= in.Def &^ x86.RSP.Set()
	} else {
		t.regs &^= in.Def
	}
	if in.FlagsKilled != 0 {
		t.flags = from
	}
}
