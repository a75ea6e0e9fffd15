package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/skewlens/skewlens/lsp/internal/text"
)

// Where a folder says what to run.
const (
	ConfigName = ".skewlens.toml"
	LaunchName = ".vscode/launch.json"

	tasksName = ".vscode/tasks.json" // what launch.json has run before

	maxConfig = 1 << 20 // bytes
)

// Root is a folder, and what it says. It never changes.
type Root struct {
	Path    string
	Adopted bool // found by [Workspace.Adopt], not named by the client
	Config

	real   string   // without symbolic links: what compilers write down
	read   [3]stamp // of the files that Config was read from
	said   []Target // by its files
	chosen []Target // by a person, where no file says what to run
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
	next := &Root{Path: r.Path, Adopted: r.Adopted, real: r.real, chosen: r.chosen}
	next.Targets = r.chosen // if no file says more
	if r.Adopted && !w.disk.ownFile(own) {
		if r.read == next.read {
			return nil
		}
		return next
	}
	tasks := filepath.Join(r.Path, tasksName)
	next.read = [3]stamp{stampOf(w, own), stampOf(w, launch), stampOf(w, tasks)}
	if next.read == r.read {
		return nil
	}
	w.disk.Forget(own, launch)
	next.Targets = nil
	if data, err := configText(w, own); err == nil {
		next.readTOML(r.Path, own, data)
	} else if !errors.Is(err, fs.ErrNotExist) {
		next.problem(own, Problem{Message: "this file cannot be read: " + err.Error(), Severity: protocol.DiagnosticSeverityError})
	}
	if len(next.Targets) == 0 && !r.Adopted {
		if data, err := configText(w, launch); err == nil {
			next.readLaunch(r.Path, launch, data, readTasks(w, tasks, r.Path))
		}
	}
	next.said = next.Targets
	next.offer()
	return next
}

// withChosen is the folder with a target that a person chose. What a file says of
// that name counts more.
func (r *Root) withChosen(t Target) *Root {
	next := r.withoutChosen(t.Name)
	next.chosen = append(next.chosen, t)
	next.offer()
	return next
}

func (r *Root) withoutChosen(name string) *Root {
	next := *r
	next.chosen = slices.DeleteFunc(slices.Clone(r.chosen), func(o Target) bool { return o.Name == name })
	next.offer()
	return &next
}

// offer makes the targets of what is said and what is chosen.
func (r *Root) offer() {
	r.Targets = slices.Clone(r.said)
	for _, t := range r.chosen {
		if !slices.ContainsFunc(r.said, func(o Target) bool { return o.Name == t.Name }) {
			r.Targets = append(r.Targets, t)
		}
	}
}

func configText(w Workspace, path string) ([]byte, error) {
	if d := w.docs[path]; d != nil {
		return []byte(d.Text.String()), nil
	}
	return w.disk.Read(path, maxConfig)
}
