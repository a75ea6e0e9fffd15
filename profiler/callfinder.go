package profiler

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/section"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// arenas are functions of TBB's in which threads may wait for tasks.
var arenas = []string{"_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE", "_ZN3tbb6detail2r120isolate_within_arenaERNS0_2d113delegate_baseEl"}

// finder looks for calls of functions, and of those that call them.
type finder struct {
	im             *image.Image
	slots, entries map[uint64]bool // by which what is looked for now is called
	calls          map[uint64]bool // all that were found
	regions        map[uint64]bool
	mayMeet        map[uint64]bool // slots and entries of which it takes more to end a section: see meets
	may            map[uint64]bool // calls by these
	makes          uint64          // by which a program in Go makes goroutines; 0: not known
	makers         map[uint64]bool // functions that call it
}

// endings are the slots and the entries through which functions are called that may
// end a section.
func (x *finder) endings() {
	x.mayMeet, x.may = map[uint64]bool{}, map[uint64]bool{}
	imports := func(names map[uint64]string, to map[uint64]bool) {
		for a, name := range names {
			if may := slices.Contains(arenas, name); may || section.Meets(name) {
				to[a], x.mayMeet[a] = true, may
			}
		}
	}
	imports(x.im.GOT, x.slots)
	imports(x.im.PLT, x.entries)
	for i := range x.im.Funcs { // of static programs
		f := &x.im.Funcs[i]
		waits, parks := cfg.RustWaits(f.Name)
		if f.Name == goMakes {
			x.makes = f.Addr
		}
		if waits || section.Meets(f.Name) || section.Meets(strings.TrimLeft(f.Name, "_")) || section.Meets(cfg.Role(f.Name)) {
			x.entries[f.Addr], x.mayMeet[f.Addr] = true, parks || strings.HasPrefix(f.Name, goRuntime)
		}
	}
	x.ownSlots()
}

// ownSlots adds the slots through which code built without PLT calls the entries that
// are functions of the program's.
func (x *finder) ownSlots() {
	for i := range x.im.Sections {
		s := &x.im.Sections[i]
		if s.Name != ".got" {
			continue
		}
		for off := uint64(0); off+8 <= uint64(len(s.Data)); off += 8 {
			if to := binary.LittleEndian.Uint64(s.Data[off:]); x.entries[to] {
				x.slots[s.Addr+off] = true
				x.mayMeet[s.Addr+off] = x.mayMeet[to]
			}
		}
	}
}

// climb looks for the calls of functions; true: of which it takes more to end a section.
func (x *finder) climb(functions map[uint64]bool) []uint64 {
	x.slots, x.entries, x.mayMeet = map[uint64]bool{}, map[uint64]bool{}, functions
	for f := range functions {
		x.entries[f] = true
	}
	if len(functions) == 0 {
		return nil
	}
	x.ownSlots()
	return x.search()
}

// search finds calls that were not found before.
func (x *finder) search() (found []uint64) {
	asked, calls := map[uint64]bool{}, map[uint64]bool{}
	for i := range x.im.Sections {
		s := &x.im.Sections[i]
		if !s.Exec || strings.HasPrefix(s.Name, ".plt") {
			continue
		}
		candidates(s, x.slots, x.entries, func(addr uint64) {
			if f := x.im.FuncAt(addr); f != nil && !asked[f.Addr] && !x.entries[f.Addr] {
				asked[f.Addr] = true
				x.callsIn(f, calls)
				regionsIn(x.im, f, x.regions)
			}
		})
	}
	for a := range calls {
		if !x.calls[a] {
			x.calls[a] = true
			found = append(found, a)
		}
	}
	return found
}

// candidates finds bytes that could be a direct call or jump to an entry, or
// an indirect one through a slot.
func candidates(s *image.Section, slots, entries map[uint64]bool, found func(uint64)) {
	d := s.Data
	for i := 0; i+5 <= len(d); i++ {
		switch d[i] {
		case 0xe8, 0xe9:
			rel := int32(binary.LittleEndian.Uint32(d[i+1:]))
			if entries[s.Addr+uint64(i)+5+uint64(int64(rel))] {
				found(s.Addr + uint64(i))
			}
		case 0x48, 0x4c: // mov to a register, for a call through that
			if i+7 > len(d) || d[i+1] != 0x8b || d[i+2]&0xc7 != 5 {
				continue
			}
			rel := int32(binary.LittleEndian.Uint32(d[i+3:]))
			if slots[s.Addr+uint64(i)+7+uint64(int64(rel))] {
				found(s.Addr + uint64(i))
			}
		case 0xff:
			if i+6 > len(d) || d[i+1] != 0x15 && d[i+1] != 0x25 {
				continue
			}
			rel := int32(binary.LittleEndian.Uint32(d[i+2:]))
			if slots[s.Addr+uint64(i)+6+uint64(int64(rel))] {
				found(s.Addr + uint64(i))
			}
		}
	}
}

// callsIn decodes a function and keeps the calls in it of what is looked for. One
// through a register stands where that was loaded.
func (x *finder) callsIn(f *image.Func, calls map[uint64]bool) {
	eachInsn(x.im, f, func(in *x86.Insn) {
		switch in.Kind {
		case x86.Call, x86.Jmp, x86.CallInd, x86.JmpInd:
		default:
			if in.Map != 0 || in.Opcode != 0x8b || x.im.GOT[in.RIPTarget] != "" {
				return
			}
		}
		if name := cmp.Or(x.im.PLT[in.Target], x.im.GOT[in.RIPTarget]); section.Outlines(name) {
			return // it stands on another line than the region: see regionsIn
		}
		switch direct := in.Kind == x86.Call || in.Kind == x86.Jmp; {
		case direct && in.Target == x.makes:
			x.makers[f.Addr] = true
		case direct && x.entries[in.Target]:
			if to := x.im.FuncAt(in.Target); to != nil && section.Outlines(to.Name) {
				return
			}
			calls[in.Addr], x.may[in.Addr] = true, x.mayMeet[in.Target]
		case !direct && in.RIPOff != 0 && x.slots[in.RIPTarget]:
			calls[in.Addr], x.may[in.Addr] = true, x.mayMeet[in.RIPTarget]
		}
	})
}

// eachInsn decodes a function.
func eachInsn(im *image.Image, f *image.Func, do func(in *x86.Insn)) {
	code := im.Bytes(f.Addr)
	code = code[:min(uint64(len(code)), f.Size)]
	for off := 0; off < len(code); {
		in, err := x86.Decode(code[off:], f.Addr+uint64(off))
		if err != nil {
			off++ // what the decoder refuses is seldom in user code; it finds back soon
			continue
		}
		off += in.Len()
		do(&in)
	}
}
