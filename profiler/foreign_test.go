package profiler_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// TestCallsOfLibraries: a library that is not counted makes a barrier. Its calls
// are seen, however it is bound, and what the program did until then is counted.
func TestCallsOfLibraries(t *testing.T) {
	text, err := os.ReadFile("testdata/meets.c")
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]bool{}
	for i, l := range strings.Split(string(text), "\n") {
		if strings.Contains(l, "EVEN */") {
			want[i+1] = strings.Contains(l, "UNEVEN")
		}
	}
	for _, how := range []string{"-Wl,-z,lazy", "-Wl,-z,now", "-fno-plt"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			so := filepath.Join(dir, "libmeet.so")
			if err := os.Rename(proctest.Build(t, "gcc", "-O2", "-g", "-fPIC", "-shared", how, "testdata/meetlib.c"), so); err != nil {
				t.Fatal(err)
			}
			p := run(t, proctest.Build(t, "gcc", "-O2", "-g", "-pthread", how, "testdata/meets.c", so, "-Wl,-rpath,"+dir))
			for _, w := range p.Warnings {
				if w.Code == "library" || w.Code == "inconsistent-counts" {
					t.Errorf("%s: %s", w.Code, w.Message)
				}
			}
			found := 0
			for i := range p.Sections {
				s := &p.Sections[i]
				l, _ := p.Location(s.Site)
				uneven, known := want[l.Line]
				if s.Kind != profile.Barrier || !known {
					continue
				}
				found++
				if len(s.Instances) != 20 {
					t.Errorf("%d instances at line %d", len(s.Instances), l.Line)
				}
				for j := range s.Instances {
					load := p.Load(&s.Instances[j])
					if len(s.Instances[j].Parts) != 4 || (load.Idle() > 0) != uneven {
						t.Errorf("line %d, instance %d: %d parts, %d idle", l.Line, j, len(s.Instances[j].Parts), load.Idle())
					}
				}
			}
			if found != 2 {
				t.Errorf("%d barriers of 2", found)
			}
		})
	}
}
