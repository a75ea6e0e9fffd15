package dwarfmap

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"io"
	"path"
	"sort"
)

// row says that the code from addr to the next row comes from one place.
type row struct {
	addr         uint64
	file         int32 // index into tables.files
	line, column int32 // line 0: no place
	stmt         bool
}

// sequence is a stretch of rows that covers [lo, hi) without a gap.
type sequence struct {
	lo, hi      uint64
	first, last int // rows
}

// readLines runs a unit's line program.
func (m *Map) readLines(u *unit, t *tables) error {
	if err := vetLineHeader(m.lineSection, m.order, u.entry); err != nil {
		return err
	}
	r, err := m.data.LineReader(u.entry)
	if err != nil || r == nil {
		return err
	}
	files := fileTable{of: map[*dwarf.LineFile]int32{}, byPath: map[string]int32{}, unit: u, t: t}
	files.add(nil)
	var e dwarf.LineEntry
	first := 0
	for {
		if err = r.Next(&e); err != nil {
			break
		}
		if !e.EndSequence {
			t.rows = append(t.rows, row{e.Address, files.add(e.File), clamp(e.Line), clamp(e.Column), e.IsStmt})
			if t.rows[len(t.rows)-1].file == 0 {
				t.rows[len(t.rows)-1].line = 0 // a line of no file is no place
			}
			continue
		}
		t.endSequence(m, first, e.Address)
		first = len(t.rows)
	}
	t.rows = t.rows[:first] // a sequence without an end covers nothing
	sort.SliceStable(t.sequences, func(i, j int) bool { return t.sequences[i].lo < t.sequences[j].lo })
	for _, f := range r.Files() {
		t.callFiles = append(t.callFiles, files.add(f))
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// endSequence closes the sequence of the rows from first on, or drops it if
// the linker threw its code away.
func (t *tables) endSequence(m *Map, first int, end uint64) {
	rows := t.rows[first:]
	if len(rows) == 0 {
		return
	}
	byAddr := func(i, j int) bool { return rows[i].addr < rows[j].addr }
	if !sort.SliceIsSorted(rows, byAddr) {
		sort.SliceStable(rows, byAddr)
	}
	if lo := rows[0].addr; lo < end && m.isCode(lo) {
		t.sequences = append(t.sequences, sequence{lo, end, first, len(t.rows)})
	} else {
		t.rows = t.rows[:first]
	}
}

func clamp(n int) int32 {
	if n < 0 || n > 1<<30 {
		return 0
	}
	return int32(n)
}

// fileTable turns the files of a line table into cleaned absolute paths.
type fileTable struct {
	of     map[*dwarf.LineFile]int32
	byPath map[string]int32
	unit   *unit
	t      *tables
}

// add returns a file's index in tables.files; 0 is no file.
func (ft *fileTable) add(f *dwarf.LineFile) int32 {
	if i, ok := ft.of[f]; ok {
		return i
	}
	p := ""
	if f != nil {
		p = ft.unit.cleanPath(f.Name)
	}
	i, ok := ft.byPath[p]
	if !ok {
		i = int32(len(ft.t.files))
		ft.byPath[p] = i
		ft.t.files = append(ft.t.files, p)
	}
	ft.of[f] = i
	return i
}

// cleanPath joins a file's name to the directory of the compilation, where
// debug/dwarf has not (the relative directories of DWARF 5). Names that
// compilers make up ("<artificial>" of LTO, "<built-in>") are no files.
func (u *unit) cleanPath(name string) string {
	base := path.Base(name)
	if name == "" || base[0] == '<' && base[len(base)-1] == '>' {
		return ""
	}
	switch {
	case !path.IsAbs(name) && path.IsAbs(u.dir):
		name = path.Join(u.dir, name)
	case path.IsAbs(u.name) && path.Clean(name) == path.Join(u.dir, u.name):
		// debug/dwarf joins even where the name is absolute (clang, DWARF 5:
		// the source as it was given, in directory 0).
		name = u.name
	}
	return path.Clean(name)
}

// sequenceOf finds the sequence that holds an address.
func (t *tables) sequenceOf(a uint64) sequence {
	i := sort.Search(len(t.sequences), func(i int) bool { return t.sequences[i].lo > a }) - 1
	// Sequences overlap only in damaged tables; look back a little.
	for j := i; j >= 0 && j > i-4; j-- {
		if s := t.sequences[j]; a < s.hi {
			return s
		}
	}
	return sequence{}
}

// last is the row of an address, the last one where several stand there (the
// earlier ones are views of it without instructions of their own); −1 if
// there is none.
func (t *tables) last(a uint64) int {
	s := t.sequenceOf(a)
	rows := t.rows[s.first:s.last]
	return s.first + sort.Search(len(rows), func(i int) bool { return rows[i].addr > a }) - 1
}

// vetLineHeader checks the counts in the header of a DWARF 5 line table, which
// debug/dwarf believes and allocates by.
func vetLineHeader(b []byte, order byteOrder, cu *dwarf.Entry) error {
	off, ok := cu.Val(dwarf.AttrStmtList).(int64)
	if !ok || off < 0 || off > int64(len(b)) {
		return nil // debug/dwarf says what is wrong
	}
	c := &cursor{b: b[off:], order: order}
	wide := false
	if n := c.uint(4); n == 0xffffffff {
		wide = true
		c.uint(8)
	}
	if c.uint(2) < 5 {
		return nil
	}
	c.uint(2)
	c.offset(wide)
	c.uint(5)
	if n := c.uint(1); n > 0 {
		c.skip(n - 1)
	}
	for _, table := range []string{"directories", "files"} {
		type pair struct{ what, form uint64 }
		var format []pair
		for range c.uint(1) {
			format = append(format, pair{c.uleb(), c.uleb()})
		}
		n := c.uleb()
		if c.bad || n > uint64(len(c.b)) || n > 0 && len(format) == 0 {
			return fmt.Errorf("line table at %#x announces %d %s", off, n, table)
		}
		for range n {
			for _, f := range format {
				c.form(f.form, wide)
			}
		}
	}
	if c.bad {
		return fmt.Errorf("line table at %#x ends in its header", off)
	}
	return nil
}
