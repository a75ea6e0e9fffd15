package native

import (
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/kept"
	"github.com/skewlens/skewlens/profiler/internal/pack"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/section"
)

// Analysing a program of many megabytes takes seconds, and the result is the
// same as long as the program is. So it is kept in a directory of the user's,
// where the next run finds it (package kept).
const worthKeeping = 10 * time.Millisecond // less is not worth a file

// analysisName is the name of a program's analysis. It is another one when the
// program changes, or skewlens itself, or what it is asked for.
func analysisName(im *image.Image, opt options) string {
	h := sha256.New()
	fmt.Fprintf(h, "%+v %+v %v %#x %x %s %v %#x\n", opt.probe, opt.from, opt.beside, opt.home, opt.held, im.BuildID, im.Stripped, im.Entry)
	fmt.Fprintln(h, kept.Stamp("/proc/self/exe"))
	for _, im := range append([]*image.Image{im}, opt.among...) {
		for i := range im.Sections {
			x := &im.Sections[i]
			fmt.Fprintln(h, x.Name, x.Addr, x.Size, crc32.Checksum(x.Data, castagnoli))
		}
	}
	return fmt.Sprintf("%.16s-%x", im.BuildID, h.Sum(nil)[:12])
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// restore reads an analysis.
func (a *analysis) restore(name string) error {
	b, err := kept.Read(name)
	if err != nil {
		return err
	}
	r := &pack.Reader{B: b}
	prog, err := cfg.Unpack(r, a.im, section.Catches, a.all()...)
	if err != nil {
		return err
	}
	a.spec, a.code, err = relocate.Unpack(r, prog, section.Hook, a.probe, a.from)
	a.restored = err == nil
	return err
}

// keep writes an analysis.
func keep(name string, s *relocate.Spec, c *relocate.Code) {
	kept.Write(name, func(w *pack.Writer) {
		s.Program.Pack(w)
		s.Pack(w, c)
	})
}

// solvedName is where that of an analysis is kept which the solver makes of functions
// when they first run. It is known when the program has run: so it has its own file.
func solvedName(name string) string { return name + "-solved" }

// restoreSolved reads what is kept of the functions of an analysis of that name.
func (a *analysis) restoreSolved(name string) {
	name = solvedName(name)
	b, err := kept.Read(name)
	if a.solved = solve.NewKept(b); err == nil {
		kept.Used(name)
	}
	a.solvedAs = name
}

// keepSolved writes that of a program that has run, if much of it is new.
func (a *analysis) keepSolved() {
	if a.solved != nil && a.solved.Grown() {
		kept.Write(a.solvedAs, a.solved.Pack)
	}
}
