package native

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/skewlens/skewlens/internal/atomicfile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/pack"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/section"
)

// Analysing a program of many megabytes takes seconds, and the result is the
// same as long as the program is. So it is kept in a directory of the user's,
// where the next run finds it. A file there becomes code of a running program:
// it is taken only if nobody but the user can have written it, and if its
// checksum says that it is whole.
const (
	worthKeeping = 10 * time.Millisecond // less is not worth a file
	keepBytes    = 1 << 30               // of all files together; those not used for longest go
	useIsNoted   = 24 * time.Hour        // as often
)

// analysisName is the name of a program's analysis. It is another one when the
// program changes, or skewlens itself, or what it is asked for.
func analysisName(im *image.Image, opt options) string {
	h := sha256.New()
	fmt.Fprintf(h, "%+v %+v %v %#x %x %s %v %#x\n", opt.probe, opt.from, opt.beside, opt.home, opt.held, im.BuildID, im.Stripped, im.Entry)
	fmt.Fprintln(h, stamp("/proc/self/exe"))
	for _, im := range append([]*image.Image{im}, opt.among...) {
		for i := range im.Sections {
			x := &im.Sections[i]
			fmt.Fprintln(h, x.Name, x.Addr, x.Size, crc32.Checksum(x.Data, castagnoli))
		}
	}
	return fmt.Sprintf("%.16s-%x", im.BuildID, h.Sum(nil)[:12])
}

// stamp is another one when a file changes; "": it cannot be told.
func stamp(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	return stampOf(info)
}

func stampOf(info os.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintln(st.Dev, st.Ino, st.Size, st.Mtim, st.Ctim)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// restore reads an analysis.
func (a *analysis) restore(name string) error {
	b, err := readKept(name)
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

// used notes that a file is.
func used(name string) {
	now := time.Now()
	if info, err := os.Stat(name); err == nil && now.Sub(info.ModTime()) > useIsNoted {
		_ = os.Chtimes(name, now, now)
	}
}

// keep writes an analysis.
func keep(name string, s *relocate.Spec, c *relocate.Code) {
	writeKept(name, func(w *pack.Writer) {
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
	b, err := readKept(name)
	if a.solved = solve.NewKept(b); err == nil {
		used(name)
	}
	a.solvedAs = name
}

// keepSolved writes that of a program that has run, if much of it is new.
func (a *analysis) keepSolved() {
	if a.solved != nil && a.solved.Grown() {
		writeKept(a.solvedAs, a.solved.Pack)
	}
}

// mapped are files that readKept has read, as long as this process lives: what is made of
// them points into them. They are mapped because to have room for megabytes, and to copy
// them there, takes longer than all that is done with them. Nobody writes them where they
// lie: who changes one puts another in its place.
var mapped struct {
	sync.Mutex
	files map[string][]byte // by stamp
}

// readKept is what a file says, if it is the user's own and whole.
func readKept(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() || info.Mode() != 0o600 {
		return nil, fmt.Errorf("%s may be somebody else's", name)
	}
	mapped.Lock()
	defer mapped.Unlock()
	key := stampOf(info)
	if b := mapped.files[key]; b != nil {
		return b, nil
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(st.Size), syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != crc32.Checksum(b[4:], castagnoli) {
		_ = syscall.Munmap(b)
		return nil, fmt.Errorf("%s is broken", name)
	}
	if mapped.files == nil {
		mapped.files = map[string][]byte{}
	}
	mapped.files[key] = b[4:]
	return b[4:], nil
}

// writeKept writes a file. That it cannot is no reason to complain: the next
// run takes as long as this one.
func writeKept(name string, fill func(*pack.Writer)) {
	w := &pack.Writer{B: make([]byte, 4)}
	fill(w)
	binary.LittleEndian.PutUint32(w.B, crc32.Checksum(w.B[4:], castagnoli))
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return
	}
	_ = atomicfile.WritePrivate(name, func(f io.Writer) error { _, err := f.Write(w.B); return err })
	sweep(dir)
}

// sweep removes analyses that were not used for longest, until the rest is
// small enough.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	total := int64(0)
	for _, x := range files {
		left := strings.HasPrefix(x.Name(), atomicfile.Temporary) && time.Since(x.ModTime()) > time.Hour // by a run that was killed
		if total += x.Size(); left || total > keepBytes {
			os.Remove(filepath.Join(dir, x.Name()))
		}
	}
}
