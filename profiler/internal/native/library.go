package native

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Libraries are moved and counted as the program is, where that is wished. At
// the program's entry the dynamic linker has loaded them, with all that the
// program needs and what is preloaded; their constructors have run and left
// nothing on a stack. For what the program loads later see loader.go.

// addLibraries adds the modules of the libraries whose names match, and
// analyses all of them, the program included: what a call of a library does
// depends on what that library does.
func (in *injection) addLibraries(p *tracee.Process, src source, j backend.Job) error {
	doubt := func(format string, args ...any) {
		in.doubts = append(in.doubts, profile.Warning{Code: "library", Message: fmt.Sprintf(format, args...)})
	}
	loaded, err := libraries(p)
	if err != nil {
		return err
	}
	prog := in.modules[0]
	for _, pattern := range j.Libraries {
		if !strings.Contains(pattern, "/") && !slices.ContainsFunc(loaded, func(l library) bool { return matches(pattern, l.path) }) {
			doubt("no library that %s matches was loaded when the program started; give the path of one that it loads later", pattern)
		}
	}
	for _, l := range loaded {
		if l.path == prog.im.Path || !slices.ContainsFunc(j.Libraries, func(x string) bool { return matches(x, l.path) }) {
			continue
		}
		switch im, err := image.OpenLibrary(l.path); {
		case p.Threads() > 1:
			doubt("%s is not counted: its constructors or those of another library have started threads", l.path)
		case ofTheSystem(l.path):
			doubt("%s is not counted: it is a part of the C library, which runs before and behind every program", l.path)
		case err != nil:
			doubt("%v", err)
		case im.HasGo:
			doubt("%s is not counted: it is written in Go", l.path)
		default:
			if err := src.lines.Add(l.path); err != nil {
				return err
			}
			in.modules = append(in.modules, &module{analysis: &analysis{im: im}, bias: l.lowest - im.Lowest&^0xfff,
				base: uint64(profile.LibraryStep) * uint64(len(in.modules))})
		}
	}
	for _, m := range in.later(src, j, loaded) {
		m.dlopened, m.base = true, uint64(profile.LibraryStep)*uint64(len(in.modules))
		in.modules = append(in.modules, m)
	}
	return in.analyseAll(src.options, j.Analyses)
}

// analyseAll analyses modules that run in one process.
func (in *injection) analyseAll(opt options, dir string) (err error) {
	for i, m := range in.modules {
		opt.among = nil
		for k, x := range in.modules {
			if k != i {
				opt.among = append(opt.among, x.im)
			}
		}
		if m.analysis, err = analyse(m.im, opt, dir); err != nil {
			return err
		}
		if m.spec.Program.UsesGS() {
			return fmt.Errorf("%s uses the GS register, in which this backend keeps its counters; leave it out of --lib", m.im.Path)
		}
		opt.from = m.spec.Next()
	}
	return nil
}

// library is a shared library that a process has loaded.
type library struct {
	path   string
	lowest uint64 // its first byte
}

// libraries lists the files of which a process executes code, by address.
func libraries(p *tracee.Process) (list []library, err error) {
	ms, err := p.Mappings()
	if err != nil {
		return nil, err
	}
	lowest := map[string]uint64{}
	for _, m := range ms {
		if at, known := lowest[m.Path]; !known || m.Lo < at {
			lowest[m.Path] = m.Lo
		}
	}
	for _, m := range ms {
		if m.Exec && filepath.IsAbs(m.Path) && !slices.ContainsFunc(list, func(l library) bool { return l.path == m.Path }) {
			list = append(list, library{m.Path, lowest[m.Path]})
		}
	}
	return list, nil
}

// matches reports whether a library is meant by a pattern: by its path, its
// file's name, or that without what comes behind .so.
func matches(pattern, file string) bool {
	base := path.Base(file)
	name, _, _ := strings.Cut(base, ".so")
	for _, x := range []string{file, base, name, name + ".so"} {
		if ok, err := path.Match(pattern, x); ok && err == nil {
			return true
		}
	}
	return false
}

// ofTheSystem: the dynamic linker and the C library.
func ofTheSystem(file string) bool {
	base := path.Base(file)
	for _, x := range []string{"ld-", "ld.so", "libc.so", "libc-", "libpthread", "libc.musl"} {
		if strings.HasPrefix(base, x) {
			return true
		}
	}
	return false
}
