package cfg

import (
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Locks that are taken without a call: sync.Mutex, the futex of Rust's Mutex, spin
// locks of a program's own. One constant is exchanged for another, which tells of no
// work; until something is stored there again, what is read may be shared.
//
//	xor  eax, eax
//	lock cmpxchg [rdi], ecx     mu.Lock()
//	jne  → call lockSlow
//	…
//	lock xadd [rdi], ebx        mu.Unlock()
//
// And stores without locks: what is read where something is exchanged later is what is
// taken if nobody else was faster (Treiber's stack).

// named is what a function names in memory.
type named struct {
	calls    *convention     // how the function calls others
	locks    map[cell]bool   // by which threads keep each other off
	contends map[*Block]bool // whose exchange, where it fails, is followed by waiting for a lock,
	releases map[*Block]bool // or by letting somebody have it
	swapped  map[cell]bool   // where stores without locks are
	objects  []x86.Mem       // in the frame, as far as their address is taken
}

// cell is a place in memory as instructions name it.
type cell struct {
	mem x86.Mem
	at  uint64 // where that is known
}

func cellOf(in *x86.Insn) cell {
	if in.Mem.RIP {
		return cell{at: in.RIPTarget}
	}
	return cell{mem: in.Mem}
}

// namedIn finds them.
func namedIn(g *Graph, framed bool) *named {
	p := &named{calls: g.Func.convention(), locks: map[cell]bool{}, contends: map[*Block]bool{}, releases: map[*Block]bool{}, swapped: map[cell]bool{}}
	exchanges, given := map[cell]int{}, map[cell]bool{}
	for _, b := range g.Blocks {
		p.contends[b], p.releases[b] = fails(b, takesInline), fails(b, givesInline)
		for i := range b.Insns {
			in := &b.Insns[i]
			switch at := cellOf(in); {
			case in.HasMem && in.Map == 0 && in.Opcode == 0x8d && isSlot(in, framed):
				p.objects = append(p.objects, in.Mem)
			case !in.HasMem || !in.Stores:
			case swaps(in):
				exchanges[at]++
				p.swapped[at] = true
			case fetches(in) && in.Map == 0: // xchg, which takes a lock, too
				given[at] = given[at] || exchanges[at] > 0
				exchanges[at]++
			default:
				given[at] = true
			}
		}
	}
	for at := range exchanges {
		p.locks[at] = given[at]
		p.swapped[at] = p.swapped[at] && !p.locks[at]
	}
	return p
}

// fails: one way on from a block calls one of some functions. Gates cut blocks: the branch
// may stand in the next one.
func fails(b *Block, into func(name string) bool) bool {
	if e := b.Succ; len(e) > 0 && e[0].Kind == Fall && e[0].To != nil && !b.Last().Kind.IsCall() && b.Last().Kind != x86.Jcc {
		b = e[0].To
	}
	return slices.ContainsFunc(b.Succ, func(e *Edge) bool {
		return e.To != nil && slices.ContainsFunc(e.To.Calls, func(c Call) bool { return c.Callee != nil && into(c.Callee.Name) })
	})
}

// swaps recognises cmpxchg.
func swaps(in *x86.Insn) bool { return fetches(in) && in.Map == 1 && in.Opcode&0xfe == 0xb0 }

// locks follows the lock that is held through the k-th instruction of a block, which
// stores. Nothing here goes by whether one is held, or what loops do would have no end.
func (t *taken) locks(b *Block, k int, p *named) {
	in := &b.Insns[k]
	here := p.locks[cellOf(in)]
	constant := in.Reg != x86.None && t.consts&in.Reg.Set() != 0
	switch exchange := fetches(in); {
	case swaps(in) && p.releases[b]:
		t.held = false
	case swaps(in):
		t.held = t.held || constant && t.consts&x86.RAX.Set() != 0 && (here || p.contends[b])
	case !exchange:
		t.held = t.held && !here
	case in.Map == 0 && !b.zeroBefore(k, in.Reg): // xchg
		t.held = t.held || constant && here
	default: // xchg for 0, xadd
		t.held = t.held && !here && !constant
	}
}

// givesInline are functions of theirs behind which the lock is another's.
func givesInline(name string) bool {
	switch name {
	case "sync.(*Mutex).Unlock", "internal/sync.(*Mutex).Unlock", "sync.(*RWMutex).Unlock":
		return true
	}
	return strings.HasSuffix(name, "sync.(*Mutex).unlockSlow") || strings.Contains(name, "MutexGuard") && strings.Contains(name, "drop") || rustNamed(name, "11parking_lot", "11unlock_slow")
}

// takesInline are functions of Go's, Rust's and C++'s libraries that have a lock when they
// return: those behind the code that is inlined, and others that are called, of which some
// are too large to be looked at.
func takesInline(name string) bool {
	switch name {
	case "sync.(*Mutex).Lock", "internal/sync.(*Mutex).Lock", "sync.(*RWMutex).Lock", "sync.(*Cond).Wait":
		return true
	}
	return strings.HasSuffix(name, "sync.(*Mutex).lockSlow") || strings.Contains(name, "22condition_variable_any4wait") || strings.Contains(name, "14lock_contended") || strings.Contains(name, "7Condvar") && strings.Contains(name, "4wait") ||
		rustNamed(name, "11parking_lot", "9lock_slow") || rustNamed(name, "11parking_lot", "19wait_until_internal")
}
