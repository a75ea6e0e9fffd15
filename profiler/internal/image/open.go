package image

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"sort"
	"strings"
)

// Open reads the program at path. Its errors are of type *Error.
func Open(path string) (*Image, error) {
	im, mode, library, err := openFile(path)
	switch {
	case err != nil:
		return nil, err
	case library:
		return nil, &Error{NotProgram, path, "is a shared library", "profile a program that uses it", nil}
	case mode.Perm()&0o111 == 0:
		return nil, &Error{NotExecutable, path, "is not executable", "chmod +x it", nil}
	}
	return im, nil
}

// OpenLibrary reads a shared library, or a program that is one too.
func OpenLibrary(path string) (*Image, error) {
	im, _, _, err := openFile(path)
	if err == nil && !im.Relocatable {
		return nil, &Error{NotProgram, path, "is no shared library", "name one", nil}
	}
	return im, err
}

func openFile(path string) (im *Image, mode fs.FileMode, library bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, false, &Error{NotFound, path, "is not there", "check the path", plain(err)}
	case err != nil:
		return nil, 0, false, &Error{Unreadable, path, "cannot be read", "", plain(err)}
	case info.IsDir():
		return nil, 0, false, &Error{IsDirectory, path, "is a directory", "name a program in it", nil}
	case !info.Mode().IsRegular():
		return nil, 0, false, &Error{IsDirectory, path, "is not a regular file", "name a program", nil}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, false, &Error{Unreadable, path, "cannot be read", "a program is profiled from its file: give yourself read permission", plain(err)}
	}
	defer f.Close()
	im, library, err = read(path, f, info.Size())
	return im, info.Mode(), library, err
}

// plain takes off what os puts before an error, the path: the message has it already.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// read reads a program or shared library of the given size from r; path is for
// messages.
func read(path string, r io.ReaderAt, size int64) (im *Image, library bool, err error) {
	if e := checkHeader(path, r, size); e != nil {
		return nil, false, e
	}
	f, err := newFile(r)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, false, &Error{Truncated, path, "is shorter than its headers say", "build or copy it again", nil}
	}
	if err != nil {
		return nil, false, &Error{Malformed, path, "has broken ELF headers", "build it again", err}
	}
	im = &Image{
		Path: path, Relocatable: f.Type == elf.ET_DYN, Entry: f.Entry,
		PLT: map[uint64]string{}, GOT: map[uint64]string{}, Imports: map[string]bool{}, Exports: map[string]bool{}, Unversioned: map[string]bool{},
	}
	l := &loader{im: im, r: r, f: f, size: size}
	if e := l.segments(); e != nil {
		return nil, false, e
	}
	if e := l.sections(); e != nil {
		return nil, false, e
	}
	l.dynamic()
	l.symbols()
	l.relocations()
	l.unwinding()
	l.functions()
	l.stubs()
	if im.HasGo {
		l.goTable()
	}
	return im, l.library(), nil
}

// newFile is elf.NewFile, whose own panics on hostile input become errors.
// This is the only recover in the package: what it covers is not ours.
func newFile(r io.ReaderAt) (f *elf.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, err = nil, fmt.Errorf("debug/elf gave up: %v", p)
		}
	}()
	return elf.NewFile(r)
}

// A loader fills an Image.
type loader struct {
	im   *Image
	r    io.ReaderAt
	f    *elf.File
	size int64

	syms, dynsyms []symbol
	tags          map[elf.DynTag]uint64
	resolvers     []resolver
}

// doubt notes a part that could not be read. Two dozen are enough to see what
// is the matter; a hostile file would have millions.
func (l *loader) doubt(format string, args ...any) {
	if len(l.im.Doubts) < 24 {
		l.im.Doubts = append(l.im.Doubts, fmt.Sprintf(format, args...))
	}
}

