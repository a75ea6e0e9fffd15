package results

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/report"
)

func TestTheCacheIsBounded(t *testing.T) {
	st := NewStore(filepath.Join(t.TempDir(), "cache"), &workspace.Disk{})
	r := &Result{Kept: Kept{Root: "/w", Report: &report.Report{}}}
	for i := range maxKeptFiles + 20 {
		r.Target = "t" + units.Count(uint64(i))
		if err := st.Save(r); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(filepath.Join(st.dir, "results", "*", "*.json"))
	if len(files) != maxKeptFiles {
		t.Errorf("%d files are kept", len(files))
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
