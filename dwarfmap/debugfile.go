package dwarfmap

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/hex"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// defaultDebugDir is where distributions install separate debug information.
const defaultDebugDir = "/usr/lib/debug"

// maxSection bounds what one section may unpack to.
const maxSection = 8 << 30

// debugFile returns the file that holds the debug information: the program
// itself, or a separate one found by build id or by debug link.
func (m *Map) debugFile(f *elf.File, debugDir string) *elf.File {
	if hasDebug(f) {
		return f
	}
	if id := buildID(f); len(id) > 2 {
		path := filepath.Join(debugDir, ".build-id", id[:2], id[2:]+".debug")
		if g := m.open(path); g != nil {
			if buildID(g) == id {
				return g
			}
			m.warn("debug-file-mismatch", "%s holds the debug information of another build of %s: install the matching one", path, m.path)
		}
	}
	name, sum, ok := debugLink(f)
	if !ok {
		return f
	}
	dir := filepath.Dir(m.path)
	if abs, err := filepath.Abs(m.path); err == nil {
		dir = filepath.Dir(abs)
	}
	for _, path := range []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name), filepath.Join(debugDir, dir, name)} {
		if m.isProgram(path) { // Debian's mono names the file that is linked to it
			continue
		} else if got, err := fileSum(path); err != nil {
			continue
		} else if got != sum {
			m.warn("debug-file-mismatch", "%s holds the debug information of another build of %s: make it again with objcopy --only-keep-debug", path, m.path)
		} else if g := m.open(path); g != nil {
			return g
		}
	}
	m.warn("no-debug-file", "%s names %s as the file of its debug information, which is not beside it nor in %s: install it there", m.path, name, debugDir)
	return f
}

// isProgram reports whether a path is the program's own.
func (m *Map) isProgram(path string) bool {
	a, err := os.Stat(m.path)
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// open opens an ELF file that Close will close; nil if it cannot.
func (m *Map) open(path string) *elf.File {
	r, err := os.Open(path)
	if err != nil {
		return nil
	}
	g, err := elf.NewFile(r)
	if err != nil {
		r.Close()
		m.warn("damaged-debug-info", "%s is not a sound ELF file (%v): install the debug information again", path, err)
		return nil
	}
	m.closers = append(m.closers, r)
	return g
}

func hasDebug(f *elf.File) bool {
	for _, s := range f.Sections {
		if (s.Name == ".debug_info" || s.Name == ".zdebug_info" || s.Name == ".debug_line") && s.Type != elf.SHT_NOBITS {
			return true
		}
	}
	return false
}

// buildID is the build id in hex; empty where there is none.
func buildID(f *elf.File) string {
	s := f.Section(".note.gnu.build-id")
	if s == nil || s.Type != elf.SHT_NOTE || s.Size > 1<<10 {
		return ""
	}
	b, err := s.Data()
	if err != nil || len(b) < 16 {
		return ""
	}
	nameSize, descSize := int(f.ByteOrder.Uint32(b)), int(f.ByteOrder.Uint32(b[4:]))
	if nameSize != 4 || string(b[12:15]) != "GNU" || descSize > len(b)-16 || descSize < 0 {
		return ""
	}
	return hex.EncodeToString(b[16 : 16+descSize])
}

// debugLink reads .gnu_debuglink: a file name and that file's checksum.
func debugLink(f *elf.File) (name string, sum uint32, ok bool) {
	s := f.Section(".gnu_debuglink")
	if s == nil || s.Size > 1<<16 {
		return "", 0, false
	}
	b, err := s.Data()
	if err != nil {
		return "", 0, false
	}
	end := bytes.IndexByte(b, 0)
	if end <= 0 || len(b) < 4 || (end+4)&^3 > len(b)-4 {
		return "", 0, false
	}
	return string(b[:end]), f.ByteOrder.Uint32(b[(end+4)&^3:]), true
}

func fileSum(path string) (uint32, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, f); err != nil {
		return 0, err
	}
	return h.Sum32(), nil
}

// altFile is the file to which dwz moved what several programs share. Only
// names are taken from it.
type altFile struct {
	data *dwarf.Data
	str  []byte
}

// openAlt follows .gnu_debugaltlink: a path, relative to the file that holds
// the link, and the build id that the target must have.
func (m *Map) openAlt(debug *elf.File, debugDir string) *altFile {
	s := debug.Section(".gnu_debugaltlink")
	if s == nil || s.Size > 1<<16 {
		return nil
	}
	b, err := s.Data()
	if err != nil {
		return nil
	}
	name, id, ok := bytes.Cut(b, []byte{0})
	if !ok {
		return nil
	}
	want := hex.EncodeToString(id)
	paths := []string{string(name)}
	if !filepath.IsAbs(paths[0]) {
		paths = nil
		for _, c := range m.closers {
			if f, ok := c.(*os.File); ok {
				paths = append(paths, filepath.Join(filepath.Dir(f.Name()), string(name)))
			}
		}
		paths = append(paths, filepath.Join(filepath.Dir(m.path), string(name)))
	}
	if len(want) > 2 {
		paths = append(paths, filepath.Join(debugDir, ".build-id", want[:2], want[2:]+".debug"),
			filepath.Join(debugDir, ".dwz", filepath.Base(string(name))))
	}
	for _, path := range paths {
		g := m.open(path)
		if g == nil || buildID(g) != want {
			continue
		}
		d, got, err := dwarfData(g)
		if err != nil {
			m.damaged(path, err)
			return nil
		}
		return &altFile{d, got["str"]}
	}
	m.warn("no-debug-file", "%s shares debug information with %s, which is not there: some functions have no name", m.path, name)
	return nil
}
