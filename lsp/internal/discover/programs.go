package discover

import (
	"debug/elf"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/skewlens/skewlens/dwarfmap"
	"github.com/skewlens/skewlens/internal/pattern"
)

// Bounds of a walk: a workspace may be a home folder.
const (
	maxEntries  = 50_000
	maxDepth    = 12
	maxPrograms = 200
	maxProgram  = 1 << 30 // bytes
)

// program is an executable or a shared library of the workspace.
type program struct {
	path     string
	built    time.Time
	size     int64
	runs     bool     // it can be started
	files    []string // that it is made of, absolute, sorted; none without debug information
	names    []string // of the files that its symbols name, without folders
	needs    []string // names of the shared libraries that it loads
	provides string   // its name as a library
}

// skipped are folders that hold no program of the workspace's own.
var skipped = map[string]bool{
	".git": true, ".dub": true, ".hg": true, ".svn": true, "node_modules": true, "__pycache__": true, ".venv": true, "venv": true,
	"CMakeFiles": true, ".fingerprint": true, "incremental": true, "meson-private": true, ".cache": true,
}

// programs are those in a folder, the last built first.
func (f *Finder) programs(dir string) []*program {
	var found []*program
	entries := 0
	f.disk.Uses("read", dir)
	real := dir // a walk does not follow links, nor where it begins
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		real = r
	}
	_ = filepath.WalkDir(real, func(path string, e fs.DirEntry, err error) error {
		path = filepath.Join(dir, strings.TrimPrefix(path, real))
		if entries++; entries > maxEntries || len(found) >= maxPrograms {
			return filepath.SkipAll
		}
		if err != nil {
			return nil // what cannot be read is not found
		}
		if e.IsDir() {
			if path != dir && (skipped[e.Name()] || e.Name() == "build" && cargos(path) || strings.Count(path[len(dir):], "/") > maxDepth) {
				return filepath.SkipDir
			}
			return nil
		}
		if p := f.program(path, e); p != nil {
			found = append(found, p)
		}
		return nil
	})
	slices.SortStableFunc(found, func(a, b *program) int { return b.built.Compare(a.built) })
	return found
}

// cargos reports whether a folder is one of cargo's, of things that come of its builds.
func cargos(path string) bool {
	_, err := os.Lstat(filepath.Join(filepath.Dir(path), ".fingerprint"))
	return err == nil
}

var hash = pattern.New(`-[0-9a-f]{16}$`)

// twice: cargo keeps a program that is no test under a name with a hash, too.
func twice(path string, info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1 && hash().MatchString(path) && cargos(filepath.Dir(path))
}

// program reads a file, if it is one and was not read before.
func (f *Finder) program(path string, e fs.DirEntry) *program {
	if !e.Type().IsRegular() {
		return nil
	}
	info, err := e.Info()
	if err != nil || info.Size() < 64 || info.Size() > maxProgram || info.Mode()&0o111 == 0 && !strings.Contains(e.Name(), ".so") || twice(path, info) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.known[path]; p != nil && p.built.Equal(info.ModTime()) && p.size == info.Size() {
		return p
	}
	f.disk.Uses("read", path)
	p := readProgram(path)
	if p == nil {
		return nil
	}
	p.built, p.size = info.ModTime(), info.Size()
	if f.known == nil || len(f.known) > 4*maxPrograms {
		f.known = map[string]*program{}
	}
	f.known[path] = p
	return p
}

// readProgram is nil for what is no program or library. The reader of the
// standard library is meant for well-formed files: its panics end here.
func readProgram(path string) (p *program) {
	defer func() {
		if recover() != nil {
			p = nil
		}
	}()
	x, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer x.Close()
	if x.Type != elf.ET_EXEC && x.Type != elf.ET_DYN || emptied(x) {
		return nil
	}
	p = &program{path: path, runs: x.Type == elf.ET_EXEC || starts(x)}
	p.needs, _ = x.ImportedLibraries()
	if names, err := x.DynString(elf.DT_SONAME); err == nil && len(names) > 0 {
		p.provides = names[0]
	} else {
		p.provides = filepath.Base(path)
	}
	symbols, _ := x.Symbols()
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FILE && s.Name != "" {
			p.names = append(p.names, filepath.Base(s.Name))
		}
	}
	if m, err := dwarfmap.Open(path); err == nil {
		p.files = m.Files()
		m.Close()
	}
	return p
}

