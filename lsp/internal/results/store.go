package results

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/skewlens/skewlens/internal/atomicfile"
	"github.com/skewlens/skewlens/lsp/internal/text"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// Kept is what there is of a run after it: its report, and the texts of the
// lines that it speaks of. The profile is a hundred times larger and not
// needed any more.
type Kept struct {
	Version int
	Root    string // workspace folder
	Target  string
	Cwd     string
	Program string
	Chosen  *workspace.Target `json:",omitempty"` // by a person, where no file says what to run
	When    time.Time
	Took    time.Duration
	Behind  bool              // the program was older than a source file
	Newer   map[string]bool   `json:",omitempty"` // which
	Renamed map[string]string `json:",omitempty"` // files whose name is another now
	Report  *report.Report
	Before  *report.Report         // of the run before; nil: none
	Runs    []Past                 `json:",omitempty"` // the last ones, this one too, oldest first
	Scaling *scaling.Report        `json:",omitempty"` // of a target that was timed, instead of a profile's report
	Files   map[string]text.Digest // how the files were; nil in a new result
	Lines   map[string]string      // "path:line" to the text there

	Judged, JudgedBefore []judged
}

// Past is what is kept of a run for good.
type Past struct {
	When      time.Time
	Imbalance float64 // of the worst section
	WallS     float64 `json:",omitempty"`
	Args      []string
}

// maxRuns of a target are kept.
const maxRuns = 50

// Follows has a result be the run after another one, which may be nil.
func (r *Result) Follows(old *Result) {
	worst, _ := r.Report.Worst()
	now := Past{When: r.When, Imbalance: worst, Args: r.Report.Program.Args}
	if w := r.Report.Run.WallS; w != nil {
		now.WallS = *w
	}
	if old != nil {
		r.Before = old.Report
		r.Runs = slices.Clone(old.Runs)
	}
	r.Runs = append(r.Runs, now)
	r.Runs = r.Runs[max(0, len(r.Runs)-maxRuns):]
}

// judged is what the JSON contract leaves out of a section.
type judged struct{ Negligible bool }

const keptVersion = 1

// Bounds of the cache folder.
const (
	maxKeptFile  = 32 << 20
	maxKeptFiles = 200
	maxKeptBytes = 256 << 20
)

// Store is the cache folder: a folder for each workspace folder, named by its
// path's digest, in it a file for each target. Losing it loses no more than
// what another run brings back, so what goes wrong with it is passed over.
type Store struct {
	dir  string
	disk *workspace.Disk
}

// NewStore is a store in a folder, which is made when it is needed; where the
// folder's name is empty nothing is kept.
func NewStore(dir string, d *workspace.Disk) *Store { return &Store{dir, d} }

func (st *Store) folder(root string) string {
	return filepath.Join(st.dir, "results", name(root))
}

func name(s string) string {
	d := sha256.Sum256([]byte(s))
	return hex.EncodeToString(d[:12])
}

func (st *Store) file(root, target string) string {
	return filepath.Join(st.folder(root), name(target)+".json")
}

// Load reads what was kept for a workspace folder.
func (st *Store) Load(root string) []Kept {
	if st.dir == "" {
		return nil
	}
	st.disk.Uses("read", st.folder(root))
	files, _ := filepath.Glob(filepath.Join(st.folder(root), "*.json"))
	sort.Strings(files)
	var out []Kept
	for _, f := range files {
		data, err := st.disk.Read(f, maxKeptFile)
		if err != nil {
			continue
		}
		var k Kept
		if json.Unmarshal(data, &k) != nil || !k.sound(root) {
			continue
		}
		mark(k.Report, k.Judged)
		mark(k.Before, k.JudgedBefore)
		out = append(out, k)
	}
	return out
}

// sound: a damaged file must not bring the server down.
func (k *Kept) sound(root string) bool {
	if k.Version != keptVersion || k.Root != root || k.Report == nil || k.Files == nil {
		return false
	}
	if k.Scaling != nil && k.Scaling.Check() != nil {
		return false
	}
	for _, s := range k.Report.Sections {
		for _, c := range s.Causes {
			if c.Location == nil {
				return false
			}
		}
	}
	return true
}

func mark(r *report.Report, j []judged) {
	for i := range j {
		if r != nil && i < len(r.Sections) {
			r.Sections[i].Negligible = j[i].Negligible
		}
	}
}

func judge(r *report.Report) []judged {
	var out []judged
	if r != nil {
		for i := range r.Sections {
			out = append(out, judged{r.Sections[i].Negligible})
		}
	}
	return out
}

// Save keeps a result. The caller sees to it that two are not kept at once.
func (st *Store) Save(r *Result) error {
	if st.dir == "" {
		return nil
	}
	k := r.kept()
	k.Judged, k.JudgedBefore = judge(k.Report), judge(k.Before)
	data, err := json.Marshal(&k)
	if err != nil || len(data) > maxKeptFile {
		return fmt.Errorf("keep result of %s: %d bytes: %w", r.Target, len(data), err)
	}
	st.disk.Uses("write", st.file(r.Root, r.Target))
	if err := os.MkdirAll(st.folder(r.Root), 0o700); err != nil {
		return err
	}
	if err := atomicfile.WritePrivate(st.file(r.Root, r.Target), whole(data)); err != nil {
		return err
	}
	st.prune()
	return nil
}

// kept is what New makes the result of again.
func (r *Result) kept() Kept {
	k := r.Kept
	k.Version = keptVersion
	k.Files, k.Lines = r.files, map[string]string{}
	for at, a := range r.anchors {
		k.Lines[at.key()] = a.Was
	}
	return k
}

// Remove forgets what was kept of a target.
func (st *Store) Remove(root, target string) {
	if st.dir != "" {
		st.disk.Uses("remove", st.file(root, target))
		os.Remove(st.file(root, target))
	}
}

// prune removes the oldest of too many.
func (st *Store) prune() {
	files, _ := filepath.Glob(filepath.Join(st.dir, "results", "*", "*.json"))
	type aged struct {
		path string
		info os.FileInfo
	}
	var all []aged
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			all = append(all, aged{f, info})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].info.ModTime().After(all[j].info.ModTime()) })
	bytes := int64(0)
	for i, a := range all {
		bytes += a.info.Size()
		if i >= maxKeptFiles || bytes > maxKeptBytes {
			os.Remove(a.path)
			os.Remove(filepath.Dir(a.path)) // if it is empty now
		}
	}
}

// Document writes a text for showing into the cache folder, and returns its
// path.
func (st *Store) Document(base, content string) (string, error) {
	if st.dir == "" {
		return "", fmt.Errorf("show %s: there is no cache folder to put it in: set XDG_CACHE_HOME", base)
	}
	dir := filepath.Join(st.dir, "documents")
	path := filepath.Join(dir, strings.Map(plainName, base))
	st.disk.Uses("write", path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	os.Remove(path) // it may be read-only
	if err := atomicfile.WritePrivate(path, whole([]byte(content))); err != nil {
		return "", err
	}
	return path, os.Chmod(path, 0o400)
}

func plainName(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '.':
		return r
	}
	return '_'
}

// whole writes data that is there already.
func whole(data []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(data); return err }
}
