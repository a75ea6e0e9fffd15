package workspace

import (
	"os"
	"path/filepath"
	"syscall"
)

// Adopt is the nearest folder with a .skewlens.toml above a file that was
// opened without a workspace folder; nil where there is none, or where the
// client has folders: those are meant. It reads, and runs nothing: that is left
// to a command, as ever. Above the home folder and beyond the file's own file
// system nothing is looked for.
func (w Workspace) Adopt(path string) *Root {
	known := map[string]bool{}
	for _, r := range w.roots {
		if !r.Adopted {
			return nil
		}
		known[r.Path] = true
	}
	if path == "" {
		return nil
	}
	home, _ := os.UserHomeDir()
	device := uint64(0)
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := w.disk.Stat(dir)
		if err != nil {
			return nil
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || device != 0 && st.Dev != device || known[dir] {
			return nil
		}
		device = st.Dev
		if w.disk.ownFile(filepath.Join(dir, ConfigName)) {
			r := NewRoot(w.disk, dir)
			r.Adopted = true
			return r
		}
		if dir == home || dir == "/" {
			return nil
		}
	}
}

// ownFile reports whether a file is the user's own, and not by way of a link:
// in a folder that others write to, anybody can say what to run.
func (d *Disk) ownFile(path string) bool {
	info, err := d.lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
