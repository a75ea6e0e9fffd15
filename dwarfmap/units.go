package dwarfmap

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"slices"
	"sort"
	"sync/atomic"
)

// unit is a compilation unit: what is known before its tables are parsed.
type unit struct {
	entry   *dwarf.Entry
	dir     string // DW_AT_comp_dir
	name    string // DW_AT_name: the source as the compiler was given it
	split   bool   // its functions are in a .dwo file
	tables  atomic.Pointer[tables]
	used    atomic.Int64 // Map.clock at the last lookup
	damaged bool         // do not parse again; guarded by Map.mu
}

// unitRange is a stretch of code of one unit. reach is the largest hi of this
// and all ranges before it: where it is not above an address, no earlier range
// holds the address either.
type unitRange struct {
	span
	reach uint64
	unit  *unit
}

const (
	attrMIPSLinkageName = dwarf.Attr(0x2007) // before DWARF 4
	attrGNUDwoName      = dwarf.Attr(0x2130) // split DWARF before version 5
	tagSkeletonUnit     = dwarf.Tag(0x4a)
)

// readUnits reads the DIE that heads each unit, for its ranges.
func (m *Map) readUnits(f *elf.File, debugDir string) error {
	data, got, err := dwarfData(f)
	if errors.Is(err, errNoInfo) {
		return nil
	}
	if err != nil {
		return err
	}
	heads, err := unitHeaders(got["info"], f.ByteOrder)
	if err != nil {
		m.damaged("its units", err)
	}
	m.data, m.info, m.lineSection, m.order = data, got["info"], got["line"], f.ByteOrder
	m.addrs, m.alt = got["addr"], m.openAlt(f, debugDir)
	r := data.Reader()
	for _, at := range heads {
		r.Seek(at)
		e, err := r.Next()
		if err == nil && e == nil {
			err = errors.New("it is empty")
		}
		if err != nil {
			m.damaged("a unit", err)
			continue
		}
		if e.Tag != dwarf.TagCompileUnit && e.Tag != tagSkeletonUnit {
			continue // a partial unit: others import it, it has no code
		}
		u := &unit{entry: e, split: e.Tag == tagSkeletonUnit || e.Val(attrGNUDwoName) != nil || e.Val(dwarf.AttrDwoName) != nil}
		u.dir, _ = m.str(e, dwarf.AttrCompDir)
		u.name, _ = m.str(e, dwarf.AttrName)
		m.addUnit(u)
	}
	m.publish()
	return nil
}

func (m *Map) addUnit(u *unit) {
	_, hasLines := u.entry.Val(dwarf.AttrStmtList).(int64)
	if hasLines {
		m.lines = true
	}
	m.units = append(m.units, u)
	ranges, err := m.data.Ranges(u.entry)
	if err != nil {
		m.damaged("the ranges of a unit", err)
	}
	n := len(m.ranges)
	for _, r := range ranges {
		m.addRange(u, r[0], r[1])
	}
	if len(m.ranges) == n && hasLines {
		m.loose = append(m.loose, u)
	}
}

// addRange puts code of a unit into the index, unless it was thrown away.
func (m *Map) addRange(u *unit, lo, hi uint64) {
	if lo < hi && m.isCode(lo) {
		m.ranges = append(m.ranges, unitRange{span: span{lo, hi}, unit: u})
	}
}

// publish sorts the index and hands it to the lookups, which take no lock.
func (m *Map) publish() {
	index := slices.Clone(m.ranges)
	sort.SliceStable(index, func(i, j int) bool { return index[i].lo < index[j].lo })
	reach := uint64(0)
	for i := range index {
		reach = max(reach, index[i].hi)
		index[i].reach = reach
	}
	m.index.Store(&index)
}

// maxOverlap is how many units that claim one address are looked at; normally
// one does.
const maxOverlap = 8

// unitsAt lists the units whose ranges hold an address, the narrowest first,
// in a slice of found.
func (m *Map) unitsAt(a uint64, found *[maxOverlap]unitRange) []unitRange {
	if n := m.find(a, found); n > 0 || len(m.loose) == 0 {
		return found[:n]
	}
	m.loosen()
	return found[:m.find(a, found)]
}

// loosen gives the units that do not say where their code is the ranges of
// their line tables; once, at the first address that no other unit knows.
func (m *Map) loosen() {
	m.loosened.Do(func() {
		for _, u := range m.loose {
			t := m.load(u)
			if t == nil {
				continue
			}
			m.mu.Lock()
			for _, s := range t.sequences {
				m.addRange(u, s.lo, s.hi)
			}
			m.mu.Unlock()
		}
		m.publish()
	})
}

func (m *Map) find(a uint64, found *[maxOverlap]unitRange) int {
	p := m.index.Load()
	if p == nil {
		return 0
	}
	index, n := *p, 0
	i := sort.Search(len(index), func(i int) bool { return index[i].lo > a }) - 1
	for ; i >= 0 && index[i].reach > a && n < maxOverlap; i-- {
		if a < index[i].hi {
			found[n] = index[i]
			n++
		}
	}
	for i := 1; i < n; i++ { // few: a function that sorts would have them on the heap
		for k := i; k > 0 && found[k].hi-found[k].lo < found[k-1].hi-found[k-1].lo; k-- {
			found[k], found[k-1] = found[k-1], found[k]
		}
	}
	return n
}
