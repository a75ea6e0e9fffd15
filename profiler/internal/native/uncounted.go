package native

import (
	"path"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// runtimes are libraries of the languages and their threads, by the beginning
// of their names: whoever waits for a report on them knows it. Of Ada's it takes seconds to
// see what they do, and tasks meet in them in ways that say nothing of where the program's do.
var runtimes = []string{"libc.", "libc-", "libm.", "libm-", "libmvec", "libpthread", "librt.", "librt-", "libdl.", "libdl-", "ld-", "ld.so", "libgcc_s",
	"libstdc++", "libc++", "libunwind", "libgomp", "libomp", "libompd", "libomptarget", "libiomp", "libatomic", "libquadmath", "libgfortran", "libresolv", "libanl", "libnss",
	"libgnat", "libgnarl",
	"libtbb.", "libtbbmalloc", "libasan", "libtsan", "libubsan", "liblsan", "libc.musl", "linux-vdso"}

func isRuntime(file string) bool {
	base := path.Base(file)
	return isMPI(base) || beginsWith(base, runtimes)
}

// beginsWith: a library's name is one of these, before its version and the like; of
// libomp, libompsolver is none.
func beginsWith(base string, names []string) bool {
	letter := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
	return slices.ContainsFunc(names, func(n string) bool {
		rest, is := strings.CutPrefix(base, n)
		return is && (rest == "" || !letter(rest[0]) || !letter(n[len(n)-1]))
	})
}

// seeLater sees which libraries a program has loaded since it began: when its first thread
// ends, as some are unloaded behind the threads that used them, and when it ends itself.
func (in *injection) seeLater(p *tracee.Process) {
	if in.modules[0].im.Interp == "" {
		return // it loads none
	}
	loaded, err := libraries(p)
	if err != nil {
		return // the program was killed
	}
	for _, l := range loaded {
		known := in.counts(l.path) || slices.Contains(in.loadedLater, l.path) || slices.ContainsFunc(in.waits.libraries, func(t timed) bool { return t.path == l.path })
		if !known && !isRuntime(l.path) && path.Base(path.Dir(l.path)) != "gconv" { // which is the C library's own
			in.loadedLater = append(in.loadedLater, l.path)
		}
	}
}

// uncounted are the libraries that were loaded and not moved, and the calls of the
// moved code that may lead there: by name, or by any pointer to what was loaded later.
func (in *injection) uncounted() (paths []string, calls []profile.Addr) {
	exports, pointers := map[string]bool{}, false
	for _, l := range in.waits.libraries {
		if isRuntime(l.path) {
			continue
		}
		paths = append(paths, l.path)
		im, err := image.OpenLibrary(l.path)
		if err != nil {
			continue // it is gone since
		}
		for name := range im.Exports {
			exports[name] = true
		}
	}
	for _, file := range in.loadedLater {
		if _, err := image.OpenLibrary(file); err == nil {
			paths, pointers = append(paths, file), true
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	slices.Sort(paths)
	for _, m := range in.modules {
		m.eachCall(func(*cfg.Func) bool { return true }, func(_ *cfg.Graph, _ *cfg.Block, c *cfg.Call) {
			if exports[c.Import] || pointers && !c.Known() {
				calls = append(calls, profile.Addr(c.Insn.Addr+m.base))
			}
		})
	}
	slices.Sort(calls)
	return slices.Compact(paths), slices.Compact(calls)
}

// eachCall visits the calls of some of the module's functions. Graph and block are
// there until the next function.
func (m *module) eachCall(of func(*cfg.Func) bool, visit func(*cfg.Graph, *cfg.Block, *cfg.Call)) {
	var space cfg.Space
	for _, q := range m.spec.Plans() {
		if !of(q.Func) {
			continue
		}
		g := m.spec.Program.Blocks(q.Func, &space)
		for _, b := range g.Blocks {
			for i := range b.Calls {
				visit(g, b, &b.Calls[i])
			}
		}
	}
}
