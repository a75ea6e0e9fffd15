package native

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/image"
)

// mainFile is the file of a program's main function; "" where that is not known.
func (in *injection) mainFile(lines backend.Lines) string {
	m := in.modules[0]
	is := profile.Main
	if in.golang != nil {
		is = func(name string) bool { return name == "main.main" }
	}
	i := slices.IndexFunc(m.im.Funcs, func(f image.Func) bool { return is(f.Name) })
	if i < 0 {
		return ""
	}
	return lines.Locate(profile.Addr(m.im.Funcs[i].Addr + m.base)).File
}
