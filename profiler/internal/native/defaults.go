package native

import (
	"cmp"
	"debug/elf"
	"path"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Libraries that counted code needs are counted too, whether or not somebody asked
// for them, but for the languages' own. To analyse code takes up to half a second
// a megabyte, the first time; so there is an end to it: those that the program
// needs itself come before those that its libraries need, and small ones before
// large ones. Where one that is left over did work, the report says so (rule 20).
const defaultBytes = 4 << 20 // of code, of all of them together

// byDefault reports whether libraries are counted that nobody asked for.
func byDefault(patterns []string) bool { return !slices.Contains(patterns, backend.NoLibraries) }

// file is what a program or library says of itself.
type file struct {
	library
	soname string
	needs  []string
	code   uint64 // bytes of code
}

func readFile(l library) (x file, err error) {
	f, err := elf.Open(l.path)
	if err != nil {
		return x, err
	}
	defer f.Close()
	x.library, x.soname = l, path.Base(l.path)
	if names, err := f.DynString(elf.DT_SONAME); err == nil && len(names) > 0 {
		x.soname = names[0]
	}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 {
			x.code += s.Size
		}
	}
	x.needs, err = f.DynString(elf.DT_NEEDED)
	return x, err
}

// needsLibraries reports whether a program needs a library that may be counted.
func needsLibraries(program string) bool {
	x, err := readFile(library{path: program})
	return err == nil && slices.ContainsFunc(x.needs, func(name string) bool { return !isRuntime(name) })
}

// defaults chooses among the libraries that are loaded.
func defaults(program string, loaded []library) (chosen []library) {
	prog, err := readFile(library{path: program})
	if err != nil {
		return nil
	}
	files := map[string]file{}
	for _, l := range loaded {
		if x, err := readFile(l); err == nil && l.path != program && !isRuntime(l.path) {
			files[x.soname] = x
		}
	}
	left := uint64(defaultBytes)
	for level := prog.needs; len(level) > 0; {
		var found []file
		for _, name := range level {
			name = path.Base(name) // it is a path where the library has no name of its own
			if x, ok := files[name]; ok {
				delete(files, name)
				found = append(found, x)
			}
		}
		slices.SortStableFunc(found, func(a, b file) int { return cmp.Compare(a.code, b.code) })
		level = nil
		for _, x := range found {
			if x.code > 0 && x.code <= left {
				left -= x.code
				chosen = append(chosen, x.library)
				level = append(level, x.needs...)
			}
		}
	}
	return chosen
}

// moveAll analyses the modules and maps their copies. Libraries that nobody
// asked for and that cannot be moved stay as they are.
func (in *injection) moveAll(p *tracee.Process, opt options, dir string) error {
	for {
		at, err := in.tryMove(p, opt, dir)
		if err == nil || !in.modules[at].byDefault {
			return err
		}
		for _, m := range in.modules {
			m.unmap(p)
		}
		in.modules = slices.Delete(in.modules, at, at+1)
	}
}

// tryMove does so, or says which module cannot be moved.
func (in *injection) tryMove(p *tracee.Process, opt options, dir string) (at int, err error) {
	if at, err = in.analyseAll(p, opt, dir); err != nil {
		return at, err
	}
	for at, m := range in.modules {
		if err := m.put(p); err != nil {
			return at, err
		}
		if m.byDefault {
			if _, err := m.texts(p); err != nil {
				return at, err
			}
		}
	}
	return 0, nil
}
