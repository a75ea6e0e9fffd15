package dwarfmap

import (
	"debug/dwarf"
	"strings"
)

// OpenMP's regions and tasks become functions of their own, with names that the
// compilers make up. A user has written them in another one, and that is named.
//
//	gcc, gfortran    solve._omp_fn.0                             of solve
//	clang, 16 on     solve.omp_outlined, solve.omp_outlined_debug__
//	clang, before    .omp_outlined., .omp_outlined._debug__.1, .omp_task_entry.    of whom they do not say
//
// Clang makes two of a region: the second is what the runtime calls, and the first
// is mostly inlined there. That call is nobody's.

// outlinedFrom tells the function that an outlined one was written in, "" where its
// name does not say; ok is false where it is none.
func outlinedFrom(name string) (in string, ok bool) {
	for _, mark := range []string{"._omp_fn.", "._omp_cpyfn.", ".omp_outlined", ".omp_task", ".omp."} {
		if i := strings.Index(name, mark); i >= 0 {
			return name[:i], true
		}
	}
	return "", false
}

// writtenIn is the name of the function that an outlined one, of a scope, was written
// in: the last one of the file that is declared before it. The caller holds mu.
func (m *Map) writtenIn(t *tables, s int32) string {
	file, line := m.declared(nameKey{t.scopes[s].die, t.data})
	best, found := int64(0), ""
	for i := range t.scopes {
		at := nameKey{t.scopes[i].die, t.data}
		if f, l := m.declared(at); f == file && l <= line && l > best {
			if name := m.nameOf(at); name != "" {
				if _, outlined := outlinedFrom(name); !outlined {
					best, found = l, name
				}
			}
		}
	}
	return found
}

// declared is where a function was, by the number of the file.
func (m *Map) declared(at nameKey) (file, line int64) {
	for range 4 {
		e := m.entry(at)
		if e == nil {
			return 0, 0
		}
		file, _ = e.Val(dwarf.AttrDeclFile).(int64)
		if line, _ = e.Val(dwarf.AttrDeclLine).(int64); line > 0 {
			return file, line
		}
		next, more := m.origin(e, at.in)
		if !more {
			return 0, 0
		}
		at = next
	}
	return 0, 0
}
