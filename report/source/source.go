// Package source reads the lines of source that a report speaks of, for
// excerpts: a page or a terminal shows the guilty line itself.
//
//	place file:line ──▶ Lines (Files: the file system) ──▶ text, and whether it is stale
package source

import (
	"bufio"
	"io"
	"os"
	"time"
)

// Lines gives source lines for excerpts.
type Lines interface {
	// Line returns a line's text; stale: the file changed after the program
	// was built, so it may be another line.
	Line(file string, line int) (text string, stale, ok bool)
}

// Files reads lines from the file system.
type Files struct {
	// Built is when the program was built; zero: not known.
	Built time.Time
	read  map[string]*file
}

type file struct {
	lines []string
	stale bool
}

// maxSource is how much of a file is looked at: generated sources can be
// larger than memory.
const maxSource = 64 << 20

// Line implements [Lines]. It is not safe for concurrent use.
func (s *Files) Line(name string, line int) (string, bool, bool) {
	if s.read == nil {
		s.read = map[string]*file{}
	}
	f, ok := s.read[name]
	if !ok {
		f = s.open(name)
		s.read[name] = f
	}
	if line < 1 || line > len(f.lines) {
		return "", false, false
	}
	return f.lines[line-1], f.stale, true
}

// open reads a file; one that cannot be read has no lines. Excerpts are a
// convenience: that there is none needs no explanation.
func (s *Files) open(name string) *file {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return &file{}
	}
	r, err := os.Open(name)
	if err != nil {
		return &file{}
	}
	defer r.Close()
	f := &file{stale: !s.Built.IsZero() && info.ModTime().After(s.Built)}
	sc := bufio.NewScanner(io.LimitReader(r, maxSource))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		f.lines = append(f.lines, sc.Text())
	}
	return f
}
