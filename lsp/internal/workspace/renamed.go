package workspace

import (
	"os"
	"path/filepath"

	"github.com/skewlens/skewlens/lsp/internal/text"
)

// maxSiblings bounds the files of a folder that are read to find one of them again.
const maxSiblings = 200

// Renamed is what a file that is gone is called now: one with the same text, of those
// that are open and of those in its folder. It is empty where there is none.
func (w Workspace) Renamed(path string, was text.Digest) string {
	if _, err := w.disk.lstat(path); !os.IsNotExist(err) || w.Open(path) != nil {
		return ""
	}
	fits := func(to string) bool {
		if filepath.Ext(to) != filepath.Ext(path) || to == path {
			return false
		}
		t := w.Text(to)
		return t != nil && t.Digest() == was
	}
	for to := range w.docs {
		if fits(to) {
			return to
		}
	}
	dir := filepath.Dir(path)
	w.disk.Uses("read", dir)
	names, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, n := range names[:min(len(names), maxSiblings)] {
		if to := filepath.Join(dir, n.Name()); n.Type().IsRegular() && fits(to) {
			return to
		}
	}
	return ""
}
