package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/skewlens/skewlens/lsp/internal/text"
)

// maxSource bounds files that are read to show results in them, in bytes.
const maxSource = 32 << 20

// Disk is the file system, read with care, and the texts of files that are not
// open. It may be used by several goroutines.
type Disk struct {
	// Watch is called before each access, with what it does ("stat", "read",
	// "write", "remove") to which path. Tests count by it, and see that nobody
	// holds a lock meanwhile. Nil: nobody wants to know.
	Watch func(op, path string)

	mu    sync.Mutex // not held while a file is read
	texts map[string]*text.Text
	seen  map[string]stamp  // files as they were when it was last asked whether they had changed
	moved map[string]string // what elsewhere found
	age   int               // grows with what is forgotten
}

// Changed reports whether a file is another than when it was last asked of it, and
// forgets its text then. The first answer is no. A file that is gone has not changed.
func (d *Disk) Changed(path string) bool {
	info, err := d.Stat(path)
	if err != nil {
		return false
	}
	now := stamp{size: info.Size(), modified: info.ModTime().UnixNano()}
	d.mu.Lock()
	if d.seen == nil {
		d.seen = map[string]stamp{}
	}
	before, known := d.seen[path]
	d.seen[path] = now
	d.mu.Unlock()
	if !known || before == now {
		return false
	}
	d.Forget(path)
	return true
}

// Uses is to be called before a file is accessed in another way.
func (d *Disk) Uses(op, path string) {
	if d.Watch != nil {
		d.Watch(op, path)
	}
}

// Stat is [os.Stat].
func (d *Disk) Stat(path string) (fs.FileInfo, error) {
	d.Uses("stat", path)
	return os.Stat(path)
}

func (d *Disk) lstat(path string) (fs.FileInfo, error) {
	d.Uses("stat", path)
	return os.Lstat(path)
}

// real is a path without symbolic links: what compilers write down.
func (d *Disk) real(path string) string {
	d.Uses("stat", path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// Read reads a regular file of at most limit bytes; what a workspace names may
// be a pipe, a device, or have no end.
func (d *Disk) Read(path string, limit int64) ([]byte, error) {
	info, err := d.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > limit:
		return nil, fmt.Errorf("it is larger than %d MB", limit>>20)
	}
	d.Uses("read", path)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// text is a file's text, read once until it is forgotten; nil where there is
// none.
func (d *Disk) text(path string) *text.Text {
	d.mu.Lock()
	t, ok := d.texts[path]
	age := d.age
	d.mu.Unlock()
	if ok {
		return t
	}
	if data, err := d.Read(path, maxSource); err == nil {
		t = text.OfFile(data)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if age == d.age { // else it may have been read before what made others forget it
		if d.texts == nil {
			d.texts = map[string]*text.Text{}
		}
		d.texts[path] = t
	}
	return t
}

// Forget has files be read again; without paths, all.
func (d *Disk) Forget(paths ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.age++
	clear(d.moved)
	if len(paths) == 0 {
		clear(d.texts)
	}
	for _, p := range paths {
		delete(d.texts, p)
	}
}

// foreign are the folders of compilers and systems, whose files are nobody's own.
var foreign = []string{"/usr/", "/lib/", "/opt/", "/rustc/", "/nix/", "/gnu/"}

// elsewhere finds a file that is not here in folders: the one whose path ends as
// its own does, the longer the better. It is empty where there is none.
func (d *Disk) elsewhere(path string, roots []*Root) string {
	for _, f := range foreign {
		if strings.HasPrefix(path, f) {
			return ""
		}
	}
	d.mu.Lock()
	to, known := d.moved[path]
	age := d.age
	d.mu.Unlock()
	if known {
		return to
	}
	if _, err := d.Stat(path); err != nil {
		to = d.endsAs(path, roots)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if age == d.age {
		if d.moved == nil {
			d.moved = map[string]string{}
		}
		d.moved[path] = to
	}
	return to
}

func (d *Disk) endsAs(path string, roots []*Root) string {
	for end := strings.TrimPrefix(path, "/"); end != ""; {
		for _, r := range roots {
			at := filepath.Join(r.Path, end)
			if info, err := d.Stat(at); err == nil && info.Mode().IsRegular() {
				return at
			}
		}
		_, rest, more := strings.Cut(end, "/")
		if !more {
			break
		}
		end = rest
	}
	return ""
}
