package house

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"strings"
	"testing"
)

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
// report → command line, lsp; and profile → export → command line. Each row:
// packages, and which of ours they may depend on, directly or not.
var rules = []struct {
	pkg string
	may []string
}{
	{"profile", nil},
	{"internal/flowgraph", nil},
	{"lime", []string{"profile", "internal/flowgraph"}},
	{"attribution", []string{"profile"}},
	{"dwarfmap", []string{"profile"}},
	{"ranks", []string{"profile"}},
	{"internal/launch", []string{"profile"}},
	{"report", []string{"profile", "lime", "attribution", "internal/flowgraph", "internal/units"}},
	{"export", []string{"profile", "internal/units"}},
	{"docs", nil},
	{"lsp", []string{"docs", "profile", "lime", "attribution", "report", "dwarfmap", "internal/flowgraph", "internal/units", "internal/atomicfile", "internal/pattern"}},
	{"internal/examples", nil},
	{"internal/runner", []string{"docs", "profile", "lime", "attribution", "report", "dwarfmap", "lsp", "internal/flowgraph", "internal/units", "internal/atomicfile", "internal/launch", "internal/pattern"}},
	{"profiler/internal", []string{"profile", "dwarfmap", "profiler/internal", "internal/flowgraph", "internal/needs", "internal/atomicfile", "internal/garbage"}},
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
	for _, must := range []string{"profile", "lime", "report", "export", "profiler/internal"} {
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

// system are the packages that ask the kernel for what package os does not have.
var system = map[string]bool{
	"tracee":   true, // ptrace
	"faults":   true, // perf events of page faults
	"timed":    true, // a program's cores, and that it has ended before it is reaped
	"cpuclock": true, // perf events of the CPU clock
	"perf":     true, // perf events of each thread
}

// Some imports are for a few packages only: what is pure stays pure.
func TestImportsThatFewMayHave(t *testing.T) {
	for _, p := range packages(t) {
		own, _ := strings.CutPrefix(p.ImportPath, module+"/")
		for _, i := range p.Imports {
			switch {
			case own == "profile" && (i == "os" || i == "net" || strings.HasPrefix(i, "os/") || strings.HasPrefix(i, "net/")):
				t.Errorf("profile imports %s: it knows no system", i)
			case (own == "lime" || own == "attribution") && (i == "os" || i == "net" || i == "syscall" || i == "time"):
				t.Errorf("%s imports %s: it is pure mathematics", own, i)
			case own == "report" && (i == "os" || i == "html/template" || strings.HasSuffix(i, "/go-runewidth")):
				t.Errorf("report imports %s: findings know neither files, pages nor terminals", i)
			case own == "lsp" && i == "os/exec":
				t.Errorf("lsp imports %s: it starts no process", i)
			case i == module+"/profiler" && own != "internal/cli" && own != "internal/doctor":
				t.Errorf("%s imports profiler, which only the command line knows", own)
			case p.ImportPath == module && within(i, module) && i != module+"/internal/cli" && i != module+"/internal/needs":
				t.Errorf("main imports %s: it does nothing but start internal/cli", i)
			case i == "golang.org/x/sys/unix" && !system[path.Base(own)]:
				t.Errorf("%s imports x/sys/unix, which stays in tracee, faults, timed, cpuclock and perf", own)
			}
		}
	}
}

// unsafe stays in files whose names say so.
func TestUnsafeIsNamed(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, i := range f.syntax.Imports {
			if i.Path.Value == `"unsafe"` && !strings.HasSuffix(f.name, "_unsafe.go") {
				t.Errorf("%s imports unsafe: its name must end in _unsafe.go", f.name)
			}
		}
	}
}
