package workspace

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/text"
)

// Workspace is a client's folders and open documents at one moment. It never
// changes: methods that begin with With or Without make another.
type Workspace struct {
	disk  *Disk
	roots []*Root
	docs  map[string]*Document // by key
}

// New is a workspace without folders and documents.
func New(d *Disk) Workspace { return Workspace{disk: d} }

// Document is the open document of a URI; nil where there is none.
func (w Workspace) Document(u protocol.DocumentURI) *Document { return w.docs[key(u)] }

// Open is the open document of a path; nil where there is none.
func (w Workspace) Open(path string) *Document { return w.docs[path] }

// WithDocument opens a document, or replaces it.
func (w Workspace) WithDocument(d *Document) Workspace {
	w.docs = maps.Clone(w.docs)
	if w.docs == nil {
		w.docs = map[string]*Document{}
	}
	w.docs[key(d.URI)] = d
	return w
}

// WithoutDocument closes a document.
func (w Workspace) WithoutDocument(u protocol.DocumentURI) Workspace {
	w.docs = maps.Clone(w.docs)
	delete(w.docs, key(u))
	return w
}

// Text is the text of a file as the client has it: its document, else the
// file, which may be read for it; nil where there is none.
func (w Workspace) Text(path string) *text.Text {
	if path == "" {
		return nil
	}
	if d := w.docs[path]; d != nil {
		return d.Text
	}
	return w.disk.text(path)
}

// Exists reports whether there is something at a path, or is to be.
func (w Workspace) Exists(path string) bool {
	if w.Open(path) != nil {
		return true
	}
	_, err := w.disk.Stat(path)
	return err == nil
}

// URI is a path as the client writes it.
func (w Workspace) URI(path string) protocol.DocumentURI {
	if d := w.docs[path]; d != nil {
		return d.URI
	}
	return FileURI(path)
}

// Roots are the folders, in their order.
func (w Workspace) Roots() []*Root { return w.roots }

// Root is the innermost folder that holds a path; nil if none does.
func (w Workspace) Root(path string) *Root {
	var best *Root
	for _, r := range w.roots {
		if within(path, r.Path) && (best == nil || len(r.Path) > len(best.Path)) {
			best = r
		}
	}
	return best
}

// WithRoot adds a folder; one of its path is replaced.
func (w Workspace) WithRoot(r *Root) Workspace {
	w.roots = slices.Clone(w.roots)
	for i, old := range w.roots {
		if old.Path == r.Path {
			w.roots[i] = r
			return w
		}
	}
	w.roots = append(w.roots, r)
	return w
}

// WithoutRoot takes a folder out.
func (w Workspace) WithoutRoot(path string) Workspace {
	w.roots = slices.DeleteFunc(slices.Clone(w.roots), func(r *Root) bool { return r.Path == path })
	return w
}

// WithRead has the configurations that [Workspace.Reread] read. Folders that
// are gone since stay away.
func (w Workspace) WithRead(fresh []*Root) Workspace {
	w.roots = slices.Clone(w.roots)
	for i, old := range w.roots {
		for _, r := range fresh {
			if old.Path == r.Path && old.Adopted == r.Adopted {
				w.roots[i] = r
			}
		}
	}
	return w
}

// Reread looks at the files that say what to run, and reads those that have
// changed. What it returns is for [Workspace.WithRead]; empty, if none has.
func (w Workspace) Reread() []*Root {
	var fresh []*Root
	for _, r := range w.roots {
		if next := r.reread(w); next != nil {
			fresh = append(fresh, next)
		}
	}
	return fresh
}

// WithChosen has a target that a person chose, in its folder.
func (w Workspace) WithChosen(t Target) Workspace {
	for _, r := range w.roots {
		if r.Path == t.Root {
			return w.WithRoot(r.withChosen(t))
		}
	}
	return w
}

// WithoutChosen forgets that a target was chosen.
func (w Workspace) WithoutChosen(t Target) Workspace {
	for _, r := range w.roots {
		if r.Path == t.Root {
			return w.WithRoot(r.withoutChosen(t.Name))
		}
	}
	return w
}

// Local is a compiler's path as the client writes it. One that is of no folder of
// the client's, and not here, was built elsewhere: it is looked for in the folders.
func (w Workspace) Local(path, cwd string) string {
	path = absolute(path, cwd)
	if w.Root(path) != nil {
		return path
	}
	for _, r := range w.roots {
		if r.real != r.Path && within(path, r.real) {
			return filepath.Join(r.Path, strings.TrimPrefix(path, r.real))
		}
	}
	for _, r := range w.roots {
		for _, t := range r.Targets {
			if to, ok := t.mapped(path); ok {
				return to
			}
		}
	}
	if to := w.disk.elsewhere(path, w.roots); to != "" {
		return to
	}
	return path
}

// Moved says, of a path that [Workspace.Local] found elsewhere, which folder stands
// for which.
func (w Workspace) Moved(path, cwd string) (from, to string, moved bool) {
	from = absolute(path, cwd)
	to = w.Local(path, cwd)
	if r := w.Root(to); r == nil || to == from || within(from, r.real) {
		return "", "", false
	}
	for filepath.Base(from) == filepath.Base(to) && from != "/" && w.Root(filepath.Dir(to)) != nil {
		from, to = filepath.Dir(from), filepath.Dir(to)
	}
	return from, to, true
}

func absolute(path, cwd string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	return filepath.Clean(path)
}

// Targets are all that can be run, the default first.
func (w Workspace) Targets() []Target {
	var out []Target
	for _, r := range w.roots {
		out = append(out, r.Targets...)
	}
	return out
}

// Suppressed reports whether a finding is not to be shown: one of a kind, on a
// line with a text, in a function of a file.
func (w Workspace) Suppressed(path, function, kind, line string) bool {
	r := w.Root(path)
	if r == nil {
		return false
	}
	for _, s := range r.Suppress {
		if s.matches(path, function, kind, line) {
			return true
		}
	}
	return false
}

// Unsaved are the documents of a target's folder that a program is made of and
// that differ from their files, which are read for it. Their names are
// relative to the folder.
func (w Workspace) Unsaved(t Target) []string {
	var names []string
	for _, d := range w.docs {
		if d.Path == "" || !within(d.Path, t.Root) || !d.compiled() {
			continue
		}
		// A new file is not saved; of one that cannot be read nobody knows.
		if same, err := d.asFile(w.disk); same || err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		rel, err := filepath.Rel(t.Root, d.Path)
		if err != nil {
			rel = d.Path
		}
		names = append(names, rel)
	}
	sort.Strings(names)
	return names
}
