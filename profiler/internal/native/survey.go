package native

import (
	"encoding/binary"
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
	names     named
	timed     []blocking.Site
	guards    []blocking.Site // of the C library, if it is as it is known
	unguarded bool            // it is none, and surely makes none of the guarded calls
}

// named are the names of functions as they are kept, since few are asked for: from an
// address on, of eight bytes, there is one whose name ends there in all names, of four; of
// no letters where there is none.
type named struct{ at, ends, all []byte }

func (n *named) add(at uint64, name string) {
	n.at = binary.LittleEndian.AppendUint64(n.at, at)
	n.all = append(n.all, name...)
	n.ends = binary.LittleEndian.AppendUint32(n.ends, uint32(len(n.all)))
}

func (n *named) len() int { return len(n.at) / 8 }

// address is where the i-th begins, name what it is called.
func (n *named) address(i int) uint64 { return binary.LittleEndian.Uint64(n.at[8*i:]) }

func (n *named) name(i int) []byte {
	from := 0
	if i > 0 {
		from = n.end(i - 1)
	}
	return n.all[from:n.end(i)]
}

func (n *named) end(i int) int { return int(binary.LittleEndian.Uint32(n.ends[4*i:])) }

// whole reports whether all names are there.
func (n *named) whole() bool {
	if len(n.at) != 8*n.len() || len(n.ends) != 4*n.len() {
		return false
	}
	from := 0
	for i := range n.len() {
		to := n.end(i)
		if to < from || to > len(n.all) {
			return false
		}
		from = to
	}
	return true
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
		v.names.add(at, name)
	}
	return v
}

// nameAt is the name of the function at a link-time address.
func (v *survey) nameAt(at uint64) string {
	n := &v.names
	i := sort.Search(n.len(), func(i int) bool { return n.address(i) > at })
	if i == 0 {
		return ""
	}
	return string(n.name(i - 1))
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
	for _, b := range [][]byte{v.names.at, v.names.ends, v.names.all} {
		w.Bytes(b)
	}
	blocking.PackSites(w, v.timed)
	blocking.PackSites(w, v.guards)
	w.Bool(v.unguarded)
}

func unpackSurvey(file string, b []byte) (v *survey, err error) {
	r := &pack.Reader{B: b}
	v = &survey{path: file, low: r.Uint(), high: r.Uint()}
	v.names = named{r.Bytes(), r.Bytes(), r.Bytes()}
	if !v.names.whole() {
		return nil, pack.ErrShort
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
