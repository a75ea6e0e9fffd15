package lsp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/skewlens/skewlens/internal/atomicfile"
	"github.com/skewlens/skewlens/report"
)

// kept is what there is of a run after it: its report, and the texts of the
// lines that it speaks of. The profile is a hundred times larger and not
// needed any more.
type kept struct {
	Version int
	Root    string // workspace folder
	Target  string
	Cwd     string
	Program string
	When    time.Time
	Took    time.Duration
	Behind  bool // the program was older than a source file
	Report  *report.Report
	Before  *report.Report    // of the run before; nil: none
	Files   map[string]digest // how the files were; nil in a new result
	Lines   map[string]string // "path:line" to the text there

	Judged, JudgedBefore []judged
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

// store is the cache folder: a folder for each workspace folder, named by its
// path's digest, in it a file for each target. Losing it loses no more than
// what another run brings back, so what goes wrong with it is passed over.
type store struct{ dir string }

func newStore(dir string) *store { return &store{dir} }

func (st *store) folder(root string) string {
	return filepath.Join(st.dir, "results", name(root))
}

func name(s string) string {
	d := sha256.Sum256([]byte(s))
	return hex.EncodeToString(d[:12])
}

func (st *store) file(root, target string) string {
	return filepath.Join(st.folder(root), name(target)+".json")
}

// load reads what was kept for a workspace folder.
func (st *store) load(root string) []kept {
	if st.dir == "" {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(st.folder(root), "*.json"))
	sort.Strings(files)
	var out []kept
	for _, f := range files {
		data, err := readBounded(f, maxKeptFile)
		if err != nil {
			continue
		}
		var k kept
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
func (k *kept) sound(root string) bool {
	if k.Version != keptVersion || k.Root != root || k.Report == nil || k.Files == nil {
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

// save keeps a result.
func (st *store) save(r *result) error {
	if st.dir == "" {
		return nil
	}
	k := r.kept
	k.Version = keptVersion
	k.Files, k.Lines = map[string]digest{}, map[string]string{}
	for path, f := range r.files {
		k.Files[path] = f.digest
	}
	for at, a := range r.anchors {
		k.Lines[fmt.Sprintf("%s:%d", at.path, at.line)] = a.line
	}
	k.Judged, k.JudgedBefore = judge(k.Report), judge(k.Before)
	data, err := json.Marshal(&k)
	if err != nil || len(data) > maxKeptFile {
		return fmt.Errorf("keep result of %s: %d bytes: %w", r.Target, len(data), err)
	}
	if err := os.MkdirAll(st.folder(r.Root), 0o700); err != nil {
		return err
	}
	if err := atomicfile.WritePrivate(st.file(r.Root, r.Target), whole(data)); err != nil {
		return err
	}
	st.prune()
	return nil
}

func (st *store) remove(r *result) {
	if st.dir != "" {
		os.Remove(st.file(r.Root, r.Target))
	}
}

// prune removes the oldest of too many.
func (st *store) prune() {
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

// document writes a text for showing into the cache folder, and returns its
// path.
func (st *store) document(base, content string) (string, error) {
	if st.dir == "" {
		return "", fmt.Errorf("show %s: there is no cache folder to put it in: set XDG_CACHE_HOME", base)
	}
	dir := filepath.Join(st.dir, "documents")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, strings.Map(plainName, base))
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
