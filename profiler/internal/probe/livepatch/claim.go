package livepatch

import "github.com/skewlens/skewlens/profiler/internal/cfg"

// reserve keeps an instruction's first byte in every block, so that a thread
// that goes on comes by an address that can be made to lead back.
func (p *Patcher) reserve(g *cfg.Graph) {
	for _, b := range g.Blocks {
		for i := range b.Insns {
			if a := b.Insns[i].Addr; !p.s.Uses(a) {
				p.reserved[a] = true
				break
			}
		}
	}
}

// preserve leaves an instruction as it is, for good.
func (p *Patcher) preserve(addr uint64) bool {
	if p.preserved[addr] {
		return true
	}
	p.preserved[addr] = p.claim(addr, uint64(p.insn(addr).Len()), true)
	return p.preserved[addr]
}

// claim takes bytes of instructions that nothing executes, nor ever will. own:
// for the instruction that the first of them belongs to.
func (p *Patcher) claim(addr, n uint64, own bool) bool {
	if !p.free(addr, n) || !own && p.reserved[addr] {
		return false
	}
	for a := addr + 1; a < addr+n; a++ {
		if p.reserved[a] {
			return false
		}
	}
	for i := range n {
		p.claimed[addr+i] = true
	}
	return true
}

// free reports whether bytes, from the beginning of an instruction on, can be claimed.
func (p *Patcher) free(addr, n uint64) bool {
	for a := addr; a < addr+n; {
		in := p.insn(a)
		if in == nil {
			return false
		}
		for ; a < in.End() && a < addr+n; a++ {
			if p.s.Uses(a) || p.claimed[a] || p.gaveBack(a) {
				return false
			}
		}
	}
	return true
}
