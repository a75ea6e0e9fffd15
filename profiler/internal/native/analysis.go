package native

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/kept"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/section"
)

// analysis is what is known of a program before it runs, and its copy.
type analysis struct {
	im *image.Image
	options
	ran      relocate.Ran // of an earlier run, for one that analyses anew
	spec     *relocate.Spec
	code     *relocate.Code
	restored bool
	save     func()      // writes it for the next run
	solved   *solve.Kept // what was made of its functions; nil: nothing is kept
	solvedAs string      // … in that file
	keptAs   string      // the analysis is in that file; "": in none
	planned  bool        // it was made in this run
}

// options say how a program or library is to be analysed.
type options struct {
	probe probe.Options
	// erased are instructions, by the profile's addresses, of which all accesses hit.
	erased []profile.Addr
	from   relocate.Numbers
	among  []*image.Image // what it runs among that is moved too
	// beside are functions that the rest imports, as far as they matter.
	beside []string
	home   uint64   // where the copy lies best, a link-time address; 0: where its spec says
	held   []uint64 // where threads already are: the functions stay
}

// all is what it runs among, the rest as one library.
func (o *options) all() []*image.Image {
	rest := &image.Image{Imports: map[string]bool{}}
	for _, n := range o.beside {
		rest.Imports[n] = true
	}
	return append(slices.Clone(o.among), rest)
}

// analyse decodes, plans and moves a program's code, or finds it in the
// directory of analyses ("" for none).
func analyse(im *image.Image, opt options, dir string) (*analysis, error) {
	a := &analysis{im: im, options: opt, save: func() {}}
	name := ""
	if dir != "" {
		name = filepath.Join(dir, analysisName(im, opt))
		if a.ran = readRan(name); a.ran == nil && a.restore(name) == nil {
			kept.Used(name)
			a.keptAs = name
			a.restoreSolved(name)
			return a, nil
		}
	}
	start := time.Now()
	if err := a.make(0); err != nil {
		return nil, err
	}
	if dir != "" && time.Since(start) > worthKeeping {
		s, c := a.spec, a.code
		a.save = func() { keep(name, s, c) }
		a.keptAs, a.planned = name, true
		a.restoreSolved(name)
	}
	return a, nil
}

// best is where the copy lies best.
func (a *analysis) best() uint64 { return cmp.Or(a.home, a.spec.Home()) }

// make analyses the program for a cache at base, a link-time address; 0 is
// where it lies best.
func (a *analysis) make(base uint64) (err error) {
	if a.spec == nil || a.restored { // what is restored has no plans to write it anew
		build := cfg.Build
		if a.probe.Library {
			build = cfg.BuildSilent
		}
		prog := build(a.im, section.Catches, a.all()...)
		for _, at := range a.held {
			if f := prog.Owner(at); f != nil && f.Skip == "" {
				f.Skip = "a library's thread was in it before the program began"
			}
		}
		if a.probe.Library {
			for _, f := range prog.Funcs {
				if f.CallsKernel() && f.Skip == "" {
					f.Skip = "its system calls are timed where they are"
				}
			}
		}
		if a.restored { // as it was made before
			a.ran = a.spec.Ran()
		}
		a.spec, a.restored = relocate.New(prog, section.Hook, a.probe, a.from), false
		a.spec.SetRan(a.ran)
	}
	if base == 0 {
		base = a.best()
	}
	if a.code, err = a.spec.Assemble(base); err != nil {
		return fmt.Errorf("move the code of %s: %w", a.im.Path, err)
	}
	return nil
}
