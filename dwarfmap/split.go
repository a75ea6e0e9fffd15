package dwarfmap

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// With -gsplit-dwarf what linkers have no use for stays in a file beside each object file:
//
//	program: skeleton unit ── lines, ranges, DW_AT_dwo_name, an id
//	           │                       .debug_addr ◀──────┐ addresses, by their numbers
//	           └──▶ solve.dwo: split unit of the same id ─┘ functions, inlined calls, names
//	                or all of them in program.dwp (package.go)
//
// What the unit says is by numbers into tables of its file, which begin behind their headers,
// and into the part of .debug_addr that the skeleton names (DWARF 5, 3.1.3 and 7.3.2).
// debug/dwarf takes where these begin from a unit that says so: it is given them from there on.
// Nor does a split unit say where its code begins, by which its ranges may count: rangelists.go.

// readSplit reads what a unit's functions are in for its tables, and returns the unit's first
// DIE there; nil: there is nothing of use, and a warning says so.
func (m *Map) readSplit(u *unit, t *tables) *dwarf.Entry {
	name, _ := m.str(u.entry, dwarf.AttrDwoName)
	older, _ := m.str(u.entry, attrGNUDwoName)
	name = cmp.Or(name, older, u.name)
	var e *dwarf.Entry
	err := errors.New("made by the rules before DWARF 5")
	if u.entry.Tag == tagSkeletonUnit {
		if e, err = m.splitEntry(u, t, name); err == nil {
			return e
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("not there")
	}
	m.warn("split-debug-info", "%s, in which the compiler put functions of %s, is %.200s: lines are exact, inlined calls are not shown; build again, with -gdwarf-5 and without -flto, to see them", name, m.path, err)
	return nil
}

// splitEntry looks for the unit in its .dwo file, where the compiler put that or beside the
// program, as both may have been moved, and in the program's .dwp file.
func (m *Map) splitEntry(u *unit, t *tables, name string) (*dwarf.Entry, error) {
	id, dir, at := unitID(m.info, u.entry.Offset, m.order), filepath.Dir(m.path), name
	if !filepath.IsAbs(at) {
		at = filepath.Join(u.dir, name)
	}
	var failed error
	for _, path := range []string{at, filepath.Join(dir, name), filepath.Join(dir, filepath.Base(name))} {
		got, err := readDwo(path)
		if err == nil {
			var e *dwarf.Entry
			if e, err = m.enter(u, t, got, id); err == nil {
				return e, nil
			}
		}
		if failed == nil || errors.Is(failed, fs.ErrNotExist) {
			failed = err
		}
	}
	got, err := m.inPackage(id)
	if err != nil || got == nil {
		return nil, cmp.Or(err, failed)
	}
	return m.enter(u, t, got, id)
}

// splitSections are those that functions, their names and their ranges are in.
var splitSections = []string{"abbrev", "info", "str", "str_offsets", "rnglists"}

func readDwo(path string) (got map[string][]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g, err := elf.NewFile(f)
	if err != nil {
		return nil, fmt.Errorf("no sound ELF file (%w)", err)
	}
	got = map[string][]byte{}
	for _, name := range splitSections {
		if got[name], err = section(g, name+".dwo"); err != nil {
			return nil, fmt.Errorf("damaged (%w)", err)
		}
	}
	infos := slices.DeleteFunc(g.Sections, func(s *elf.Section) bool { return s.Name != ".debug_info.dwo" })
	for i := 1; i < len(infos); i++ { // each type has one of its own (-fdebug-types-section)
		b, err := contents(infos[i])
		if err != nil {
			return nil, fmt.Errorf("damaged (%w)", err)
		}
		got["info"] = append(got["info"], b...)
	}
	return got, nil
}

// enter finds the unit of an id in sections.
func (m *Map) enter(u *unit, t *tables, got map[string][]byte, id uint64) (*dwarf.Entry, error) {
	heads, err := unitHeaders(got["info"], m.order)
	i := slices.IndexFunc(heads, func(at dwarf.Offset) bool { return unitID(got["info"], at, m.order) == id })
	if i < 0 {
		return nil, cmp.Or(err, fmt.Errorf("of another build, without the id %#x", id))
	}
	base, _ := u.entry.Val(dwarf.AttrAddrBase).(int64)
	lists := &rangeLists{addrs: m.addrs[min(uint64(base), uint64(len(m.addrs))):], b: behind(got["rnglists"], moreOfLists, m.order), order: m.order}
	lists.base, _ = u.entry.Val(dwarf.AttrLowpc).(uint64)
	data, err := splitData(got, lists, m.order)
	if err != nil {
		return nil, fmt.Errorf("damaged (%w)", err)
	}
	r := data.Reader()
	r.Seek(heads[i])
	e, err := r.Next()
	if err != nil || e == nil {
		return nil, fmt.Errorf("damaged (%v)", err)
	}
	if name, _ := e.Val(dwarf.AttrName).(string); name == "<artificial>" {
		return nil, errors.New("of GCC's link-time optimisation, which leaves names out")
	}
	t.data, t.lists = data, lists
	for _, b := range got {
		t.kept += int64(len(b))
	}
	return e, nil
}

const (
	moreOfStrings = 4 // bytes of a table's header behind its length: the version, and padding,
	moreOfLists   = 8 // or the sizes of addresses and segments, and how many lists there are
)

// splitData are the sections of a .dwo file without the headers of their tables.
func splitData(got map[string][]byte, lists *rangeLists, order binary.ByteOrder) (*dwarf.Data, error) {
	d, err := dwarf.New(got["abbrev"], nil, nil, got["info"], nil, nil, nil, got["str"])
	if err != nil {
		return nil, err
	}
	for _, s := range []struct {
		name string
		b    []byte
	}{{"addr", lists.addrs}, {"str_offsets", behind(got["str_offsets"], moreOfStrings, order)}, {"rnglists", lists.b}} {
		if err := d.AddSection(".debug_"+s.name, s.b); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// behind is what comes behind the header of a table: its length, and n bytes.
func behind(b []byte, n int, order binary.ByteOrder) []byte {
	if n += 4; len(b) >= 4 && order.Uint32(b) == 0xffffffff {
		n += 8
	}
	return b[min(n, len(b)):]
}

// unitID is what a skeleton and its split unit have in common: it ends their headers.
func unitID(info []byte, die dwarf.Offset, order binary.ByteOrder) uint64 {
	if die < 8 || int(die) > len(info) {
		return 0
	}
	return order.Uint64(info[die-8:])
}
