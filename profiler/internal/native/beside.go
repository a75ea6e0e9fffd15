package native

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Where caches are simulated, the code of libraries that are not counted is moved,
// too, the languages' own and the C library's first of all: else what they bring into
// the caches, and take out, would be missing. Their copies say nothing: what they
// miss counts at the call in the program that led there (package relocate, ranges.go),
// and all else is as if they ran where they always did. Functions that make system
// calls do: these are timed there, and threads are born and end in them.
//
// An analysis depends on nothing but its library, so all programs share what is kept
// of it. It takes whoever runs beside for one that may do anything.

// besideBytes is how much code of such libraries is moved.
const besideBytes = 16 << 20

// anything is what a library may be among: who raises exceptions, walks stacks, jumps
// over frames, cancels threads and has handlers for signals.
var anything = []string{"_Unwind_RaiseException", "backtrace", "dlopen", "longjmp", "pthread_cancel", "sigaction"}

// moveBeside moves their code, and reports whether what they access is simulated. It is
// not without the C library's: what others access would be half of what they do.
func (in *injection) moveBeside(p *tracee.Process, opt probe.Options, j *backend.Job) bool {
	if !opt.Caches.On() || in.modules[0].im.Go != nil || len(in.early.pcs) > 0 || slices.Contains(j.Libraries, backend.NoLibraries) {
		return false
	}
	loaded, err := libraries(p)
	if err != nil {
		return false
	}
	slices.SortStableFunc(loaded, func(a, b library) int { return besideRank(a.path) - besideRank(b.path) })
	left := uint64(besideBytes)
	for _, l := range loaded {
		if synchronises(l.path) || in.counts(l.path) || l.path == in.modules[0].im.Interp {
			continue
		}
		m, code, err := in.beside1(p, l, opt, j.Analyses, left)
		switch {
		case err == nil:
			left -= code
			in.aside = append(in.aside, m)
		case len(in.aside) == 0:
			return false
		default:
			in.doubts = append(in.doubts, profile.Warning{Code: "caches", Message: fmt.Sprintf("what %s accesses is not simulated: %v", l.path, err)})
		}
	}
	return len(in.aside) > 0
}

// beside1 moves the code of one, of which so much may be left.
func (in *injection) beside1(p *tracee.Process, l library, opt probe.Options, dir string, left uint64) (m *module, code uint64, err error) {
	x, err := readFile(l)
	if err != nil {
		return nil, 0, err
	}
	if x.code > left {
		return nil, 0, fmt.Errorf("its code and that of others has more than %d MB", besideBytes>>20)
	}
	im, err := image.OpenLibrary(l.path)
	if err != nil {
		return nil, 0, err
	}
	if im.HasGo {
		return nil, 0, fmt.Errorf("it is written in Go")
	}
	m = &module{analysis: &analysis{im: im}, bias: l.lowest - im.Lowest&^0xfff}
	front := opt.Caches
	front.Erased = nil
	o := options{probe: probe.Options{NoCounters: true, Library: true, Caches: front}, beside: anything, home: asideHome(im, len(in.aside))}
	if m.analysis, err = analyse(im, o, dir); err != nil {
		return nil, 0, err
	}
	if m.spec.Program.UsesGS() && !ofTheSystem(l.path) { // whose arch_prctl is for others to call
		return nil, 0, fmt.Errorf("it uses the GS register")
	}
	if err = m.put(p); err == nil {
		m.checked, err = m.texts(p)
	}
	if err != nil {
		m.unmap(p)
		return nil, 0, err
	}
	return m, x.code, nil
}

// besideRank is in which order they get their places: those that all programs have
// first, so that they have the same ones always.
func besideRank(file string) int {
	list := []string{"libc.so", "libm.so", "libstdc++.so", "libgcc_s.so"}
	if i := slices.IndexFunc(list, func(x string) bool { return strings.HasPrefix(path.Base(file), x) }); i >= 0 {
		return i
	}
	return len(list)
}

// asideHome is where the copy of the n-th lies best: between those of libraries that
// are counted, from the far end on (see house).
func asideHome(im *image.Image, n int) uint64 {
	const far, most, gap = 128 << 20, 15, 64 << 20
	return (im.Lowest - far*uint64(most-1-n%most) - gap) &^ 0xfff
}

// synchronises: who has threads wait for each other, which is no work, and the dynamic
// linker.
func synchronises(file string) bool {
	base := path.Base(file)
	return isMPI(base) || beginsWith(base, []string{"ld-", "ld.so", "libc.musl", "libpthread", "libgomp", "libomp", "libompd", "libomptarget", "libiomp", "libtbb", "libtbbmalloc", "libtbbbind",
		"libasan", "libtsan", "libubsan", "liblsan", "linux-vdso"})
}
