package cli

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/skewlens/skewlens"

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,Deps", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := []pkg{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// within reports whether path is the package root, or below it.
func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// Data flows one way: program → profiler → profile → lime, attribution →
// report → command line, lsp. Each row: packages, and which of ours they may
// depend on, directly or not.
var rules = []struct {
	pkg string
	may []string
}{
	{"profile", nil},
	{"internal/flowgraph", nil},
	{"lime", []string{"profile", "internal/flowgraph"}},
	{"attribution", []string{"profile"}},
	{"dwarfmap", []string{"profile"}},
	{"report", []string{"profile", "lime", "attribution", "internal/flowgraph", "internal/units"}},
	{"lsp", []string{"profile", "lime", "attribution", "report", "dwarfmap", "internal/flowgraph", "internal/units", "internal/atomicfile"}},
	{"profiler/internal", []string{"profile", "dwarfmap", "profiler/internal", "internal/flowgraph", "internal/needs", "internal/atomicfile"}},
}

func TestImportsFlowOneWay(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		for _, r := range rules {
			root := module + "/" + r.pkg
			if !within(p.ImportPath, root) {
				continue
			}
			seen[r.pkg] = true
			for _, d := range p.Deps {
				if within(d, module) && !allowed(d, root, r.may) {
					t.Errorf("%s depends on %s", p.ImportPath, d)
				}
			}
		}
	}
	for _, must := range []string{"profile", "lime", "report", "profiler/internal"} {
		if !seen[must] {
			t.Errorf("no package %s: is the rule out of date?", must)
		}
	}
}

func allowed(dep, self string, may []string) bool {
	if within(dep, self) && self != module+"/profiler/internal" {
		return true
	}
	for _, m := range may {
		if within(dep, module+"/"+m) {
			return true
		}
	}
	return false
}

// Some imports are for a few packages only: what is pure stays pure.
func TestImportsThatFewMayHave(t *testing.T) {
	for _, p := range packages(t) {
		own, _ := strings.CutPrefix(p.ImportPath, module+"/")
		for _, i := range p.Imports {
			switch {
			case own == "profile" && (i == "os" || i == "net" || strings.HasPrefix(i, "os/") || strings.HasPrefix(i, "net/")):
				t.Errorf("profile imports %s: it knows no system", i)
			case own == "lime" && (i == "os" || i == "net" || i == "syscall" || i == "time"):
				t.Errorf("lime imports %s: it is pure mathematics", i)
			case own == "lsp" && i == "os/exec":
				t.Errorf("lsp imports %s: it starts no process", i)
			case i == "golang.org/x/sys/unix" && !strings.HasSuffix(own, "/tracee") && !strings.HasSuffix(own, "/perf"):
				t.Errorf("%s imports x/sys/unix, which stays in tracee and perf", own)
			}
		}
	}
}

// unsafe stays in files whose names say so.
func TestUnsafeIsNamed(t *testing.T) {
	err := filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_unsafe.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			if i.Path.Value == `"unsafe"` {
				t.Errorf("%s imports unsafe: its name must end in _unsafe.go", file)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
