package workspace

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/profile"
)

// maxProgram bounds programs that are read for lenses, in bytes.
const maxProgram = 1 << 30

// Programs knows the calls that end sections in built programs. It may be used
// by several goroutines.
type Programs struct {
	disk    *Disk
	read    func(program string) ([]profile.Location, error)
	reading sync.Mutex // held while a program is read: nobody needs two at once

	mu    sync.Mutex // not held meanwhile
	known map[string]programSites
}

type programSites struct {
	built time.Time
	size  int64
	found []profile.Location
}

// NewPrograms finds calls by read; nil finds none.
func NewPrograms(d *Disk, read func(string) ([]profile.Location, error)) *Programs {
	return &Programs{disk: d, read: read, known: map[string]programSites{}}
}

// sites reads a program that is not known, or was built again. A program that
// is not there, or cannot be read, has no sites.
func (c *Programs) sites(program string) programSites {
	if c.read == nil {
		return programSites{}
	}
	info, err := c.disk.Stat(program)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxProgram {
		return programSites{}
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	if p, ok := c.get(program); ok && p.built.Equal(info.ModTime()) && p.size == info.Size() {
		return p
	}
	p := programSites{built: info.ModTime(), size: info.Size()}
	c.disk.Uses("read", program)
	p.found, _ = c.read(program)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) > 64 {
		clear(c.known)
	}
	c.known[program] = p
	return p
}

// get is what is known of a program already.
func (c *Programs) get(program string) (programSites, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.known[program]
	return p, ok
}

// Hold reports whether a target's program is known to have a section in a file.
func (c *Programs) Hold(w Workspace, t Target, path string) bool {
	p, _ := c.get(t.Program)
	return slices.ContainsFunc(p.found, func(l profile.Location) bool { return l.File != "" && w.Local(l.File, t.Cwd) == path })
}

// siteMarks are the sections of a document before any run.
type siteMarks struct {
	built  time.Time // of the program they are from
	lines  []text.Point
	edited bool // since they were taken over
}

func (m siteMarks) follow(e text.Edit) siteMarks {
	next := siteMarks{built: m.built, edited: true}
	for _, p := range m.lines {
		if q, there := e.Track(p); there { // else a look at the text finds what is in its place
			next.lines = append(next.lines, q)
		}
	}
	return next
}

// Sited is a document with what the programs of its folder, which are read for
// it, know of its sections; itself, where they know nothing new, or what it was
// not built from: text that is edited or newer.
func (w Workspace) Sited(d *Document, programs *Programs) *Document {
	r := w.Root(d.Path)
	if r == nil {
		return d
	}
	known := make([]programSites, len(r.Targets))
	for i, t := range r.Targets {
		known[i] = programs.sites(t.Program)
	}
	info, err := w.disk.Stat(d.Path)
	if err != nil {
		return d
	}
	next := *d
	for i, p := range known {
		if len(p.found) == 0 || !p.built.After(next.sites.built) || info.ModTime().After(p.built) {
			continue
		}
		lines := w.linesIn(d.Path, p, r.Targets[i].Cwd)
		if len(lines) == 0 {
			continue
		}
		if same, _ := d.asFile(w.disk); same {
			next.sites = siteMarks{built: p.built, lines: lines}
		}
	}
	if next.sites.built.Equal(d.sites.built) {
		return d
	}
	return &next
}

// WithSites takes over what [Workspace.Sited] found, if the document still has
// the text that it was found for.
func (w Workspace) WithSites(d *Document) Workspace {
	if now := w.docs[d.Path]; now != nil && now.Text == d.Text && d.sites.built.After(now.sites.built) {
		next := *now
		next.sites = d.sites
		return w.WithDocument(&next)
	}
	return w
}

// linesIn are the lines of a file that have sections, of each the innermost
// place that is in a workspace folder: the user's own.
func (w Workspace) linesIn(path string, p programSites, cwd string) []text.Point {
	var lines []text.Point
	for _, l := range p.found {
		for _, f := range append([]profile.Frame{l.Frame}, l.InlinedAt...) {
			if at := w.Local(f.File, cwd); f.Line > 0 && w.Root(at) != nil {
				if at == path {
					lines = append(lines, text.Point{Line: f.Line - 1})
				}
				break
			}
		}
	}
	return lines
}

// SiteLines are the lines on which a section may end: those that programs
// know, and those that a look at the text finds where they know none, or it was
// edited.
func (d *Document) SiteLines() map[int]bool {
	lines := map[int]bool{}
	for _, p := range d.sites.lines {
		if !d.remarks(p.Line) {
			lines[p.Line] = true
		}
	}
	if len(lines) == 0 || d.sites.edited {
		for _, l := range scan(d.Text, d.Language, d.Path) {
			lines[l] = true
		}
	}
	return lines
}

// remarks reports whether a line has nothing but a comment: what a compiler adds, as a main
// for tests, stands at a file's first line.
func (d *Document) remarks(line int) bool {
	switch languageOf(d.Language, d.Path) {
	case "c", "rust", "go", "d":
		code, _ := uncommented(d.Text.Line(line), false)
		return strings.TrimSpace(code) == "" && strings.TrimSpace(d.Text.Line(line)) != ""
	}
	return false
}
