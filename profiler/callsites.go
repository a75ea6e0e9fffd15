package profiler

import (
	"cmp"
	"encoding/binary"
	"sort"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/section"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// CallSites finds, without running it, the calls in a program that may end a
// parallel section, by address. Calls in code without line information are
// left out, and those that a header of the system makes stand where it was
// inlined.
//
//	bytes ─▶ what looks like a call of a hooked function ─▶ decode that function ─▶ line
//
// Only functions that hold a candidate are decoded, so that a program of many
// megabytes takes little longer than to read it.
func CallSites(path string) ([]profile.Location, error) {
	im, err := image.Open(path)
	if err != nil {
		return nil, err
	}
	calls, regions := map[uint64]bool{}, map[uint64]bool{}
	slots, entries := endings(im)
	if len(slots)+len(entries) == 0 {
		return nil, nil
	}
	asked := map[uint64]bool{}
	for i := range im.Sections {
		s := &im.Sections[i]
		if !s.Exec || strings.HasPrefix(s.Name, ".plt") {
			continue
		}
		candidates(s, slots, entries, func(addr uint64) {
			if f := im.FuncAt(addr); f != nil && !asked[f.Addr] && !entries[f.Addr] {
				asked[f.Addr] = true
				callsIn(im, f, slots, entries, calls)
				regionsIn(im, f, regions)
			}
		})
	}
	if len(calls) == 0 {
		return nil, nil
	}
	lines, err := OpenLines(path)
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	for a := range regions {
		if l := lines.Locate(profile.Addr(a)); forks(l, path) {
			calls[a] = true
		}
	}
	var out []profile.Location
	for a := range calls {
		l := lines.Locate(profile.Addr(a))
		if n := l.Outside(); n > 0 {
			l.Frame, l.InlinedAt = l.InlinedAt[n-1], l.InlinedAt[n:]
		}
		if l.Known() && !l.Frame.System() {
			out = append(out, l)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Address < out[j].Address })
	return out, nil
}

// endings are the slots and the entries through which such functions are called.
func endings(im *image.Image) (slots, entries map[uint64]bool) {
	slots, entries = map[uint64]bool{}, map[uint64]bool{}
	for a, name := range im.GOT {
		if section.Meets(name) {
			slots[a] = true
		}
	}
	for a, name := range im.PLT {
		if section.Meets(name) {
			entries[a] = true
		}
	}
	for i := range im.Funcs { // of static programs
		if f := &im.Funcs[i]; section.Meets(f.Name) || section.Meets(strings.TrimLeft(f.Name, "_")) {
			entries[f.Addr] = true
		}
	}
	return slots, entries
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

// callsIn decodes a function and keeps the calls in it that end sections.
func callsIn(im *image.Image, f *image.Func, slots, entries, calls map[uint64]bool) {
	eachCall(im, f, func(in *x86.Insn) {
		if name := cmp.Or(im.PLT[in.Target], im.GOT[in.RIPTarget]); section.Outlines(name) {
			return // it stands on another line than the region: see regionsIn
		}
		direct := in.Kind == x86.Call || in.Kind == x86.Jmp
		if direct && entries[in.Target] || !direct && in.RIPOff != 0 && slots[in.RIPTarget] {
			calls[in.Addr] = true
		}
	})
}

// eachCall decodes a function and goes through its calls and the jumps that may be
// some, in their order.
func eachCall(im *image.Image, f *image.Func, do func(in *x86.Insn)) {
	eachJump(im, f, func(in *x86.Insn) {
		if in.Kind != x86.Jcc {
			do(in)
		}
	})
}

// eachJump is eachCall and goes through those on a condition too.
func eachJump(im *image.Image, f *image.Func, do func(in *x86.Insn)) {
	code := im.Bytes(f.Addr)
	code = code[:min(uint64(len(code)), f.Size)]
	for off := 0; off < len(code); {
		in, err := x86.Decode(code[off:], f.Addr+uint64(off))
		if err != nil {
			off++ // what the decoder refuses is seldom in user code; it finds back soon
			continue
		}
		off += in.Len()
		switch in.Kind {
		case x86.Call, x86.Jmp, x86.CallInd, x86.JmpInd, x86.Jcc:
			do(&in)
		}
	}
}
