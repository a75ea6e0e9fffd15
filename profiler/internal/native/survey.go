package native

import (
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/kept"
	"github.com/skewlens/skewlens/profiler/internal/pack"
	"github.com/skewlens/skewlens/profiler/internal/probe/blocking"
)

// survey is what the waits need to know of a library that runs where it always
// was. Most programs run with the same few, and reading the C library takes as
// long as all else of a short program's start: so it is kept, like an analysis.
type survey struct {
	path      string
	low, high uint64 // its link-time addresses
	names     []named
	timed     []blocking.Site
	guards    []blocking.Site // of the C library, if it is as it is known
	unguarded bool            // it is none, and surely makes none of the guarded calls
}

// named: from an address on there is a function of that name; "": none.
type named struct {
	at   uint64
	name string
}

// surveyOf is the survey of a library, from the directory of analyses ("" for
// none) if it was kept there.
func surveyOf(file, dir string) (*survey, error) {
	name := surveyName(file, dir)
	if b, err := kept.Read(name); err == nil {
		if v, err := unpackSurvey(file, b); err == nil {
			return v, nil
		}
	}
	im, err := image.OpenLibrary(file)
	if err != nil {
		return nil, err
	}
	v := newSurvey(im)
	if name != "" {
		kept.Write(name, v.pack)
	}
	return v, nil
}

func newSurvey(im *image.Image) *survey {
	v := &survey{path: im.Path, low: im.Lowest, high: im.Highest, timed: blocking.Find(im)}
	if ofTheSystem(im.Path) {
		if guards, ok := blocking.Guards(im); ok {
			v.guards = guards
		}
	} else {
		v.unguarded = blocking.Unguarded(im)
	}
	var bounds []uint64
	for i := range im.Funcs {
		bounds = append(bounds, im.Funcs[i].Addr, im.Funcs[i].End())
	}
	slices.Sort(bounds)
	for _, at := range slices.Compact(bounds) {
		name := ""
		if f := im.FuncAt(at); f != nil {
			name = f.Name
		}
		v.names = append(v.names, named{at, name})
	}
	return v
}

// nameAt is the name of the function at a link-time address.
func (v *survey) nameAt(at uint64) string {
	i := sort.Search(len(v.names), func(i int) bool { return v.names[i].at > at })
	if i == 0 {
		return ""
	}
	return v.names[i-1].name
}

// surveyName is where a library's survey is kept. It is another place when the
// file changes, or skewlens itself; that the code in memory is what was looked
// at is seen again before it is changed.
func surveyName(file, dir string) string {
	return kept.Name(dir, "calls", file, kept.Stamp(file))
}

func (v *survey) pack(w *pack.Writer) {
	w.Uint(v.low)
	w.Uint(v.high)
	w.Uint(uint64(len(v.names)))
	last := uint64(0)
	for _, n := range v.names {
		w.Uint(n.at - last)
		w.Bytes([]byte(n.name))
		last = n.at
	}
	blocking.PackSites(w, v.timed)
	blocking.PackSites(w, v.guards)
	w.Bool(v.unguarded)
}

func unpackSurvey(file string, b []byte) (v *survey, err error) {
	r := &pack.Reader{B: b}
	v = &survey{path: file, low: r.Uint(), high: r.Uint()}
	v.names = make([]named, r.Len(2))
	last := uint64(0)
	for i := range v.names {
		last += r.Uint()
		v.names[i] = named{last, string(r.Bytes())}
	}
	if v.timed, err = blocking.UnpackSites(r); err != nil {
		return nil, err
	}
	if v.guards, err = blocking.UnpackSites(r); err != nil {
		return nil, err
	}
	v.unguarded = r.Bool()
	return v, r.Err
}
