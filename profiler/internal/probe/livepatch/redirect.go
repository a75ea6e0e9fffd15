package livepatch

import "github.com/skewlens/skewlens/profiler/internal/probe/asm"

// means is how an address may be made to lead to another place.
type means int

const (
	byJump means = iota // by a jump, even if it is longer than the instruction there
	byAny               // by a jump no longer than the instruction, or by an int3
)

// redirect makes an address lead to an offset.
func (p *Patcher) redirect(addr, offset uint64, how means) bool {
	to, ok := p.targets[addr]
	if !ok {
		to, ok = p.c.Springboard(addr)
	}
	if ok {
		return to == offset
	}
	in := p.insn(addr)
	if in == nil || p.gaveBack(addr) {
		return false
	}
	if in.Kind.IsCall() && p.stays(in) {
		begins, _ := p.find(offset)
		return begins != nil && begins.Addr == addr
	}
	b, island := []byte{asm.Breakpoint}, uint64(0)
	if in.Len() >= asm.ShortJumpLen && in.Len() < asm.JumpLen && p.free(addr, asm.ShortJumpLen) {
		island = p.island(addr)
	}
	switch {
	case island != 0:
		j := asm.Jump(island, p.c.Base+offset)
		if p.write(island, j[:]) != nil {
			return false
		}
		p.by[addr] = island
		short := asm.ShortJump(addr, island)
		b = short[:]
	case in.Len() >= asm.JumpLen || how == byJump:
		j := asm.Jump(addr, p.c.Base+offset)
		b = j[:]
	}
	if !p.claim(addr, uint64(len(b)), true) || p.write(addr, b) != nil {
		return false
	}
	p.targets[addr] = offset
	p.traps[addr] = len(b) == 1
	return true
}

// island claims five bytes within reach of a short jump at addr, rather far
// away than near, where more springboards will be wanted. 0: there are none.
func (p *Patcher) island(addr uint64) uint64 {
	for d := uint64(120); d >= asm.JumpLen+asm.ShortJumpLen; d-- {
		for _, at := range [2]uint64{addr + d, addr - d} {
			if p.claim(at, asm.JumpLen, false) {
				p.islands[at] = true
				return at
			}
		}
	}
	return 0
}
