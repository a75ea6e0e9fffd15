package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/text"
)

// Where a folder says what to run.
const (
	ConfigName = ".skewlens.toml"
	LaunchName = ".vscode/launch.json"

	maxConfig = 1 << 20 // bytes
)

// Root is a folder, and what it says. It never changes.
type Root struct {
	Path    string
	Adopted bool // found by [Workspace.Adopt], not named by the client
	Config

	real string   // without symbolic links: what compilers write down
	read [2]stamp // of the files that Config was read from
}

// NewRoot is a folder whose configuration is not read yet.
func NewRoot(d *Disk, path string) *Root { return &Root{Path: path, real: d.real(path)} }

// stamp is another when a file is.
type stamp struct {
	open     *text.Text // of its document, which counts before it is saved
	size     int64
	modified int64
	failed   string
}

func stampOf(w Workspace, path string) stamp {
	if d := w.docs[path]; d != nil {
		return stamp{open: d.Text}
	}
	info, err := w.disk.Stat(path)
	if err != nil {
		return stamp{failed: err.Error()}
	}
	return stamp{size: info.Size(), modified: info.ModTime().UnixNano()}
}

// Configures reports whether a path is of a file that says what to run.
func (w Workspace) Configures(path string) bool {
	for _, r := range w.roots {
		if path == filepath.Join(r.Path, ConfigName) || path == filepath.Join(r.Path, LaunchName) {
			return true
		}
	}
	return false
}

// reread is the folder as it says now; nil where it says what it said.
func (r *Root) reread(w Workspace) *Root {
	own, launch := filepath.Join(r.Path, ConfigName), filepath.Join(r.Path, LaunchName)
	next := &Root{Path: r.Path, Adopted: r.Adopted, real: r.real}
	if r.Adopted && !w.disk.ownFile(own) {
		if r.read == next.read {
			return nil
		}
		return next
	}
	next.read = [2]stamp{stampOf(w, own), stampOf(w, launch)}
	if next.read == r.read {
		return nil
	}
	w.disk.Forget(own, launch)
	if data, err := configText(w, own); err == nil {
		next.readTOML(r.Path, own, data)
	} else if !errors.Is(err, fs.ErrNotExist) {
		next.problem(own, Problem{Message: "this file cannot be read: " + err.Error(), Severity: protocol.DiagnosticSeverityError})
	}
	if len(next.Targets) > 0 || r.Adopted {
		return next
	}
	if data, err := configText(w, launch); err == nil {
		next.readLaunch(r.Path, launch, data)
	}
	return next
}

func configText(w Workspace, path string) ([]byte, error) {
	if d := w.docs[path]; d != nil {
		return []byte(d.Text.String()), nil
	}
	return w.disk.Read(path, maxConfig)
}
