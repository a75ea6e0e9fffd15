package native

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/section"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Libraries that are not counted wait and join too: a future's thread is joined
// by the C++ library. They call through slots that the dynamic linker fills,
// most of them before the program's entry, some at the first call; these are
// filled here, since the linker would write over what is put there. What the
// dynamic linker and the C library call among themselves goes through none.

// foreignSlot is a slot of a library that leads to a function that matters.
type foreignSlot struct {
	addr uint64 // run-time
	name string
	lib  *foreignLibrary
}

// foreignLibrary is one that is not counted.
type foreignLibrary struct {
	library
	highest uint64
	bias    uint64
	syms    []elf.Symbol // read when they are asked for
}

// hookLibraries lets libraries that are not counted record what sections are
// made of. It is done behind everything else: if it is not possible, the run is
// as it was without.
func (in *injection) hookLibraries(p *tracee.Process) error {
	if in.modules[0].im.Go != nil {
		return nil
	}
	libs, err := in.foreign(p)
	if err != nil || len(libs) == 0 {
		return err
	}
	var slots []foreignSlot
	for _, l := range libs {
		if ofTheSystem(l.path) {
			continue
		}
		list, err := l.slots()
		if err != nil {
			continue // not a file that the dynamic linker could have loaded by itself
		}
		slots = append(slots, list...)
	}
	if len(slots) == 0 {
		return nil
	}
	return in.hookSlots(p, libs, slots)
}

// foreign lists the libraries that are loaded and are no modules.
func (in *injection) foreign(p *tracee.Process) (libs []*foreignLibrary, err error) {
	ms, err := p.Mappings()
	if err != nil {
		return nil, err
	}
	by := map[string]*foreignLibrary{}
	for _, m := range ms {
		if m.Path == "" || m.Path[0] != '/' || in.counts(m.Path) {
			continue
		}
		l := by[m.Path]
		if l == nil {
			l = &foreignLibrary{library: library{m.Path, m.Lo}}
			by[m.Path] = l
			libs = append(libs, l)
		}
		l.lowest, l.highest = min(l.lowest, m.Lo), max(l.highest, m.Hi)
	}
	return libs, nil
}

// slots reads which of a library's slots lead to functions that matter.
func (l *foreignLibrary) slots() (list []foreignSlot, err error) {
	f, err := elf.Open(l.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l.place(f)
	d, err := readDynamic(f)
	if err != nil {
		return nil, err
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		b, err := s.Data()
		if err != nil {
			return nil, err
		}
		for ; len(b) >= 24; b = b[24:] {
			info := binary.LittleEndian.Uint64(b[8:])
			if t := elf.R_X86_64(uint32(info)); t != elf.R_X86_64_JMP_SLOT && t != elf.R_X86_64_GLOB_DAT {
				continue
			}
			sym := info >> 32 // the first one has number 1
			if sym == 0 {
				continue
			}
			name := d.name(sym)
			if h, ok := section.Hook(string(name)); ok && h.Team == record.NoTeam && h.Tasks == record.NoTasks && // teams and tasks that do what is not counted are none of ours,
				!(h.Args != record.Args{} && isMPI(l.path)) { // nor is what MPI calls itself
				list = append(list, foreignSlot{binary.LittleEndian.Uint64(b) + l.bias, string(name), l})
			}
		}
	}
	return list, nil
}

// read reads where a library lies, and its symbols.
func (l *foreignLibrary) read(f *elf.File) (err error) {
	l.place(f)
	l.syms, err = f.DynamicSymbols()
	return err
}

// place is where a library lies.
func (l *foreignLibrary) place(f *elf.File) {
	first := ^uint64(0)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			first = min(first, p.Vaddr)
		}
	}
	l.bias = l.lowest - first&^0xfff
}

// defines is the run-time address of a function that a library defines, 0 where
// it does not, or where only a call can tell.
func (l *foreignLibrary) defines(name, version string) uint64 {
	if l.syms == nil {
		f, err := elf.Open(l.path)
		if err != nil {
			return 0
		}
		defer f.Close()
		if l.read(f) != nil {
			return 0
		}
	}
	for i := range l.syms {
		s := &l.syms[i]
		if s.Name == name && s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC &&
			(version == "" && !s.VersionIndex.IsHidden() || s.Version == version || s.Version == "") {
			return s.Value + l.bias
		}
	}
	return 0
}

// hookSlots puts hooks into slots.
func (in *injection) hookSlots(p *tracee.Process, libs []*foreignLibrary, slots []foreignSlot) error {
	prog := in.modules[0]
	var hooks []relocate.Outside
	var to []foreignSlot
	for _, s := range slots {
		real, err := p.Word(s.addr)
		if err != nil || real == 0 {
			continue
		}
		if real >= s.lib.lowest && real < s.lib.highest && s.lib.defines(s.name, "") != real { // to be bound at the first call
			real = bind(libs, prog, s)
		}
		if real == 0 {
			in.doubts = append(in.doubts, profile.Warning{Code: "library", Message: fmt.Sprintf("what %s does by %s is not seen", s.lib.path, s.name)})
			continue
		}
		h, _ := section.Hook(s.name)
		hooks, to = append(hooks, relocate.Outside{Hook: h, Function: real}), append(to, s)
	}
	code, at, offsets := prog.spec.Outside(prog.code, hooks)
	if at+uint64(len(code)) > prog.size {
		return fmt.Errorf("no room for the hooks of %d calls of libraries", len(hooks))
	}
	if err := p.Write(code, prog.cache+at); err != nil {
		return err
	}
	for i, s := range to {
		if err := p.WriteWord(prog.cache+offsets[i], s.addr); err != nil {
			return err
		}
	}
	return nil
}

// bind finds the function that the dynamic linker would bind a slot to: the
// first of that name and version in the order of loading, the program's own
// first of all.
func bind(libs []*foreignLibrary, prog *module, s foreignSlot) uint64 {
	if s.lib.syms == nil { // they cannot be read
		return 0
	}
	version := ""
	for i := range s.lib.syms {
		if x := &s.lib.syms[i]; x.Name == s.name && x.Section == elf.SHN_UNDEF {
			version = x.Version
		}
	}
	for i := range prog.im.Funcs {
		if prog.im.Funcs[i].Name == s.name {
			return 0 // the program may define it for libraries too
		}
	}
	found := uint64(0)
	for _, l := range libs {
		if a := l.defines(s.name, version); a != 0 {
			if found != 0 {
				return 0 // which one comes first is not known here
			}
			found = a
		}
	}
	return found
}
