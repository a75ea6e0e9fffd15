package native

import (
	"encoding/binary"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
)

// callsBack are functions of the C library that call what they are given, again
// and again, before they come back. How often is nobody's decision but theirs,
// and what they were given to do, so that it is the call of them that counts.
var callsBack = map[string]bool{
	"qsort": true, "qsort_r": true, "bsearch": true, "lfind": true, "lsearch": true,
	"tsearch": true, "tfind": true, "tdelete": true, "twalk": true, "twalk_r": true, "tdestroy": true,
	"ftw": true, "ftw64": true, "nftw": true, "nftw64": true, "scandir": true, "scandir64": true,
}

// callbacks has functions that were called by such ones called from where these
// were, or by what leads from Go to C and back, which is given them likewise: they are in
// the graph as entered from outside.
func (in *injection) callbacks(p *profile.Profile, lines backend.Lines) {
	given := map[profile.Addr][]givenAt{} // by entry: the calls that were given it
	var entries map[profile.Addr]bool
	for _, m := range in.modules {
		if m.spec == nil || !m.mayCallBack() {
			continue
		}
		if entries == nil {
			entries = ran(&p.Graph)
		}
		m.findGiven(given, entries)
	}
	for i := range p.Threads { // who begins in it was called by nobody
		delete(given, p.Threads[i].Start)
	}
	if len(given) == 0 {
		return
	}
	blocks := p.Graph.IndexBlocks()
	var calls []profile.Edge
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		if e.Kind != profile.Start || e.Count == profile.NoEvent {
			continue
		}
		sites := given[p.Graph.Blocks[e.To].Start]
		switch {
		case len(sites) == 0:
		case slices.ContainsFunc(sites, func(g givenAt) bool { return g.once }):
			calls = append(calls, once(p, blocks, e, sites)...)
		case slices.ContainsFunc(sites, func(g givenAt) bool { return lines.Key(g.site) != lines.Key(sites[0].site) }):
			// it cannot be told which; copies of one are one
		default:
			if from := blocks.At(sites[0].site); from != profile.NoBlock {
				e.From, e.Kind, e.Site = from, profile.Indirect, sites[0].site
				p.Events[e.Count].Addr = sites[0].site
			}
		}
	}
	p.Graph.Edges = append(p.Graph.Edges, calls...)
}

// mayCallBack reports whether the module's code can call one of these.
func (m *module) mayCallBack() bool {
	if m.im.Cgo {
		return true
	}
	for _, names := range []map[uint64]string{m.im.PLT, m.im.GOT} {
		for _, name := range names {
			if givesBack(name) {
				return true
			}
		}
	}
	return false
}

// ran are the entries of the functions that ran.
func ran(g *profile.Graph) map[profile.Addr]bool {
	entries := map[profile.Addr]bool{}
	for i := range g.Functions {
		if f := &g.Functions[i]; f.N > 0 {
			entries[f.Entry] = true
		}
	}
	return entries
}

// findGiven adds the module's calls, of functions that ran, that are given a function
// of its own: one of which the code before them in the block speaks, or else any that
// their function speaks of, since compilers keep addresses in registers.
func (m *module) findGiven(given map[profile.Addr][]givenAt, ran map[profile.Addr]bool) {
	to := m.givenTo()
	// To decode all that a shell has takes longer than its start.
	of := func(f *cfg.Func) bool { return ran[profile.Addr(f.Ranges[0].Lo+m.base)] && m.mayCall(f, to) }
	m.eachCall(of, func(g *cfg.Graph, b *cfg.Block, c *cfg.Call) {
		if !(c.Callee != nil && between(c.Callee)) && !givesBack(c.Import) {
			return
		}
		functions := m.spoken(b, c.Insn.Addr)
		if len(functions) == 0 {
			for _, b := range g.Blocks {
				functions = append(functions, m.spoken(b, b.End)...)
			}
		}
		slices.Sort(functions)
		for _, f := range slices.Compact(functions) {
			given[f] = append(given[f], givenAt{profile.Addr(c.Insn.Addr + m.base), callsOnce[c.Import]})
		}
	})
}

// between reports whether a function leads from Go to C, or back.
func between(f *cfg.Func) bool { return f.Name == cfg.CallsC || f.Name == cfg.CallsGo }

// givenTo is where calls lead that findGiven looks for: functions, stubs that jump to
// those of libraries, and slots that hold the address of one.
func (m *module) givenTo() map[uint64]bool {
	to := map[uint64]bool{}
	for _, f := range m.spec.Program.Funcs {
		if between(f) {
			to[f.Ranges[0].Lo] = true
		}
	}
	for _, names := range []map[uint64]string{m.im.PLT, m.im.GOT} {
		for at, name := range names {
			if givesBack(name) {
				to[at] = true
			}
		}
	}
	return to
}

// mayCall reports whether bytes of a function may be a call to some places: to look takes
// a hundredth of what decoding it takes.
func (m *module) mayCall(f *cfg.Func, to map[uint64]bool) bool {
	for _, r := range f.Ranges {
		code := m.im.Bytes(r.Lo)
		code = code[:min(uint64(len(code)), r.Hi-r.Lo)]
		for i := 0; i+5 <= len(code); i++ {
			after := r.Lo + uint64(i) + 5
			if code[i] == 0xe8 && to[after+uint64(int32(binary.LittleEndian.Uint32(code[i+1:])))] { // call
				return true
			}
			if code[i] == 0xff && code[i+1] == 0x15 && i+6 <= len(code) { // call *slot(%rip)
				slot := after + 1 + uint64(int32(binary.LittleEndian.Uint32(code[i+2:])))
				if held, _ := m.im.Word(slot); to[slot] || to[held] {
					return true
				}
			}
		}
	}
	return false
}

// spoken are the functions whose addresses a block puts into registers before an
// instruction.
func (m *module) spoken(b *cfg.Block, before uint64) (list []profile.Addr) {
	for i := range b.Insns {
		in := &b.Insns[i]
		if in.Addr >= before {
			break
		}
		at := uint64(0)
		switch {
		case in.Map == 0 && in.Opcode == 0x8d && in.RIPOff > 0: // lea
			at = in.RIPTarget
		case in.Map == 0 && in.Opcode == 0x8b && in.RIPOff > 0:
			at, _ = m.im.Word(in.RIPTarget)
		case in.Map == 0 && (in.Opcode&0xf8 == 0xb8 || in.Opcode == 0xc7) && in.HasImm && !in.HasMem: // mov
			at = uint64(in.Imm)
		}
		if f := m.spec.Program.FuncAt(at); f != nil && f.Ranges[0].Lo == at {
			list = append(list, profile.Addr(at+m.base))
		}
	}
	return list
}
