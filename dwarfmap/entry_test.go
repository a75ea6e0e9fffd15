package dwarfmap

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestEntry: a function begins on its own line, also where the one before ends right
// there, with a place of its own for what is behind its last instruction.
func TestEntry(t *testing.T) {
	const text = `extern unsigned long other(int, unsigned long), body(int, unsigned long), last(int, unsigned long);
__attribute__((noinline)) unsigned long step(int i, unsigned long x) {
  x = body(i, x);
  x = last(i, x);
  return x;
}
unsigned long begins(int i, unsigned long x) {
  unsigned long y = other(i, x);
  return y * 3;
}
`
	for _, compiler := range []string{need(t, "gcc"), clang(t)} {
		for _, level := range []string{"-O0", "-O2"} {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "step.c"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			run(t, dir, compiler, "-g", level, "-falign-functions=1", "-fPIC", "-shared", "-nostdlib", "step.c", "-o", "step")
			m := open(t, filepath.Join(dir, "step"))
			want := map[string]int{"step": 2, "begins": 7}
			for _, s := range m.symbols {
				if line := want[s.name]; line > 0 && m.Entry(profile.Addr(s.lo)).Line != line {
					t.Errorf("%s %s: %s begins on line %d, want %d", compiler, level, s.name, m.Entry(profile.Addr(s.lo)).Line, line)
				}
			}
		}
	}
}
