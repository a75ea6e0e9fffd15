package native

import (
	"debug/elf"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Libraries are moved and counted as the program is, where that is wished. At
// the program's entry the dynamic linker has loaded them, with all that the
// program needs and what is preloaded; their constructors have run and left
// nothing on the first thread's stack. For threads that they have started see
// early.go, for what the program loads later loader.go.

// addLibraries adds the modules of the libraries that are to be counted.
func (in *injection) addLibraries(p *tracee.Process, j backend.Job) error {
	doubt := func(format string, args ...any) {
		in.doubts = append(in.doubts, profile.Warning{Code: "library", Message: fmt.Sprintf(format, args...)})
	}
	loaded, err := libraries(p)
	if err != nil {
		return err
	}
	prog := in.modules[0]
	for _, pattern := range j.Libraries {
		if pattern != backend.NoLibraries && !strings.Contains(pattern, "/") && !slices.ContainsFunc(loaded, func(l library) bool { return matches(pattern, l.path) }) {
			doubt("no library that %s matches was loaded when the program started; give the path of one that it loads later", pattern)
		}
	}
	var unasked []library
	if byDefault(j.Libraries) {
		unasked = defaults(prog.im.Path, loaded)
	}
	for _, l := range loaded {
		asked := slices.ContainsFunc(j.Libraries, func(x string) bool { return matches(x, l.path) })
		if l.lowest == prog.bias+prog.im.Lowest&^0xfff || !asked && !slices.Contains(unasked, l) {
			continue
		}
		im, err := image.OpenLibrary(l.path)
		if !asked && (err != nil || im.HasGo) {
			continue
		}
		switch {
		case ofTheSystem(l.path):
			doubt("%s is not counted: it is a part of the C library, which runs before and behind every program", l.path)
		case err != nil:
			doubt("%v", err)
		case im.HasGo:
			doubt("%s is not counted: it is written in Go", l.path)
		default:
			in.modules = append(in.modules, &module{analysis: &analysis{im: im}, bias: l.lowest - im.Lowest&^0xfff, byDefault: !asked})
		}
	}
	in.house()
	for _, m := range in.later(j, loaded) {
		m.dlopened = true
		in.modules = append(in.modules, m)
	}
	return nil
}

// house says where the libraries' copies lie best: each as far from its library
// as no other, since they may lie in any order. So it is the same in each
// run, and their analyses can be kept.
func (in *injection) house() {
	const far = 128 << 20
	const most = relocate.Reach/far - 1
	libs := in.modules[1:]
	slices.SortFunc(libs, func(a, b *module) int { return strings.Compare(a.im.Path, b.im.Path) })
	for i, m := range libs {
		if d := far * uint64(1+i%most); m.im.Highest-m.im.Lowest+d < relocate.Reach {
			m.home = (m.im.Lowest - d) &^ 0xfff
		}
	}
}

// number gives the modules their places in the profile, and reads their lines.
func (in *injection) number(lines backend.Lines) error {
	for i, m := range in.modules {
		m.base = uint64(profile.LibraryStep) * uint64(i)
		if i == 0 {
			continue
		}
		if err := lines.Add(m.im.Path, m.byDefault); err != nil {
			return err
		}
	}
	return nil
}

// analyseAll analyses modules that run in one process, the program included:
// what a call of a library does depends on what that library does. at is the
// one that cannot be.
func (in *injection) analyseAll(p *tracee.Process, opt options, dir string) (at int, err error) {
	beside, err := in.beside(p)
	if err != nil {
		return 0, err
	}
	for i, m := range in.modules {
		opt.among = nil
		for k, x := range in.modules {
			if k != i {
				opt.among = append(opt.among, x.im)
			}
		}
		opt.beside, opt.home, opt.held = beside, m.home, m.held
		opt.probe.Caches.Erased = opt.erasedIn(i)
		if m.analysis, err = analyse(m.im, opt, dir); err != nil {
			return i, err
		}
		switch {
		case !m.spec.Program.UsesGS():
		case i == 0:
			return i, usesGS(m.im.Path)
		default:
			return i, fmt.Errorf("%s uses the GS register, in which this backend keeps its counters; leave it out of --lib", m.im.Path)
		}
		opt.from = m.spec.Next()
	}
	return 0, nil
}

// beside lists the functions that matter (cfg.Matters) of those that libraries
// import which are loaded and not moved. What is known of the languages' own
// is that they load nothing that would matter; any other may do whatever it
// likes in the C library, or by itself.
func (in *injection) beside(p *tracee.Process) (names []string, err error) {
	loaded, err := libraries(p)
	if err != nil {
		return nil, err
	}
	for _, l := range loaded {
		if ofTheSystem(l.path) || strings.HasPrefix(path.Base(l.path), "libgcc_s") ||
			slices.ContainsFunc(in.modules, func(m *module) bool { return l.lowest == m.bias+m.im.Lowest&^0xfff }) {
			continue
		}
		ours := isRuntime(l.path)
		if !ours {
			names = append(names, "backtrace", "sigaction")
		}
		f, err := elf.Open(l.path)
		if err != nil {
			continue
		}
		d, err := readDynamic(f)
		f.Close()
		if err != nil {
			continue
		}
		d.imported(func(name string) {
			if cfg.Matters(name) && !(ours && strings.HasPrefix(name, "dl")) {
				names = append(names, name)
			}
		})
	}
	slices.Sort(names)
	return slices.Compact(names), nil
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