// contents reads n bytes of the file at off. Nothing else in the package but text asks
// for memory by a size that the file gives.
func (l *loader) contents(off, n uint64) ([]byte, error) {
	if !l.has(off, n) {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	if k, err := l.r.ReadAt(b, int64(off)); k < len(b) {
		return nil, err
	}
	return b, nil
}

// text is contents as a string: a copy of megabytes would take as long as to read them.
func (l *loader) text(off, n uint64) (string, error) {
	if !l.has(off, n) {
		return "", io.ErrUnexpectedEOF
	}
	var b strings.Builder
	b.Grow(int(n))
	_, err := io.CopyN(&b, io.NewSectionReader(l.r, int64(off), int64(n)), int64(n))
	return b.String(), err
}

// has reports whether the file has n bytes at off.
func (l *loader) has(off, n uint64) bool { return n <= uint64(l.size) && off <= uint64(l.size)-n }

// highest is where a profile's addresses of one file end (profile.LibraryStep).
const highest = 1 << 40

// segments reads what is loaded where, and whether the file holds all of it.
func (l *loader) segments() error {
	im := l.im
	im.Lowest = math.MaxUint64
	for _, p := range l.f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			if !l.has(p.Off, p.Filesz) {
				return &Error{Truncated, im.Path, "is shorter than its headers say", "build or copy it again", nil}
			}
			if p.Memsz < p.Filesz || p.Vaddr+p.Memsz < p.Vaddr {
				return &Error{Malformed, im.Path, "has a segment that cannot be loaded", "build it again", nil}
			}
			im.Lowest = min(im.Lowest, p.Vaddr)
			im.Highest = max(im.Highest, p.Vaddr+p.Memsz)
		case elf.PT_INTERP:
			if p.Filesz > 4096 {
				return &Error{Malformed, im.Path, "names a dynamic linker of thousands of letters", "build it again", nil}
			}
			b, err := l.contents(p.Off, p.Filesz)
			if err != nil {
				return &Error{Truncated, im.Path, "is shorter than its headers say", "build or copy it again", nil}
			}
			im.Interp = string(bytes.TrimRight(b, "\x00"))
		}
	}
	if im.Highest == 0 {
		return &Error{NotProgram, im.Path, "has nothing to load", "name a program", nil}
	}
	if im.Highest > highest {
		return &Error{TooHigh, im.Path, fmt.Sprintf("is linked at %#x, and profiles have room up to %#x", im.Lowest, uint64(highest)), "link it lower (-Wl,-Ttext-segment)", nil}
	}
	return nil
}

// sections reads the allocated sections, or, if the section headers were
// stripped too, the segments in their stead.
func (l *loader) sections() error {
	im := l.im
	total := uint64(0)
	for _, s := range l.f.Sections {
		if s.Name == ".gopclntab" || strings.HasSuffix(s.Name, ".gopclntab") {
			im.HasGo = true
		}
		if s.Flags&elf.SHF_ALLOC == 0 || s.Type == elf.SHT_NOBITS || s.Type == elf.SHT_NULL || s.FileSize == 0 {
			continue
		}
		// Sections that lie over each other could make a small file ask for
		// much memory; real ones are disjoint.
		if total += s.FileSize; total < s.FileSize || total > uint64(l.size) || s.Addr+s.FileSize < s.Addr {
			return &Error{Malformed, im.Path, "has sections that overlap or do not fit", "build it again", nil}
		}
		err := l.section(s.Name, s.Addr, s.Offset, s.FileSize, s.Flags&elf.SHF_EXECINSTR != 0, s.Flags&elf.SHF_WRITE != 0)
		if err != nil {
			return err
		}
	}
	if len(im.Sections) == 0 {
		if err := l.segmentsAsSections(); err != nil {
			return err
		}
	}
	sort.SliceStable(im.Sections, func(i, j int) bool { return im.Sections[i].Addr < im.Sections[j].Addr })
	for i := 1; i < len(im.Sections); i++ {
		if p := im.Sections[i-1]; p.Addr+p.Size > im.Sections[i].Addr {
			return &Error{Malformed, im.Path, fmt.Sprintf("has sections %s and %s on one address", p.Name, im.Sections[i].Name), "build it again", nil}
		}
	}
	im.readBuildID()
	return nil
}

// section reads the contents of a section.
func (l *loader) section(name string, addr, off, size uint64, exec, write bool) error {
	d, err := l.contents(off, size)
	if err != nil {
		return &Error{Truncated, l.im.Path, "is shorter than its headers say", "build or copy it again", nil}
	}
	l.im.Sections = append(l.im.Sections, Section{name, addr, size, d, exec, write})
	return nil
}

// segmentsAsSections reads what is loaded, under names that say so.
func (l *loader) segmentsAsSections() error {
	total := uint64(0)
	for i, p := range l.f.Progs {
		if p.Type != elf.PT_LOAD || p.Filesz == 0 {
			continue
		}
		if total += p.Filesz; total < p.Filesz || total > uint64(l.size) {
			return &Error{Malformed, l.im.Path, "has segments that overlap", "build it again", nil}
		}
		err := l.section(fmt.Sprintf("segment %d", i), p.Vaddr, p.Off, p.Filesz, p.Flags&elf.PF_X != 0, p.Flags&elf.PF_W != 0)
		if err != nil {
			return err
		}
	}
	return nil
}

// readBuildID reads the note by which a build is known.
func (im *Image) readBuildID() {
	for _, s := range im.Sections {
		if s.Name == ".note.gnu.build-id" && len(s.Data) > 16 {
			c := cursor{data: s.Data}
			name, desc := c.u32(), c.u32()
			c.take(4 + uint64(name+3)&^3)
			im.BuildID = hex.EncodeToString(c.take(uint64(desc)))
		}
	}
}