// emptied reports whether a file has only a program's debug information, which was taken
// out of it: its code is left out.
func emptied(x *elf.File) bool {
	text := x.Section(".text")
	return text != nil && text.Type == elf.SHT_NOBITS
}

// starts reports whether a position-independent file is a program: it names an
// interpreter, or says that it is one.
func starts(x *elf.File) bool {
	for _, s := range x.Progs {
		if s.Type == elf.PT_INTERP {
			return true
		}
	}
	flags, err := x.DynValue(elf.DT_FLAGS_1)
	return err == nil && len(flags) > 0 && elf.DynFlag1(flags[0])&elf.DF_1_PIE != 0
}

// made says how surely a program is made of a file: not at all, or the better the
// more.
func (p *program) made(path, real string) int {
	switch {
	case has(p.files, path) || has(p.files, real):
		return 3
	case slices.ContainsFunc(p.files, func(f string) bool { return common(f, path) >= 2 && shared(p.path, f) <= shared(p.path, path) }): // built elsewhere
		return 2
	case len(p.files) == 0 && slices.Contains(p.names, filepath.Base(path)):
		return 1
	}
	return 0
}

func has(sorted []string, path string) bool {
	_, found := slices.BinarySearch(sorted, path)
	return found
}

// common is how many names two paths end in alike.
func common(a, b string) int {
	n := 0
	for filepath.Base(a) == filepath.Base(b) && a != b && a != "/" && b != "/" {
		n++
		a, b = filepath.Dir(a), filepath.Dir(b)
	}
	return n
}

// shared is how many folders two paths begin with alike: a program that shares more with
// the file which it names than with one that ends alike is not made of that, but of its
// project's own "src/main.c".
func shared(a, b string) int {
	n, x, y := 0, strings.Split(a, "/"), strings.Split(b, "/")
	for n < min(len(x), len(y))-1 && x[n] == y[n] {
		n++
	}
	return n
}

// debug reports whether the program has debug information of the workspace's own
// files: that of the libraries linked into it is of no help.
func (p *program) debug(dir string) bool {
	return slices.ContainsFunc(p.files, func(f string) bool { return strings.HasPrefix(f, dir+"/") })
}

// Sequential reports whether a program surely runs no directive of OpenMP's: it loads
// libraries, and none that has OpenMP's threads.
func (f *Finder) Sequential(path string) bool {
	info, err := f.disk.Stat(path)
	if err != nil {
		return false
	}
	p := f.program(path, fs.FileInfoToDirEntry(info))
	return p != nil && len(p.needs) > 0 && !slices.ContainsFunc(p.needs, func(l string) bool { return !ofLanguages().MatchString(l) })
}

// ofLanguages are libraries that programs load for their language alone.
var ofLanguages = pattern.New(`^(lib(c|m|pthread|dl|rt|stdc\+\+|gcc_s|gfortran|quadmath)|ld-linux.*)\.so`)

// ofProject takes from programs that may be made of a file, for they know its name, those
// that lie in another project: many have a "main.c".
func (f *Finder) ofProject(made []Candidate, path string) (own, others []Candidate) {
	for _, c := range made {
		home := f.Home(c.Program)
		if c.Unsure && f.signed(home) && !strings.HasPrefix(path, home+"/") {
			c.Why = strings.Replace(c.Why, "built from this file", "knows a file of this name", 1)
			others = append(others, c)
		} else {
			own = append(own, c)
		}
	}
	return own, others
}
