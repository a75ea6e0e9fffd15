package dwarfmap

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOutlined: a region is in the function that it was written in, and who calls it
// is nobody.
func TestOutlined(t *testing.T) {
	const text = `double out[64];
void before(void) { out[1]++; }
void solve(int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        out[i] += i; // HERE
}
void after(void) { out[2]++; }
int main(void) { before(); solve(64); after(); return 0; }
`
	for _, compiler := range []string{need(t, "gcc"), clang(t)} {
		for _, level := range []string{"-O0", "-O2"} {
			dir := t.TempDir()
			file := filepath.Join(dir, "solve.c")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			run(t, dir, compiler, "-g", level, "-fopenmp", "-fPIC", "-c", file, "-o", "solve.o")
			run(t, dir, compiler, "-shared", "-o", "solve", "solve.o", "-nostdlib")
			m, err := Open(filepath.Join(dir, "solve"))
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			found := m.Addresses(file, 7)
			if len(found) == 0 {
				t.Fatalf("%s %s: no code at line 7", compiler, level)
			}
			for _, a := range found {
				l := m.Locate(a)
				if l.Function != "solve" || len(l.InlinedAt) != 0 {
					t.Errorf("%s %s: line 7 is in %q, inlined at %v", compiler, level, l.Function, l.InlinedAt)
				}
			}
			for _, a := range m.Addresses(file, 2) {
				if l := m.Locate(a); l.Function != "before" && l.Line == 2 && len(l.InlinedAt) == 0 {
					t.Errorf("%s %s: line 2 is in %q", compiler, level, l.Function)
				}
			}
		}
	}
}

// TestOutlinedNames: by names alone.
func TestOutlinedNames(t *testing.T) {
	for name, want := range map[string]string{
		"solve._omp_fn.0": "solve", "ns::solve._omp_fn.12": "ns::solve", "solve._omp_cpyfn.3": "solve", "solve.omp_outlined_debug__": "solve",
		".omp_outlined._debug__.1": "", ".omp_task_entry..5": "",
	} {
		if in, ok := outlinedFrom(name); !ok || in != want {
			t.Errorf("%s is of %q, %v", name, in, ok)
		}
	}
	if _, ok := outlinedFrom("omp_get_wtime"); ok {
		t.Error("omp_get_wtime was not outlined")
	}
}
