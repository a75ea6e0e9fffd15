package workspace

import (
	"os"
	"path/filepath"
	"syscall"
)

// Adopt is the nearest folder with a .skewlens.toml above a file, where the client
// has not named that folder itself; nil where there is none. Within the client's
// own folders it is any below them. For a file of none of them it is looked for up to the home folder and within the file's own file system, and
// must be the user's own. It reads, and runs nothing: that is left to a command, as
// ever.
func (w Workspace) Adopt(path string) *Root {
	if path == "" {
		return nil
	}
	home, _ := os.UserHomeDir()
	inside := w.Root(path)
	device := uint64(0)
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if inside != nil && dir == inside.Path {
			return nil
		}
		info, err := w.disk.Stat(dir)
		if err != nil {
			return nil
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || device != 0 && st.Dev != device {
			return nil
		}
		device = st.Dev
		if config := filepath.Join(dir, ConfigName); w.disk.ownFile(config) || inside != nil && !inside.Adopted && w.disk.regular(config) {
			r := NewRoot(w.disk, dir)
			r.Adopted = inside == nil || inside.Adopted
			return r
		}
		if dir == home || dir == "/" {
			return nil
		}
	}
}

func (d *Disk) regular(path string) bool {
	info, err := d.lstat(path)
	return err == nil && info.Mode().IsRegular()
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
