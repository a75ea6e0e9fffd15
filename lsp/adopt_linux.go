package lsp

import (
	"os"
	"path/filepath"
	"syscall"
)

// adopt takes the nearest folder with a .skewlens.toml for the workspace of a
// file that was opened without one. It reads, and runs nothing: that is left to
// a command, as ever. Above the home folder and beyond the file's own file
// system nothing is looked for.
func (s *server) adopt(path string) {
	known := map[string]bool{}
	for _, r := range s.roots {
		if !r.found {
			return // the client has workspace folders: those are meant
		}
		known[r.path] = true
	}
	if path == "" {
		return
	}
	home, _ := os.UserHomeDir()
	device := uint64(0)
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || device != 0 && st.Dev != device {
			return
		}
		device = st.Dev
		if known[dir] {
			return
		}
		if ownFile(filepath.Join(dir, configName)) {
			r := newRoot(dir)
			r.found = true
			s.roots = append(s.roots, r)
			s.restore([]*root{r})
			s.refreshViews()
			return
		}
		if dir == home || dir == "/" {
			return
		}
	}
}

// ownFile reports whether a file is the user's own, and not by way of a link:
// in a folder that others write to, anybody can say what to run.
func ownFile(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
