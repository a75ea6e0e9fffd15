package native

import (
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/goroutine"
	"github.com/skewlens/skewlens/profiler/internal/kept"
	"github.com/skewlens/skewlens/profiler/internal/pack"
)

// goLayout is what a program's runtime keeps where, from the directory of analyses ("" for
// none) if it was kept there: to unpack debug information for twenty numbers takes longer
// than all else of a short program's start.
func goLayout(path string, lines backend.Lines, dir string) (l goroutine.Layout, err error) {
	name := kept.Name(dir, "golang", kept.Stamp(path))
	if b, err := kept.Read(name); err == nil {
		if l, err := goroutine.UnpackLayout(&pack.Reader{B: b}); err == nil {
			kept.Used(name)
			return l, nil
		}
	}
	if l, err = goroutine.ReadLayout(lines.Debug()); err == nil && name != "" {
		kept.Write(name, l.Pack)
	}
	return l, err
}
